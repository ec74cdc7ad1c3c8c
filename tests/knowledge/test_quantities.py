"""Quantities are read as in Kubernetes and formatted to the same value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.kubernetes.quantities import (
    CPU,
    GIB,
    MEMORY,
    BadQuantity,
    Resources,
    describe,
    format_amount,
    format_cpu,
    format_memory,
    parse_amount,
)

pytestmark = pytest.mark.pure

AMOUNTS = st.dictionaries(st.sampled_from([CPU, MEMORY, "nvidia.com/gpu"]), st.integers(-(2**40), 2**40))


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        (CPU, "3", 3000), (CPU, "500m", 500), (CPU, 1.5, 1500), (CPU, "0.0001", 1), (MEMORY, "0", 0),
        (MEMORY, "1.5Gi", 1610612736), (MEMORY, "12Gi", 12 * GIB), (MEMORY, "0.1", 1), ("nvidia.com/gpu", 2, 2),
    ],
)  # fmt: skip
def test_a_quantity_has_the_same_value_as_in_kubernetes(resource: str, text: str | float, amount: int) -> None:
    assert parse_amount(resource, text) == amount


@pytest.mark.parametrize("text", ["", "12gi", "12GB", "1 Gi", "Gi", ".", "-1", "1e", "0x10", "1,5", "12Gib", "NaN"])
def test_the_error_for_other_text_has_an_example(text: str) -> None:
    with pytest.raises(BadQuantity, match="write 500m"):
        parse_amount(MEMORY, text)


@given(st.integers(0, 10**9))
def test_cpu_survives_the_round_trip(millicores: int) -> None:
    assert parse_amount(CPU, format_cpu(millicores)) == millicores


@given(st.one_of(st.integers(0, 2**62), st.integers(0, 4096).map(lambda gib: gib * GIB)))
def test_memory_survives_the_round_trip(size: int) -> None:
    assert parse_amount(MEMORY, format_memory(size)) == size


@given(st.integers(0, 2**62))
def test_the_displayed_text_is_never_more_than_the_amount(size: int) -> None:
    assert parse_amount(MEMORY, describe(MEMORY, size)) <= size


def test_amounts_are_formatted_as_in_the_stack_file() -> None:
    assert (format_amount(CPU, 3000), format_amount(CPU, 3920), format_amount(MEMORY, 14481 * 2**20)) == (
        "3", "3920m", "14481Mi",
    )  # fmt: skip


@pytest.mark.parametrize(("power", "text"), [(1, "1Ki"), (2, "1Mi"), (3, "1Gi"), (4, "1Ti")])
def test_the_largest_exact_suffix_is_used(power: int, text: str) -> None:
    assert format_memory(1024**power) == text


@given(AMOUNTS, AMOUNTS)
def test_sets_of_resources_are_added_and_subtracted(left: dict[str, int], right: dict[str, int]) -> None:
    a, b = Resources.of(left), Resources.of(right)

    assert a + b == b + a
    assert (a + b) - b == a
