"""Tests of subnet ranges: the addresses of a zone depend only on its slot."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.aws.network.addressing import SLOTS, zone_ranges

pytestmark = pytest.mark.pure

CIDRS = st.builds(
    lambda address, prefix: IPv4Network((address, prefix), strict=False),
    st.integers(0x0A000000, 0x0AFFFFFF),
    st.integers(16, 20),
)
ZONES = st.permutations(range(SLOTS)).flatmap(
    lambda slots: st.integers(1, SLOTS).map(lambda many: {f"us-west-2{'abcdefgh'[i]}": slots[i] for i in range(many)})
)


def test_zone_ranges_equal_the_deployed_addresses() -> None:
    """Another cut would move every subnet, and with it every node."""
    found = zone_ranges(IPv4Network("10.0.0.0/16"), {"a": 0, "b": 1, "h": 7})

    assert {zone: (str(ranges.private), str(ranges.public)) for zone, ranges in found.items()} == {
        "a": ("10.0.0.0/20", "10.0.128.0/22"),
        "b": ("10.0.16.0/20", "10.0.144.0/22"),
        "h": ("10.0.112.0/20", "10.0.240.0/22"),
    }


@given(CIDRS, ZONES)
def test_zone_ranges_are_disjoint_and_inside_the_network(cidr: IPv4Network, zones: dict[str, int]) -> None:
    every = [each for ranges in zone_ranges(cidr, zones).values() for each in (ranges.private, ranges.public)]

    assert all(each.subnet_of(cidr) for each in every)
    assert not any(one.overlaps(other) for one, other in combinations(every, 2))


@given(CIDRS, ZONES)
def test_the_number_and_the_order_of_zones_change_no_range(cidr: IPv4Network, zones: dict[str, int]) -> None:
    whole = zone_ranges(cidr, zones)
    backwards = zone_ranges(cidr, dict(reversed(zones.items())))

    assert backwards == whole
    assert {zone: zone_ranges(cidr, {zone: slot})[zone] for zone, slot in zones.items()} == whole


@given(CIDRS)
def test_every_slot_has_room_for_nodes_and_a_gateway(cidr: IPv4Network) -> None:
    found = zone_ranges(cidr, {str(slot): slot for slot in range(SLOTS)})

    assert len(found) == SLOTS
    assert {ranges.private.num_addresses for ranges in found.values()} == {cidr.num_addresses // 16}
    # EC2 wants a /28 at least, and keeps five addresses of it.
    assert all(ranges.public.prefixlen <= 28 for ranges in found.values())


@pytest.mark.parametrize("slot", [-1, SLOTS])
def test_an_unknown_slot_is_refused(slot: int) -> None:
    with pytest.raises(ValueError, match=f"slot {slot} of us-west-2a is not in 0 to 7"):
        zone_ranges(IPv4Network("10.0.0.0/16"), {"us-west-2a": slot})


def test_a_network_range_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match=r"10\.0\.0\.0/29"):
        zone_ranges(IPv4Network("10.0.0.0/29"), {"us-west-2a": 0})
