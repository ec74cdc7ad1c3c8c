"""Kubernetes quantities are parsed exactly and formatted to the same value."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu.kubernetes.quantities import (
    CPU,
    GIB,
    MEMORY,
    BadQuantity,
    Resources,
    describe,
    format_amount,
    format_cpu,
    format_memory,
    parse,
    parse_cpu,
    parse_memory,
)

pytestmark = pytest.mark.pure

AMOUNTS = st.dictionaries(st.sampled_from([CPU, MEMORY, "nvidia.com/gpu"]), st.integers(-(2**40), 2**40))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("3", 3), ("+3", 3), ("-3", -3), ("500m", Fraction(1, 2)), ("1.5Gi", 1610612736), ("12Gi", 12 * GIB),
        ("1G", 10**9), ("1k", 1000), ("1e3", 1000), ("1E3", 1000), ("1E", 10**18), ("2e-3", Fraction(1, 500)),
        (".5", Fraction(1, 2)), ("5.", 5), ("100u", Fraction(1, 10_000)), ("1n", Fraction(1, 10**9)),
    ],
)  # fmt: skip
def test_a_quantity_has_the_same_value_as_in_kubernetes(text: str, value: Fraction) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text", ["", "12gi", "12GB", "1 Gi", "Gi", ".", "--1", "1e", "0x10", "1,5", "12Gib", "NaN", "1_000"]
)
def test_the_error_for_other_text_has_an_example(text: str) -> None:
    with pytest.raises(BadQuantity, match="write 500m"):
        parse(text)


def test_a_fraction_of_a_unit_is_rounded_up() -> None:
    assert (parse_cpu("0.0001"), parse_memory("0.1"), parse_cpu("1500u"), parse("0.1n")) == (
        1,
        1,
        2,
        Fraction(1, 10**9),
    )


def test_a_quantity_is_never_more_than_an_int64() -> None:
    assert {parse("8Ei"), parse("1e400"), parse("1e999999999")} == {Fraction(2**63 - 1)}


@given(st.integers(0, 10**9))
def test_cpu_survives_the_round_trip(millicores: int) -> None:
    assert parse_cpu(format_cpu(millicores)) == millicores


@given(st.one_of(st.integers(0, 2**62), st.integers(0, 4096).map(lambda gib: gib * GIB)))
def test_memory_survives_the_round_trip(size: int) -> None:
    assert parse_memory(format_memory(size)) == size


@given(st.integers(0, 2**62))
def test_the_text_for_people_is_never_more_than_the_amount(size: int) -> None:
    assert parse_memory(describe(MEMORY, size)) <= size


def test_amounts_are_formatted_as_in_the_stack_file() -> None:
    assert (format_amount(CPU, 3000), format_amount(CPU, 3920), format_amount(MEMORY, 14481 * 2**20)) == (
        "3", "3920m", "14481Mi",
    )  # fmt: skip


@pytest.mark.parametrize(("power", "text"), [(1, "1Ki"), (2, "1Mi"), (3, "1Gi"), (4, "1Ti"), (5, "1Pi"), (6, "1Ei")])
def test_the_largest_exact_suffix_is_used(power: int, text: str) -> None:
    assert format_memory(1024**power) == text


@given(AMOUNTS, AMOUNTS)
def test_sets_of_resources_are_added_and_subtracted(left: dict[str, int], right: dict[str, int]) -> None:
    a, b = Resources.of(left), Resources.of(right)

    assert a + b == b + a
    assert (a + b) - b == a
    assert all((a | b)[name] == max(a[name], b[name]) for name in {*left, *right})
