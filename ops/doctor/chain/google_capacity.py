"""Check the machines that Google Cloud could not start in the last day, by zone and reason.

cirun shows only that no runner matches, so the operations of the zone are the only place with the reason.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.knowledge.regions import Cloud
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.machines import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "google-capacity"
NEEDS: Final = ("google-project",)
RECENT: Final = timedelta(days=1)
_STARTS: Final = frozenset({"insert", "start", "reset"})


def applies(settings: Settings) -> bool:
    """Return whether the stack can start machines on Google Cloud."""
    return settings.gcp is not None and bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each zone that a runner states."""
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    for zone in _zones(world):
        answer = world.google.ask(
            f"{COMPUTE}/projects/{project}/zones/{zone}/operations", orderBy="creationTimestamp desc", maxResults="200"
        )
        yield _verdict(world, zone, (answer or {}).get("items", []))


def _zones(world: World) -> dict[str, None]:
    own = [offer.own for offer in world.stack.offers.values() if offer.own is not None and offer.own.cloud is Cloud.GCP]
    return dict.fromkeys(zone for one in own for placement in one.placements for zone in placement.zones)


def _verdict(world: World, zone: str, operations: list[dict[str, Any]]) -> Verdict:
    recent = [
        one
        for one in operations
        if one["operationType"] in _STARTS and world.now - datetime.fromisoformat(one["insertTime"]) < RECENT
    ]
    codes = Counter(error["code"] for one in recent for error in one.get("error", {}).get("errors", []))
    failed = sum("error" in one for one in recent)
    if not failed:
        return works(CHECK, zone, f"{len(recent)} starts of machines in the last day, none failed")
    seen = f"{failed} of {len(recent)} starts of machines in the last day failed: {', '.join(sorted(codes))}"
    if any("EXHAUSTED" in code or "STOCKOUT" in code for code in codes):
        return doubtful(
            CHECK,
            zone,
            seen=seen,
            means="Google Cloud had no free machine or GPU in this zone; GitHub only shows that no runner matches",
            fix="add zones in other regions to the runner, and `spot: [true, false]` where spot is the first choice",
        )
    if any("QUOTA" in code for code in codes):
        return broken(
            CHECK,
            zone,
            seen=seen,
            means="a quota of the project is used up",
            fix="read google-quota in this output, and request more",
        )
    return broken(
        CHECK,
        zone,
        seen=seen,
        means="Compute Engine refused the machines",
        fix=f"gcloud compute operations list --zones {zone} --filter=operationType=insert, and read the message",
    )
