"""A GPU is to be had in some zones of Google Cloud, and where that is known it is said."""

from __future__ import annotations

import pytest

from checks.gpu_zones import OFFERED, gpu_zones
from gpu.machines import GPU_MODELS
from gpu.machines.zones import GOOGLE_ZONES
from gpu.verdict import Level

pytestmark = pytest.mark.pure

PATH = "runners.a.cirun-gcp.zones"


def test_zones_that_all_have_the_gpu_are_well() -> None:
    (verdict,) = gpu_zones(PATH, ["us-central1-a", "us-central1-f"], "t4")

    assert (verdict.level, verdict.subject) == (Level.OK, PATH)


def test_a_zone_without_the_gpu_is_tried_for_nothing() -> None:
    (verdict,) = gpu_zones(PATH, ["us-central1-f", "us-central1-a"], "l4")

    assert verdict.level is Level.WARNING
    assert verdict.reason == "no l4 is to be had in us-central1-f: it is tried for nothing"
    assert verdict.fix == "name us-central1-a or us-central1-b or us-central1-c, or another GPU"


def test_where_no_zone_has_the_gpu_no_job_starts() -> None:
    (verdict,) = gpu_zones(PATH, ["us-central1-f", "us-east4-b"], "l4")

    assert verdict.level is Level.ERROR
    assert verdict.reason == "no l4 is to be had in us-central1-f and us-east4-b, and no other zone is named"


@pytest.mark.parametrize(("zone", "gpu"), [("europe-west9-a", "t4"), ("us-central1-f", "h100"), ("us-south1-a", "l4")])
def test_of_what_is_not_known_nothing_is_said(zone: str, gpu: str) -> None:
    assert gpu_zones(PATH, [zone], gpu) == []


def test_a_zone_that_is_not_known_leaves_a_chance() -> None:
    (verdict,) = gpu_zones(PATH, ["us-central1-f", "europe-west9-a"], "l4")

    assert verdict.level is Level.WARNING


def test_every_zone_and_model_of_the_table_is_there() -> None:
    zones = {zone for regions in OFFERED.values() for zones in regions.values() for zone in zones}

    assert zones - {zone for zones in GOOGLE_ZONES.values() for zone in zones} == set()
    assert set(OFFERED) - set(GPU_MODELS) == set()
