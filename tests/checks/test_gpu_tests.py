"""The check `gpu-tests`: options of the tests against the machines of their runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.checks import gpu_tests
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.identity import Identity
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

ARC, VM_AWS, VM_GCP = "examples/eks-arc.yaml", "examples/vm-aws.yaml", "examples/vm-gcp.yaml"
IMAGE = "ghcr.io/example-org/tests@sha256:" + "a" * 64
PERSISTENT = {"runners/gpu-vm/vm/registration": "persistent"}


def found(stack: str, entry: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> list[tuple[str, str, str]]:
    settings = stacks.settings(stack, {"gpu-tests": {"vision": dict(entry)}, **(changes or {})})
    verdicts = list(gpu_tests.check(stack_of(settings, Identity(project="gpu-ci", stack="staging"))))
    assert {verdict.level for verdict in verdicts} <= {Level.ERROR}
    return [(verdict.subject.removeprefix("gpu-tests.vision."), verdict.reason, verdict.fix) for verdict in verdicts]


@pytest.mark.parametrize(
    ("stack", "entry", "changes"),
    [
        (ARC, {"runner": "gpu-l4", "container": IMAGE}, {}),
        (ARC, {"runner": "gpu-light", "cache": "actions", "ccache": True}, {}),
        (VM_AWS, {"container": IMAGE}, {"runners/gpu-vm/vm/docker": True}),
        (VM_AWS, {"cache": "/cache", "ccache": True}, PERSISTENT),
        (VM_AWS, {"cache": "s3://a-bucket"}, {}),
        (VM_GCP, {"cache": "gs://a-bucket"}, {}),
        (stacks.AWS, {"cache": "s3://a-bucket", "ccache": True}, {}),
        (stacks.GCP, {"cache": "actions", "ccache": True}, {"test-image": OUT}),
        (stacks.GCP, {"cache": "actions", "ccache": True, "container": IMAGE}, {}),
    ],
)
def test_a_supported_option_gets_no_verdict(stack: str, entry: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    assert found(stack, entry, changes) == []


@pytest.mark.parametrize(
    ("stack", "entry", "option", "reason", "fix"),
    [
        (ARC, {"runner": "gpu-light", "container": IMAGE}, "container", ("gpu-light has no Docker, so its jobs cannot "
         "state a container"), "state container-mode: kubernetes-novolume in runners.gpu-light.arc, or remove container"),
        (VM_AWS, {"container": IMAGE}, "container", "gpu-vm has no Docker, so its jobs cannot state a container",
         "state docker: true in runners.gpu-vm.vm, or remove container"),
        (VM_AWS, {"cache": "/cache"}, "cache", "the machines of gpu-vm keep no files between jobs",
         "write cache: actions, or state runners.gpu-vm.vm.registration: persistent"),
        (stacks.AWS, {"cache": "/cache"}, "cache", "the machines of cirun-aws-gpu keep no files between jobs",
         "write cache: actions"),
        (ARC, {"runner": "gpu-l4", "cache": "s3://b-c"}, "cache", ("the machines of gpu-l4 have no identity of AWS that "
         "could read s3://b-c"), "write cache: actions, or use another runner"),
        (VM_GCP, {"cache": "s3://b-c"}, "cache", ("the machines of gpu-vm have no identity of AWS that could read "
         "s3://b-c"), "write cache: actions, or use another runner"),
        (VM_AWS, {"cache": "gs://b-c"}, "cache", ("the machines of gpu-vm have no identity of Google Cloud that could "
         "read gs://b-c"), "write cache: actions, or use another runner"),
        (stacks.GCP, {"cache": "actions", "ccache": True}, "ccache", ("the tests run in the image of test-image, which "
         "has no ccache"), "remove ccache, or state container with an image that has it"),
    ],
)  # fmt: skip
def test_an_unsupported_option_is_an_error(
    stack: str, entry: Mapping[str, Any], option: str, reason: str, fix: str
) -> None:
    assert found(stack, entry) == [(option, reason, fix)]


def test_an_entry_without_a_runner_uses_the_first_runner() -> None:
    assert found(ARC, {"cache": "/cache"})[0][1] == "the machines of gpu-l4 keep no files between jobs"
