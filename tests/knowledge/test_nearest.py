"""An unknown name suggests the nearest known one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.machines import EC2_TYPES
from gpu_ci.knowledge.nearest import UnknownName, nearest

pytestmark = pytest.mark.pure


def test_a_name_with_a_missing_letter_is_found() -> None:
    assert nearest("g4dn.xlrge", EC2_TYPES) == "g4dn.xlarge"


def test_the_nearest_name_ignores_case() -> None:
    assert nearest("G5.XLARGE", EC2_TYPES) == "g5.xlarge"


def test_an_unrelated_name_has_no_nearest_name() -> None:
    assert nearest("banana", EC2_TYPES) is None


@given(st.permutations(sorted(EC2_TYPES)[:20]), st.sampled_from(["g4dn.larg", "c7i.2xlarg", "m5"]))
def test_the_answer_does_not_depend_on_the_order_of_the_table(names: list[str], asked: str) -> None:
    assert nearest(asked, names) == nearest(asked, sorted(names))


def test_an_unknown_name_without_a_near_name_lists_all_names() -> None:
    error = UnknownName("fruit", "zzz", ["pear", "apple"])

    assert str(error) == "zzz is not a known fruit; known: apple, pear"
