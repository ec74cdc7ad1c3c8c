"""The check `image-region`: machines in another region than their images."""

from __future__ import annotations

import pytest

from gpu_ci.checks.images import image_region
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import PATH, offer, verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

ZONES = ("us-central1-b", "us-east4-a", "us-east4-c")


def found(*zones: str, **changes: object) -> list[Verdict]:
    return verdicts(
        image_region, {f"artifact-registry/{name}": value for name, value in changes.items()}, offer(zones=zones)
    )


def test_machines_in_the_region_of_their_images_pass() -> None:
    assert [verdict.level for verdict in found("us-central1-b", "us-central1-a")] == [Level.OK]


def test_one_zone_in_another_region_gets_a_warning() -> None:
    (verdict,) = found(*ZONES)

    assert (verdict.level, verdict.subject) == (Level.WARNING, f"{PATH}.section.zones")
    assert verdict.reason == ("machines in us-east4 pull their images from us-central1, which is slow and costs money")
    assert verdict.fix == "use zones of us-central1, or keep a repository in us-east4 as well"
    assert verdict.chain == ("artifact-registry.gpu-tests is in us-central1",)


def test_a_repository_in_each_region_is_a_fix() -> None:
    assert [verdict.level for verdict in found(*ZONES, east={"region": "us-east4", "keep": 3})] == [Level.OK]


def test_nothing_is_reported_without_a_repository() -> None:
    assert verdicts(image_region, {"artifact-registry": OUT, "test-image": OUT}, offer(zones=ZONES)) == []
