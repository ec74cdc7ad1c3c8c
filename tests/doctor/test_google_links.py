"""Tests of the checks of Google Cloud and of container registries, on recorded answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from bootstrap.permissions_gcp import DEPLOYER
from gpu_ci.derived import host_image as images
from gpu_ci.derived.host_image import apis
from ops.doctor.chain.google_cloud import (
    PROBES,
    PROJECTS,
    SERVICES,
    google_capacity,
    google_project,
    google_quota,
    host_image,
)
from ops.doctor.chain.pods import ARTIFACTS, _in_registry, image_digest
from ops.doctor.questions.machines import COMPUTE
from ops.doctor.world.recording import Exchange, Recorded
from ops.doctor.world.world import World
from tests.doctor.worlds import Question, asked, lines, silent, world

pytestmark = pytest.mark.pure

VM: Final = "examples/vm-gcp.yaml"
CIRUN: Final = "examples/cirun-gcp.yaml"
PROJECT: Final = f"{COMPUTE}/projects/gpu-test-runners"
MINE: Final = f"{PROJECTS}/gpu-test-runners"


def test_every_role_of_the_deploying_account_has_a_permission_of_its_own() -> None:
    assert set(PROBES) == set(DEPLOYER)
    assert len(set(PROBES.values())) == len(DEPLOYER)


def project(*, state: str | None = "ACTIVE", without: str = "", lacking: str = "", refused: str = "") -> list[str]:
    """Return the findings on a project, with differences from a good one."""
    stack = world(VM, {}).stack
    enabled = [{"config": {"name": f"{api}.googleapis.com"}} for api in apis(stack) if api != without]
    asked_for = sorted(PROBES.values())
    granted = [permission for role, permission in PROBES.items() if role != lacking]
    tested = Exchange(
        call=f"{MINE}:testIamPermissions",
        arguments={"body": {"permissions": asked_for}},
        answer={"permissions": granted},
        unanswered=refused,
    )
    known = Recorded(
        [
            Exchange(call=MINE, arguments={}, answer={"lifecycleState": state} if state is not None else None),
            Exchange(
                call=f"{SERVICES}/gpu-test-runners/services",
                arguments={"filter": "state:ENABLED"},
                answer={"services": enabled},
            ),
            tested,
        ]
    )
    return lines(list(google_project.check(replace(world(VM, {}), google=known))))


ACTIVE: Final = "ok | gcp.project | the project gpu-test-runners is active"


def test_a_project_with_its_apis_and_roles_works() -> None:
    assert project() == [ACTIVE, "ok | gcp.project | the credentials may deploy"]


@pytest.mark.parametrize(
    ("state", "seen"), [(None, "does not exist, or is not visible"), ("DELETE_REQUESTED", "is DELETE_REQUESTED")]
)
def test_a_project_that_is_not_active_is_found(state: str | None, seen: str) -> None:
    assert project(state=state) == [
        (
            f"error | gcp.project | the project gpu-test-runners {seen} | nothing of this stack is in reach | correct "
            "gcp.project, or sign in with an account of it: `gcloud auth application-default login`"
        )
    ]


def test_an_api_that_is_not_enabled_is_found() -> None:
    assert project(without="secretmanager")[1] == (
        "error | secretmanager.googleapis.com | the API secretmanager.googleapis.com is not enabled | each request to it "
        "fails with SERVICE_DISABLED | run `pulumi up`, or gcloud services enable secretmanager.googleapis.com --project "
        "gpu-test-runners"
    )


def test_missing_roles_are_a_warning() -> None:
    assert project(lacking="secretmanager.admin")[1] == (
        "warning | gcp.project | the credentials lack the roles secretmanager.admin | `pulumi up` with these credentials "
        "fails where it creates something of that kind | deploy with an account that has the roles of "
        "docs/how-to/google-cloud-project.md, or grant them"
    )


def test_unknown_permissions_are_a_warning() -> None:
    (_, line) = project(refused="Google Cloud answered 403")

    assert line.startswith(
        "warning | gcp.project | the permissions of the credentials are not known: Google Cloud answered"
    )


def quotas(*, gpus: float, everywhere: float, used: float = 0) -> list[str]:
    """Return the findings on the quotas of `vm-gcp.yaml`."""
    answers: dict[Question, Any] = {
        asked("google", PROJECT): {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": everywhere, "usage": used}]},
        asked("google", f"{PROJECT}/regions/us-central1"): {
            "quotas": [{"metric": "NVIDIA_L4_GPUS", "limit": gpus, "usage": used}]
        },
    }
    return lines(list(google_quota.check(world(VM, answers))))


def test_sufficient_quotas_work() -> None:
    assert quotas(gpus=1.0, everywhere=4.0, used=1.0) == [
        (
            "ok | runners.gpu-vm | GPUS_ALL_REGIONS in all regions is 4, 1 are in use, and the stack can use 1 GPUs; state 4 as "
            "quotas.GPUS_ALL_REGIONS"
        ),
        "ok | runners.gpu-vm | NVIDIA_L4_GPUS in us-central1 is 1, 1 are in use, and the stack can use 1 GPUs",
    ]


def test_a_quota_of_zero_is_found_with_the_command_that_requests_more() -> None:
    line = quotas(gpus=1.0, everywhere=0.0)[0]

    assert line.startswith(
        "error | runners.gpu-vm | GPUS_ALL_REGIONS in all regions is 0, 0 are in use, and the stack can use 1 GPUs | the last "
        "machines do not start; with a quota of 0, none does | request more: gcloud beta quotas preferences create "
    )


def test_a_quota_that_google_does_not_list_is_a_warning() -> None:
    answers: dict[Question, Any] = {
        asked("google", PROJECT): {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 1, "usage": 0}]},
        asked("google", f"{PROJECT}/regions/us-central1"): {"quotas": []},
    }

    assert [one.level for one in google_quota.check(world(VM, answers))] == ["ok", "warning"]


def operation(hours: int, *codes: str, kind: str = "insert") -> dict[str, Any]:
    """Return an operation some hours before the question."""
    at = f"2026-11-{20 - (hours + 11) // 24}T{(12 - hours) % 24:02}:00:00.000-00:00"
    failed = {"error": {"errors": [{"code": code} for code in codes]}} if codes else {}
    return {"operationType": kind, "insertTime": at, **failed}


EXHAUSTED: Final = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"


@pytest.mark.parametrize(
    ("operations", "line"),
    [
        ([], "ok | us-central1-b | 0 starts of machines in the last day, none failed"),
        (
            [operation(2), operation(3, kind="delete"), operation(30, EXHAUSTED)],
            "ok | us-central1-b | 1 starts of machines in the last day, none failed",
        ),
        (
            [operation(2, EXHAUSTED), operation(3)],
            (
                f"warning | us-central1-b | 1 of 2 starts of machines in the last day failed: {EXHAUSTED} | Google Cloud had no "
                "free machine or GPU in this zone; GitHub only shows that no runner matches | add zones in other regions to the "
                "runner, and `spot: [true, false]` where spot is the first choice"
            ),
        ),
        (
            [operation(2, "QUOTA_EXCEEDED")],
            (
                "error | us-central1-b | 1 of 1 starts of machines in the last day failed: QUOTA_EXCEEDED | a quota of the project "
                "is used up | read google-quota in this output, and request more"
            ),
        ),
        (
            [operation(2, "RESOURCE_NOT_FOUND")],
            (
                "error | us-central1-b | 1 of 1 starts of machines in the last day failed: RESOURCE_NOT_FOUND | Compute Engine "
                "refused the machines | gcloud compute operations list --zones us-central1-b --filter=operationType=insert, and "
                "read the message"
            ),
        ),
    ],
)
def test_the_starts_of_the_last_day_are_explained(operations: list[dict[str, Any]], line: str) -> None:
    path = f"{PROJECT}/zones/us-central1-b/operations"
    question = asked("google", path, orderBy="creationTimestamp desc", maxResults="200")

    assert lines(list(google_capacity.check(world(VM, {question: {"items": operations}})))) == [line]


def built(image: Any, latest: Any = None) -> list[str]:
    """Return the findings on the host image, with its name replaced."""
    found = world(CIRUN, {})
    assert found.settings.host_image is not None
    name = images.name(found.settings.host_image, "us-central1")
    answers: dict[Question, Any] = {
        asked("google", f"{PROJECT}/global/images/{name}"): image,
        asked("google", f"{PROJECT}/global/images/family/gpu-host"): latest,
    }
    return [line.replace(name, "NAME") for line in lines(list(host_image.check(world(CIRUN, answers))))]


@pytest.mark.parametrize(
    ("image", "line"),
    [
        ({"status": "READY"}, "ok | host-image | the image NAME is ready"),
        (
            {"status": "FAILED"},
            (
                "error | host-image | the image NAME is FAILED | machines cannot boot from it | wait while it is PENDING; delete "
                "it if it is FAILED, and run `pulumi up`"
            ),
        ),
        (
            {"status": "READY", "deprecated": {"state": "OBSOLETE"}},
            (
                "error | host-image | the image NAME is marked as OBSOLETE | Compute Engine refuses obsolete images for new "
                "machines, and a family skips deprecated ones | gcloud compute images deprecate NAME --project gpu-test-runners "
                "--state ACTIVE"
            ),
        ),
        (
            None,
            (
                "error | host-image | the project has no image NAME; the newest of its family is gpu-host-old | the content of the "
                "stack file was never built, or its build failed; machines cannot boot from it | run `pulumi up`, which builds "
                "and tests it; the log of the builder has the reason of a failure"
            ),
        ),
    ],
)
def test_the_state_of_the_host_image_is_explained(image: Any, line: str) -> None:
    assert built(image, {"name": "gpu-host-old"}) == [line]


STATED: Final = "ghcr.io/example-org/actions-runner-cuda"
ON_ARC: Final = "examples/eks-arc.yaml"
MANIFEST: Final = {"host": "ghcr.io", "repository": "example-org/actions-runner-cuda", "reference": "2.337.0-cuda12.9"}
TEST_IMAGE: Final = f"{ARTIFACTS}/projects/gpu-test-runners/locations/us-central1/repositories/gpu-tests/packages"


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"digest": "sha256:1"}, f"ok | images.actions-runner-cuda | {STATED}:2.337.0-cuda12.9 exists"),
        (
            None,
            (
                f"error | images.actions-runner-cuda | the registry has no {STATED}:2.337.0-cuda12.9 | pods stay in "
                "ImagePullBackOff: the image was not pushed, or a clean-up deleted it | push the image, or state a version that "
                "exists in images.actions-runner-cuda"
            ),
        ),
        (
            silent("manifest", "ghcr.io answered manifest with 401 (Unauthorized)", "the image is private", **MANIFEST),
            (
                f"warning | images.actions-runner-cuda | the registry does not show {STATED}:2.337.0-cuda12.9: ghcr.io answered "
                "manifest with 401 (Unauthorized) | these credentials cannot read it; the machines have credentials of their own "
                "| the image is private"
            ),
        ),
    ],
)
def test_an_image_of_another_registry_is_looked_up(answer: Any, line: str) -> None:
    found = world(ON_ARC, {asked("registry", "manifest", **MANIFEST): answer})

    assert lines([one for one in image_digest.check(found) if "runner" in one.subject]) == [line]


@pytest.mark.parametrize(
    ("reference", "repository"),
    [
        ("docker.io/pytorch/pytorch", "pytorch/pytorch"),
        ("pytorch/pytorch", "pytorch/pytorch"),
        ("ubuntu", "library/ubuntu"),
    ],
)
def test_an_image_of_docker_hub_is_looked_up_at_its_registry(reference: str, repository: str) -> None:
    question = asked("registry", "manifest", host="registry-1.docker.io", repository=repository, reference="1")

    assert _in_registry(world(ON_ARC, {question: {"digest": "sha256:1"}}), "x", reference, "1")


def on_ecr() -> World:
    """Return a world in which ECR has the images of the stack."""
    found = world("tests/stacks/production.yaml", {})
    exchanges = []
    for image in found.settings.images.values():
        version = {"imageDigest": image.digest} if image.digest else {"imageTag": image.tag}
        arguments = {"repositoryName": image.repository, "imageIds": [version]}
        exchanges.append(Exchange(call="ecr.describe_images", arguments=arguments, answer={"imageDetails": [{}]}))
    return replace(found, aws=Recorded(exchanges))


def test_an_image_of_the_stack_is_looked_up_in_ecr() -> None:
    found = [one for one in image_digest.check(on_ecr()) if one.subject != "test-image"]

    assert [one.level for one in found] == ["ok"] * len(on_ecr().settings.images)


def test_the_test_image_is_looked_up_in_artifact_registry() -> None:
    container = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/"
    (path,) = {call for call in _asked_of_google() if call.startswith(TEST_IMAGE)}
    answers: dict[Question, Any] = {asked("google", path): {}}

    (line,) = lines(list(image_digest.check(world(CIRUN, answers))))

    assert line.startswith(f"ok | test-image | {container}")


def _asked_of_google() -> list[str]:
    """Return the questions of the check to Google Cloud."""
    calls: list[str] = []

    class Listening:
        def ask(self, call: str, /, **arguments: Any) -> Any:
            calls.append(call)

    list(image_digest.check(replace(world(CIRUN, {}), google=Listening())))
    return calls
