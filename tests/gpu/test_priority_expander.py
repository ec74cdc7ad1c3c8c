"""The order in which pools are tried is the one that was meant, and no pool is taken for another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu.kubernetes.priority_expander import Group, best, config_map, priorities

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.pure

names = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
pools = st.lists(
    st.builds(Group, name=names, spot=st.booleans()), min_size=1, max_size=5, unique_by=lambda one: one.name
)


def asg(pool: str) -> str:
    """The name of a pool's auto-scaling group, as EKS makes it."""
    return f"eks-{pool}-202611210102030456000000a1-5ec1f0a2-7b2c-3c4d-9e8f-1a2b3c4d5e6f"


def tried_first(written: Sequence[Group], among: Sequence[str]) -> set[str]:
    return set(best(priorities(written), [asg(name) for name in among]))


SPOT, STEADY = Group(name="t4-spot", spot=True), Group(name="t4-on-demand", spot=False)


def test_spot_is_tried_before_on_demand() -> None:
    assert tried_first([STEADY, SPOT], ["t4-on-demand", "t4-spot"]) == {asg("t4-spot")}


def test_on_demand_is_tried_when_spot_is_full() -> None:
    assert tried_first([STEADY, SPOT], ["t4-on-demand"]) == {asg("t4-on-demand")}


def test_a_group_that_nobody_wrote_down_is_tried_last_and_not_left_out() -> None:
    assert tried_first([STEADY, SPOT], ["by-hand"]) == {asg("by-hand")}
    assert tried_first([STEADY, SPOT], ["by-hand", "t4-on-demand"]) == {asg("t4-on-demand")}


def test_without_the_last_pattern_a_group_is_left_out() -> None:
    written = {50: ("^eks-t4-spot-",)}

    assert best(written, [asg("t4-spot"), asg("by-hand")]) == (asg("t4-spot"),)


def test_where_no_pattern_is_found_all_groups_stay() -> None:
    assert best({50: ("^nothing",)}, ["a", "b"]) == ("a", "b")


@pytest.mark.parametrize("longer", ["t4-spot", "t4-fade", "t4-0123456789abcdef"])
def test_a_pool_is_not_taken_for_one_whose_name_goes_on(longer: str) -> None:
    written = [Group(name="t4", spot=True), Group(name=longer, spot=False)]

    assert tried_first(written, ["t4", longer]) == {asg("t4")}
    assert tried_first(written, [longer]) == {asg(longer)}


def test_the_config_map_is_the_yaml_that_the_autoscaler_reads() -> None:
    assert yaml.safe_load(config_map([STEADY, SPOT])["priorities"]) == {
        50: ["^eks-t4-spot-[0-9a-f]{26}-"],
        20: ["^eks-t4-on-demand-[0-9a-f]{26}-"],
        1: [".*"],
    }


@given(pools)
@settings(max_examples=60)
def test_every_pool_is_met_by_its_own_pattern_alone(written: list[Group]) -> None:
    for one in written:
        above = {priority: found for priority, found in priorities(written).items() if priority > 1}
        met = [
            pattern
            for found in above.values()
            for pattern in found
            if best({1: [pattern], 0: [".*"]}, [asg(one.name), "other"]) == (asg(one.name),)
        ]

        assert met == [one.pattern]


@given(pools)
@settings(max_examples=40)
def test_what_is_written_survives_yaml(written: list[Group]) -> None:
    read = yaml.safe_load(config_map(written)["priorities"])

    assert read == {priority: list(found) for priority, found in priorities(written).items()}
