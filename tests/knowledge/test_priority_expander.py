"""Each pattern of the priority expander matches the Auto Scaling group of its own pool and no other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.kubernetes.priority_expander import Group, priorities

pytestmark = pytest.mark.pure

SPOT, STEADY = Group(name="t4-spot", spot=True), Group(name="t4-on-demand", spot=False)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)


def asg(pool: str) -> str:
    """Return the name of a pool's Auto Scaling group, as EKS creates it."""
    return f"eks-{pool}-202611210102030456000000a1-5ec1f0a2-7b2c-3c4d-9e8f-1a2b3c4d5e6f"


def test_spot_has_a_higher_priority_than_on_demand_and_every_other_group_the_lowest() -> None:
    assert priorities([STEADY, SPOT]) == {50: (SPOT.pattern,), 20: (STEADY.pattern,), 1: (".*",)}


def test_pools_of_one_capacity_type_have_the_same_priority() -> None:
    assert priorities([SPOT, Group(name="a", spot=True)]) == {50: ("^eks-a-[0-9a-f]{26}-", SPOT.pattern), 1: (".*",)}


@pytest.mark.parametrize("longer", ["t4-spot", "t4-fade", "t4-0123456789abcdef"])
def test_a_pattern_does_not_match_a_pool_whose_name_continues(longer: str) -> None:
    assert not re.search(Group(name="t4", spot=True).pattern, asg(longer))


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
@settings(max_examples=60)
def test_every_pattern_matches_its_own_pool_only(names: list[str]) -> None:
    for name in names:
        pattern = Group(name=name, spot=True).pattern

        assert [other for other in names if re.search(pattern, asg(other))] == [name]
