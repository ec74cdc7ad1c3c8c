"""A job's matrix, as GitHub crosses it."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.repository.matrix import UnresolvedError, combinations, replaced, resolved

pytestmark = pytest.mark.pure


def crossed(matrix: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in combinations({"strategy": {"matrix": matrix}})]


def test_lists_are_crossed_in_their_order() -> None:
    assert crossed({"a": [1, 2], "b": ["x"]}) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]


def test_what_is_excluded_is_not_run() -> None:
    assert crossed({"a": [1, 2], "b": [3, 4], "exclude": [{"a": 1}, {"a": 2, "b": 3}]}) == [{"a": 2, "b": 4}]


def test_an_inclusion_is_laid_over_what_it_does_not_contradict() -> None:
    assert crossed({"a": [1, 2], "include": [{"b": 5}, {"a": 1, "c": 6}]}) == [
        {"a": 1, "b": 5, "c": 6},
        {"a": 2, "b": 5},
    ]


def test_an_inclusion_that_fits_nowhere_is_a_run_of_its_own() -> None:
    assert crossed({"a": [1], "include": [{"a": 9, "b": 5}]}) == [{"a": 1}, {"a": 9, "b": 5}]
    assert crossed({"include": [{"a": 1}, {"a": 2}]}) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "matrix", [None, "${{ fromJSON(inputs.matrix) }}", [], {}, {"a": "${{ inputs.a }}"}, {"a": list(range(300))}]
)
def test_a_matrix_that_is_not_literal_says_nothing(matrix: Any) -> None:
    assert crossed(matrix) == [{}]


def test_an_expression_alone_keeps_its_type_and_one_in_a_text_becomes_text() -> None:
    combination = {"r": {"labels": ["a", "b"]}, "n": 5}

    assert replaced("${{ matrix.r.labels }}", combination) == ["a", "b"]
    assert replaced("x-${{matrix.n}}-${{ matrix.n }}", combination) == "x-5-5"
    assert replaced("${{ matrix.missing }}", combination) == "${{ matrix.missing }}"


@pytest.mark.parametrize("value", ["${{ inputs.x }}", "a-${{ matrix.no }}", "${{ matrix.later }}"])
def test_what_is_known_only_in_a_run_is_unresolved(value: str) -> None:
    with pytest.raises(UnresolvedError):
        resolved(value, {"later": "${{ vars.RUNNER }}"})
