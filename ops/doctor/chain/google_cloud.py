"""The project of Google Cloud: its APIs, permissions, quotas, machine image, and failed starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bootstrap.permissions_gcp import DEPLOYER
from gpu_ci.checks.capacity.quota import QuotaNeed, stack_needs
from gpu_ci.derived.host_image import apis
from gpu_ci.derived.host_image import name as image_name
from gpu_ci.knowledge.quotas.claim import EVERYWHERE
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.questions.machines import COMPUTE
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

PROJECTS: Final = "https://cloudresourcemanager.googleapis.com/v1/projects"
SERVICES: Final = "https://serviceusage.googleapis.com/v1/projects"
PROBES: Final[Mapping[str, str]] = {
    "artifactregistry.admin": "artifactregistry.repositories.create",
    "cloudbuild.builds.editor": "cloudbuild.builds.create",
    "compute.admin": "compute.instances.create",
    "iam.roleAdmin": "iam.roles.create",
    "iam.serviceAccountAdmin": "iam.serviceAccounts.create",
    "iam.serviceAccountUser": "iam.serviceAccounts.actAs",
    "iam.workloadIdentityPoolAdmin": "iam.workloadIdentityPools.create",
    "monitoring.alertPolicyEditor": "monitoring.alertPolicies.create",
    "monitoring.notificationChannelEditor": "monitoring.notificationChannels.create",
    "resourcemanager.projectIamAdmin": "resourcemanager.projects.setIamPolicy",
    "secretmanager.admin": "secretmanager.secrets.create",
    "serviceusage.serviceUsageAdmin": "serviceusage.services.enable",
    "storage.admin": "storage.buckets.create",
}
"""A role of the deploying account to a permission that only this one of the roles includes."""


@CHAPTER.check(applies=sections.gcp)
def google_project(world: World) -> Iterator[Finding]:
    """Check the project of Google Cloud, its APIs, and the permissions of the credentials."""
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    found = world.google.ask(f"{PROJECTS}/{project}")
    if found is None or found["lifecycleState"] != "ACTIVE":
        state = "does not exist, or is not visible" if found is None else f"is {found['lifecycleState']}"
        yield broken(
            "gcp.project",
            seen=f"the project {project} {state}",
            means="nothing of this stack is in reach",
            fix="correct gcp.project, or sign in with an account of it: `gcloud auth application-default login`",
        )
        return
    yield works("gcp.project", f"the project {project} is active")
    yield from _apis(world, project)
    yield from _roles(world, project)


def _apis(world: World, project: str) -> Iterator[Finding]:
    answer = world.google.ask(f"{SERVICES}/{project}/services", filter="state:ENABLED")
    enabled = {one["config"]["name"] for one in (answer or {}).get("services", [])}
    for name in sorted({f"{api}.googleapis.com" for api in apis(world.stack)} - enabled):
        yield broken(
            name,
            seen=f"the API {name} is not enabled",
            means="each request to it fails with SERVICE_DISABLED",
            fix=f"run `pulumi up`, or gcloud services enable {name} --project {project}",
        )


def _roles(world: World, project: str) -> Iterator[Finding]:
    try:
        answer = world.google.ask(
            f"{PROJECTS}/{project}:testIamPermissions", body={"permissions": sorted(PROBES.values())}
        )
    except Unanswered as fault:
        yield doubtful(
            "gcp.project",
            seen=f"the permissions of the credentials are not known: {fault.reason}",
            means="`pulumi up` may fail with 403",
            fix="run the doctor with the credentials that deploy",
        )
        return
    granted = set((answer or {}).get("permissions", []))
    missing = [role for role in DEPLOYER if PROBES[role] not in granted]
    if missing:
        yield doubtful(
            "gcp.project",
            seen=f"the credentials lack the roles {', '.join(missing)}",
            means="`pulumi up` with these credentials fails where it creates something of that kind",
            fix="deploy with an account that has the roles of docs/how-to/google-cloud-project.md, or grant them",
        )
    else:
        yield works("gcp.project", "the credentials may deploy")


@CHAPTER.check(needs=("google-project",), applies=sections.gcp)
def google_quota(world: World) -> Iterator[Finding]:
    """Check the quotas of the project as they are now, against the largest use of the stack."""
    settings = world.settings
    project = settings.gcp.project if settings.gcp is not None else ""
    for need in stack_needs(world.stack):
        if need.quota.cloud is Cloud.GCP:
            place = "" if need.quota.region == EVERYWHERE else f"/regions/{need.quota.region}"
            answer = world.google.ask(f"{COMPUTE}/projects/{project}{place}")
            found = {one["metric"]: one for one in (answer or {}).get("quotas", [])}
            yield _quota(need, found)


def _quota(need: QuotaNeed, found: dict[str, dict[str, float]]) -> Finding:
    quota = need.quota
    named = f"{quota.name} in {quota.place}"
    if quota.name not in found:
        return doubtful(
            need.claims[0].group.path,
            seen=f"Compute Engine does not list {named}",
            means="the project may have no access to this GPU, or Google has renamed the quota",
            fix=f"look for it in the console, IAM, Quotas; {quota.request(need.needed)}",
        )
    limit, usage = int(found[quota.name]["limit"]), int(found[quota.name]["usage"])
    seen = f"{named} is {limit}, {usage} are in use, and the stack can use {need.needed} {quota.unit}"
    if limit < need.needed:
        return broken(
            need.claims[0].group.path,
            seen=seen,
            means="the last machines do not start; with a quota of 0, none does",
            fix=f"request more: {quota.request(need.needed)}",
        )
    stated = f"; state {limit} as quotas.{need.key}" if need.stated != limit else ""
    return works(need.claims[0].group.path, f"{seen}{stated}")


@CHAPTER.check(needs=("google-project",), applies=lambda settings: settings.host_image is not None)
def host_image(world: World) -> Iterator[Finding]:
    """Check that the machine image of the stack file exists and is ready."""
    settings = world.settings
    if settings.host_image is None or settings.gcp is None:
        return
    name = image_name(settings.host_image, settings.gcp.region)
    place = f"{COMPUTE}/projects/{settings.gcp.project}/global/images"
    image = world.google.ask(f"{place}/{name}")
    if image is None:
        latest = world.google.ask(f"{place}/family/{settings.host_image.family}")
        others = f"; the newest of its family is {latest['name']}" if latest is not None else ""
        yield broken(
            "host-image",
            seen=f"the project has no image {name}{others}",
            means="the content of the stack file was never built, or its build failed; machines cannot boot from it",
            fix="run `pulumi up`, which builds and tests it; the log of the builder has the reason of a failure",
        )
        return
    state = image.get("deprecated", {}).get("state")
    if image["status"] != "READY":
        yield broken(
            "host-image",
            seen=f"the image {name} is {image['status']}",
            means="machines cannot boot from it",
            fix="wait while it is PENDING; delete it if it is FAILED, and run `pulumi up`",
        )
    elif state in {"OBSOLETE", "DELETED", "DEPRECATED"}:
        make = doubtful if state == "DEPRECATED" else broken
        yield make(
            "host-image",
            seen=f"the image {name} is marked as {state}",
            means="Compute Engine refuses obsolete images for new machines, and a family skips deprecated ones",
            fix=f"gcloud compute images deprecate {name} --project {settings.gcp.project} --state ACTIVE",
        )
    else:
        yield works("host-image", f"the image {name} is ready")


_RECENT: Final = timedelta(days=1)
_STARTS: Final = frozenset({"insert", "start", "reset"})


@CHAPTER.check(needs=("google-project",), applies=lambda settings: settings.gcp is not None and bool(settings.runners))
def google_capacity(world: World) -> Iterator[Finding]:
    """Check the machines that Google Cloud could not start in the last day, by zone and reason.

    cirun shows only that no runner matches, so the operations of the zone are the only place with the reason.
    """
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    for zone in _zones(world):
        answer = world.google.ask(
            f"{COMPUTE}/projects/{project}/zones/{zone}/operations", orderBy="creationTimestamp desc", maxResults="200"
        )
        yield _starts(world, zone, (answer or {}).get("items", []))


def _zones(world: World) -> dict[str, None]:
    own = [offer.own for offer in world.stack.offers.values() if offer.own is not None and offer.own.cloud is Cloud.GCP]
    return dict.fromkeys(zone for one in own for placement in one.placements for zone in placement.zones)


def _starts(world: World, zone: str, operations: list[dict[str, Any]]) -> Finding:
    recent = [
        one
        for one in operations
        if one["operationType"] in _STARTS and world.now - datetime.fromisoformat(one["insertTime"]) < _RECENT
    ]
    codes = Counter(error["code"] for one in recent for error in one.get("error", {}).get("errors", []))
    failed = sum("error" in one for one in recent)
    if not failed:
        return works(zone, f"{len(recent)} starts of machines in the last day, none failed")
    seen = f"{failed} of {len(recent)} starts of machines in the last day failed: {', '.join(sorted(codes))}"
    if any("EXHAUSTED" in code or "STOCKOUT" in code for code in codes):
        return doubtful(
            zone,
            seen=seen,
            means="Google Cloud had no free machine or GPU in this zone; GitHub only shows that no runner matches",
            fix="add zones in other regions to the runner, and `spot: [true, false]` where spot is the first choice",
        )
    if any("QUOTA" in code for code in codes):
        return broken(
            zone,
            seen=seen,
            means="a quota of the project is used up",
            fix="read google-quota in this output, and request more",
        )
    return broken(
        zone,
        seen=seen,
        means="Compute Engine refused the machines",
        fix=f"gcloud compute operations list --zones {zone} --filter=operationType=insert, and read the message",
    )
