"""Tests of the exposure of address ranges, also of the whole internet in several ranges."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.policy.exposure import SHORTEST, Exposure, exposure

pytestmark = pytest.mark.pure

EVERYWHERE = IPv4Network("0.0.0.0/0")


@pytest.mark.parametrize(
    ("ranges", "found"),
    [
        ([], Exposure((), together=False)),
        (["203.0.113.0/24", "10.0.0.0/8", "198.51.100.7"], Exposure((), together=False)),
        (["0.0.0.0/0"], Exposure(("0.0.0.0/0",), together=False)),
        (["0.0.0.0/1", "128.0.0.0/1"], Exposure(("0.0.0.0/1", "128.0.0.0/1"), together=False)),
        (["203.0.113.0/24", "64.0.0.0/7"], Exposure(("64.0.0.0/7",), together=False)),
        (["::/0"], Exposure(("::/0",), together=False)),
        (["2000::/3"], Exposure(("2000::/3",), together=False)),
        ([f"{first:x}00::/8" for first in range(0x20, 0x30)], Exposure((), together=True)),
        (["2001:db8::/32", "no range", ""], Exposure((), together=False)),
        ([f"{first}.0.0.0/8" for first in range(128)], Exposure((), together=True)),
        ([f"{first}.0.0.0/8" for first in range(127)] * 2, Exposure((), together=False)),
    ],
)
def test_each_set_of_ranges_has_the_expected_exposure(ranges: list[str], found: Exposure) -> None:
    assert exposure(ranges) == found


@settings(max_examples=30)
@given(st.integers(SHORTEST, 12), st.data())
def test_ranges_that_together_cover_half_of_the_internet_are_exposed(prefix: int, data: st.DataObject) -> None:
    pieces = list(EVERYWHERE.subnets(new_prefix=prefix))
    start = data.draw(st.integers(0, len(pieces) // 2))
    taken = [str(piece) for piece in pieces[start : start + len(pieces) // 2]]

    assert exposure(taken).together
    assert not exposure(taken[1:]).together
