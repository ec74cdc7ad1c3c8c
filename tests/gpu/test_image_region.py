"""Machines that pull their images from another region are told of it."""

from __future__ import annotations

import pytest

from checks.image_region import image_region
from gpu.verdict import Level

pytestmark = pytest.mark.pure

ZONES = "runners.gpu-t4.cirun-gcp.zones"
HERE = {"artifact-registry.gpu-tests": "us-central1"}


def test_machines_beside_their_images_are_well() -> None:
    (verdict,) = image_region(ZONES, ["us-central1-b", "us-central1-a"], HERE)

    assert (verdict.level, verdict.subject) == (Level.OK, ZONES)


def test_one_zone_elsewhere_is_enough_for_a_warning() -> None:
    (verdict,) = image_region(ZONES, ["us-central1-b", "us-east4-a", "us-east4-c"], HERE)

    assert (verdict.level, verdict.subject) == (Level.WARNING, ZONES)
    assert verdict.reason == (
        "machines in us-east4 pull their images from us-central1: slowly, and paid for by the gigabyte"
    )
    assert verdict.fix == "name zones of us-central1, or keep a repository in us-east4 as well"
    assert verdict.chain == ("artifact-registry.gpu-tests is in us-central1",)


def test_a_repository_in_each_region_is_a_way_out() -> None:
    both = {**HERE, "artifact-registry.east": "us-east4"}

    assert [verdict.level for verdict in image_region(ZONES, ["us-central1-b", "us-east4-a"], both)] == [Level.OK]


def test_without_a_repository_nothing_is_pulled_from_one() -> None:
    assert image_region(ZONES, ["us-east4-a"], {}) == []
