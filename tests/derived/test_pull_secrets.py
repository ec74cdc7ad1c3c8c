"""The credentials of private registries: a Secret by name, in every pod that pulls such an image and in no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from components.kubernetes.arc.scale_set_values import job_pod, runner_pod
from components.kubernetes.gpus.smoke_job import pod_template
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.arc.values import scale_set
from gpu_ci.derived.kubernetes import smoke_jobs
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

PRIVATE: Final[Mapping[str, Any]] = {
    "images/runner-gpu/repository": OUT,
    "images/runner-gpu/reference": "ghcr.io/example-org/runner",
    "images/runner-gpu/image-pull-secret": "ghcr-read",
}
SEPARATE: Final[Mapping[str, Any]] = {
    "runners/gpu-t4/arc/container-mode": "kubernetes-novolume",
    "runners/gpu-t4/arc/image-pull-secret": "jobs-read",
}


def pods(changes: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the specs of the runner's pod and of the job's pod."""
    settings = stacks.settings(changes=changes)
    runner = settings.runners["gpu-t4"]
    values = scale_set("gpu-t4", runner, runner.section(ArcSection), settings)
    return runner_pod(values, "image")["spec"], job_pod(values)["spec"]


@pytest.mark.parametrize(
    ("changes", "runner", "job"),
    [
        ({}, None, None),
        (PRIVATE, [{"name": "ghcr-read"}], None),
        (SEPARATE, None, [{"name": "jobs-read"}]),
        ({**PRIVATE, **SEPARATE}, [{"name": "ghcr-read"}], [{"name": "jobs-read"}]),
    ],
)
def test_a_pod_names_the_secret_of_its_own_image(changes: Mapping[str, Any], runner: Any, job: Any) -> None:
    own, separate = pods(changes)

    assert own.get("imagePullSecrets") == runner
    assert separate.get("imagePullSecrets") == job
    assert "password" not in json.dumps([own, separate])


def test_the_smoke_test_names_the_secret_of_its_image() -> None:
    changes: dict[str, Any] = {"smoke-test": {"image": "runner-gpu"}}
    plain, private = (
        pod_template(smoke_jobs(stacks.settings(changes=one))[0], "image")["spec"]
        for one in (changes, {**changes, **PRIVATE})
    )

    assert "imagePullSecrets" not in plain
    assert private["imagePullSecrets"] == [{"name": "ghcr-read"}]


@pytest.mark.parametrize(
    ("reference", "refused"),
    [
        ("ghcr.io/example-org/runner", False),
        ("docker.io/example/runner", False),
        ("us-central1-docker.pkg.dev/project/images/runner", False),
        ("210987654321.dkr.ecr.us-west-2.amazonaws.com/runner", False),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/runner", True),
        ("public.ecr.aws/example/runner", True),
    ],
)
def test_a_public_registry_gets_no_credentials(reference: str, *, refused: bool) -> None:
    faults = stacks.faults(stacks.sections(changes={**PRIVATE, "images/runner-gpu/reference": reference}))

    assert [fault.partition(":")[0] for fault in faults] == (["images.runner-gpu.image-pull-secret"] if refused else [])
