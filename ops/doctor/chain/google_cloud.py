"""Check the project of Google Cloud, its APIs, and the permissions of the credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bootstrap.permissions_gcp import DEPLOYER
from gpu_ci.derived.host_image import apis
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.world.source import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "google-project"
NEEDS: Final = ()
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


def applies(settings: Settings) -> bool:
    """Return whether the stack uses Google Cloud."""
    return settings.gcp is not None


def check(world: World) -> Iterator[Verdict]:
    """Yield the state of the project, then each API that is not enabled and each role that is missing."""
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    found = world.google.ask(f"{PROJECTS}/{project}")
    if found is None or found["lifecycleState"] != "ACTIVE":
        state = "does not exist, or is not visible" if found is None else f"is {found['lifecycleState']}"
        yield broken(
            CHECK,
            "gcp.project",
            seen=f"the project {project} {state}",
            means="nothing of this stack is in reach",
            fix="correct gcp.project, or sign in with an account of it: `gcloud auth application-default login`",
        )
        return
    yield works(CHECK, "gcp.project", f"the project {project} is active")
    yield from _apis(world, project)
    yield from _roles(world, project)


def _apis(world: World, project: str) -> Iterator[Verdict]:
    answer = world.google.ask(f"{SERVICES}/{project}/services", filter="state:ENABLED")
    enabled = {one["config"]["name"] for one in (answer or {}).get("services", [])}
    for name in sorted({f"{api}.googleapis.com" for api in apis(world.stack)} - enabled):
        yield broken(
            CHECK,
            name,
            seen=f"the API {name} is not enabled",
            means="each request to it fails with SERVICE_DISABLED",
            fix=f"run `pulumi up`, or gcloud services enable {name} --project {project}",
        )


def _roles(world: World, project: str) -> Iterator[Verdict]:
    try:
        answer = world.google.ask(
            f"{PROJECTS}/{project}:testIamPermissions", body={"permissions": sorted(PROBES.values())}
        )
    except Unanswered as fault:
        yield doubtful(
            CHECK,
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
            CHECK,
            "gcp.project",
            seen=f"the credentials lack the roles {', '.join(missing)}",
            means="`pulumi up` with these credentials fails where it creates something of that kind",
            fix="deploy with an account that has the roles of docs/how-to/google-cloud-project.md, or grant them",
        )
    else:
        yield works(CHECK, "gcp.project", "the credentials may deploy")
