"""Spot machines of a runner's own that have no fallback."""

from __future__ import annotations

import pytest

from gpu_ci.back_ends.offer import Offer, OwnMachines
from gpu_ci.checks.nodes.pool_shape import own_spot
from gpu_ci.knowledge.machines import InstanceType, ec2_type
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import PATH, offer

pytestmark = pytest.mark.pure

ONE = (ec2_type("g4dn.xlarge"),)
TWO = (*ONE, ec2_type("g4dn.2xlarge"))
ZONES = ("us-central1-a", "us-central1-b")


def own_of(made: Offer) -> OwnMachines:
    assert made.own is not None
    return made.own


@pytest.mark.parametrize(
    ("machines", "zones", "reason"),
    [
        (ONE, ZONES, "spot with one type and"),
        (TWO, ZONES[:1], "spot with one zone and"),
        (ONE, ZONES[:1], "spot with one type and one zone and"),
        (TWO, ZONES, ""),
    ],
)
def test_one_type_or_zone_gets_a_warning(
    machines: tuple[InstanceType, ...], zones: tuple[str, ...], reason: str
) -> None:
    found = list(own_spot(own_of(offer(*machines, zones=zones, spot=(True,)))))

    assert [verdict.reason.partition(" no fallback")[0] for verdict in found] == ([reason] if reason else [])
    assert [(verdict.check, verdict.level, verdict.subject) for verdict in found] == (
        [("counts", Level.WARNING, f"{PATH}.section.spot")] if reason else []
    )


def test_zones_that_the_cloud_chooses_are_not_counted() -> None:
    assert list(own_spot(own_of(offer(*TWO, zones=("us-west-2a",), cloud=Cloud.AWS, spot=(True,))))) == []


@pytest.mark.parametrize("spot", [(True, False), (False,), (False, True)])
def test_on_demand_is_a_fallback(spot: tuple[bool, ...]) -> None:
    assert list(own_spot(own_of(offer(*ONE, zones=ZONES[:1], spot=spot)))) == []
