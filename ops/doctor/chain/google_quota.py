"""Check the quotas of the project as they are now, against the largest use of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.checks.capacity.quota import stack_needs
from gpu_ci.knowledge.quotas.claim import EVERYWHERE
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.chain.google_cloud import applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.machines import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.checks.capacity.quota import QuotaNeed
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "google-quota"
NEEDS: Final = ("google-project",)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each quota that the stack uses."""
    settings = world.settings
    project = settings.gcp.project if settings.gcp is not None else ""
    for need in stack_needs(world.stack):
        if need.quota.cloud is Cloud.GCP:
            place = "" if need.quota.region == EVERYWHERE else f"/regions/{need.quota.region}"
            answer = world.google.ask(f"{COMPUTE}/projects/{project}{place}")
            found = {one["metric"]: one for one in (answer or {}).get("quotas", [])}
            yield _verdict(need, found)


def _verdict(need: QuotaNeed, found: dict[str, dict[str, float]]) -> Verdict:
    quota = need.quota
    named = f"{quota.name} in {quota.place}"
    if quota.name not in found:
        return doubtful(
            CHECK,
            need.claims[0].group.path,
            seen=f"Compute Engine does not list {named}",
            means="the project may have no access to this GPU, or Google has renamed the quota",
            fix=f"look for it in the console, IAM, Quotas; {quota.request(need.needed)}",
        )
    limit, usage = int(found[quota.name]["limit"]), int(found[quota.name]["usage"])
    seen = f"{named} is {limit}, {usage} are in use, and the stack can use {need.needed} {quota.unit}"
    if limit < need.needed:
        return broken(
            CHECK,
            need.claims[0].group.path,
            seen=seen,
            means="the last machines do not start; with a quota of 0, none does",
            fix=f"request more: {quota.request(need.needed)}",
        )
    stated = f"; state {limit} as quotas.{need.key}" if need.stated != limit else ""
    return works(CHECK, need.claims[0].group.path, f"{seen}{stated}")
