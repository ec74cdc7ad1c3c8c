"""An unknown name suggests the nearest known one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.machines import EC2_TYPES
from gpu_ci.knowledge.nearest import UnknownName, nearest

pytestmark = pytest.mark.pure


def test_the_nearest_name_is_the_one_with_a_letter_missing() -> None:
    assert nearest("g4dn.xlrge", EC2_TYPES) == "g4dn.xlarge"


def test_case_is_no_difference() -> None:
    assert nearest("G5.XLARGE", EC2_TYPES) == "g5.xlarge"


def test_nothing_is_near_to_something_else_entirely() -> None:
    assert nearest("banana", EC2_TYPES) is None


@given(st.permutations(sorted(EC2_TYPES)[:20]), st.sampled_from(["g4dn.larg", "c7i.2xlarg", "m5"]))
def test_the_answer_does_not_depend_on_the_order_of_the_table(names: list[str], asked: str) -> None:
    assert nearest(asked, names) == nearest(asked, sorted(names))


def test_an_unknown_name_lists_all_where_none_is_near() -> None:
    error = UnknownName("fruit", "zzz", ["pear", "apple"])

    assert str(error) == "zzz is not a known fruit; known: apple, pear"
