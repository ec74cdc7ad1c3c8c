"""A job's matrix, as GitHub crosses it."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.repository.matrix import UnresolvedError, combinations, replaced, resolved

pytestmark = pytest.mark.pure


def crossed(matrix: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in combinations({"strategy": {"matrix": matrix}})]


def test_a_matrix_combines_its_lists_in_order() -> None:
    assert crossed({"a": [1, 2], "b": ["x"]}) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]


def test_an_excluded_combination_is_not_run() -> None:
    assert crossed({"a": [1, 2], "b": [3, 4], "exclude": [{"a": 1}, {"a": 2, "b": 3}]}) == [{"a": 2, "b": 4}]


def test_an_inclusion_extends_every_matching_combination() -> None:
    assert crossed({"a": [1, 2], "include": [{"b": 5}, {"a": 1, "c": 6}]}) == [
        {"a": 1, "b": 5, "c": 6},
        {"a": 2, "b": 5},
    ]


def test_an_inclusion_without_a_match_is_a_separate_combination() -> None:
    assert crossed({"a": [1], "include": [{"a": 9, "b": 5}]}) == [{"a": 1}, {"a": 9, "b": 5}]
    assert crossed({"include": [{"a": 1}, {"a": 2}]}) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "matrix", [None, "${{ fromJSON(inputs.matrix) }}", [], {}, {"a": "${{ inputs.a }}"}, {"a": list(range(300))}]
)
def test_a_matrix_with_an_expression_gives_one_empty_combination(matrix: Any) -> None:
    assert crossed(matrix) == [{}]


def test_an_expression_keeps_its_type_unless_it_is_part_of_a_text() -> None:
    combination = {"r": {"labels": ["a", "b"]}, "n": 5}

    assert replaced("${{ matrix.r.labels }}", combination) == ["a", "b"]
    assert replaced("x-${{matrix.n}}-${{ matrix.n }}", combination) == "x-5-5"
    assert replaced("${{ matrix.missing }}", combination) == "${{ matrix.missing }}"


@pytest.mark.parametrize("value", ["${{ inputs.x }}", "a-${{ matrix.no }}", "${{ matrix.later }}"])
def test_a_value_known_only_at_run_time_is_unresolved(value: str) -> None:
    with pytest.raises(UnresolvedError):
        resolved(value, {"later": "${{ vars.RUNNER }}"})
