"""The check `gpu-zones`: zones of Google Cloud that do not offer the GPU."""

from __future__ import annotations

import pytest

from gpu_ci.checks.capacity import gpu_zones
from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.machines.jarvis import jarvis_instance
from gpu_ci.knowledge.machines.zones import GCP_ZONES
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import NEEDS, PATH, offer, verdicts

pytestmark = pytest.mark.pure

PLACES = f"{PATH}.section.zones"
MACHINES = "runners/cirun-gcp-gpu/cirun-gcp/machine-types"


def found(gpu: str, *zones: str) -> list[Verdict]:
    changes = {f"{NEEDS}/gpu": gpu, MACHINES: [{"t4": "n1-standard-4", "l4": "g2-standard-4"}[gpu]]}
    return [one for one in verdicts(gpu_zones, changes, offer(zones=zones)) if one.subject == PLACES]


def test_zones_that_all_offer_the_gpu_pass() -> None:
    assert [verdict.reason for verdict in found("t4", "us-central1-a", "us-central1-f")] == ["all its zones offer t4"]


def test_a_zone_without_the_gpu_gets_a_warning() -> None:
    (verdict,) = found("l4", "us-central1-f", "us-central1-a")

    assert verdict.level is Level.WARNING
    assert verdict.reason == "us-central1-f does not offer l4: launches there always fail"
    assert verdict.fix == "use us-central1-a or us-central1-b or us-central1-c, or another GPU"


def test_no_zone_with_the_gpu_is_an_error() -> None:
    (verdict,) = found("l4", "us-central1-f", "us-east4-b")

    assert verdict.level is Level.ERROR
    assert verdict.reason == "us-central1-f and us-east4-b do not offer l4, and no other zone is stated"


def test_an_unlisted_zone_besides_one_without_the_gpu_leaves_a_warning() -> None:
    assert [verdict.level for verdict in found("l4", "us-central1-f", "europe-west9-a")] == [Level.WARNING]


@pytest.mark.parametrize(("zone", "gpu"), [("europe-west9-a", "t4"), ("us-south1-a", "l4")])
def test_nothing_is_reported_for_unlisted_regions(zone: str, gpu: str) -> None:
    assert found(gpu, zone) == []


def test_the_verifier_of_the_host_image_is_checked_too() -> None:
    changes = {"host-image/verifier/machine-type": "g2-standard-4", "host-image/verifier/gpu": "l4"}
    (verdict,) = (one for one in verdicts(gpu_zones, changes) if one.subject == "host-image.zones")

    assert verdict.level is Level.WARNING


def test_every_zone_and_model_of_the_table_exists() -> None:
    zones = {zone for regions in gpu_zones.OFFERED.values() for zones in regions.values() for zone in zones}

    assert zones - {zone for zones in GCP_ZONES.values() for zone in zones} == set()
    assert set(gpu_zones.OFFERED) - set(GPU_MODELS) == set()


def in_europe(gpu: str, gpus: int) -> list[Verdict]:
    made = offer(jarvis_instance(gpu, gpus), zones=("europe-01",), cloud=Cloud.JARVIS)
    return [one for one in verdicts(gpu_zones, offer=made) if one.subject == PLACES]


@pytest.mark.parametrize(("gpu", "gpus"), [("l4", 1), ("h100", 2)])
def test_europe_of_jarvis_labs_has_single_h100_and_h200_only(gpu: str, gpus: int) -> None:
    (verdict,) = in_europe(gpu, gpus)

    assert verdict.level is Level.ERROR
    assert verdict.reason.startswith(f"europe-01 offers no {gpus}x{gpu.upper()}, only one H100 or H200")
    assert in_europe("h100", 1) == []
