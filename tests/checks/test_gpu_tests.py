"""The check `gpu-tests`: options of the tests against the machines of their runner."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.checks import gpu_tests
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from tests.kit import options
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

ARC, VM_AWS, VM_GCP = "examples/eks-arc.yaml", "examples/vm-aws.yaml", "examples/vm-gcp.yaml"
IMAGE = "ghcr.io/example-org/tests@sha256:" + "a" * 64
PERSISTENT = {"runners/gpu-vm/vm/registration": "persistent"}


def found(stack: str, entry: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> list[tuple[str, str, str]]:
    places = {"vm": "vm", "start-stop": "start-stop/machine"}
    stated = stacks.sections(stack)["runners"]
    machines = [f"runners/{name}/{places[kind]}" for name, one in stated.items() for kind in places if kind in one]
    packages = {f"{path}/packages": ["ccache", "make"] for path in machines if "jarvis" not in stack}
    settings = stacks.settings(stack, {"gpu-tests": {"vision": dict(entry)}, **packages, **(changes or {})})
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
        (stacks.GCP, {"matrix": {"python": ["3.13"]}}, "matrix.python", ("the tests run in the image of test-image, which "
         "has its own Python"), "remove it, or state container with an image"),
        (stacks.GCP, {"tool": "micromamba"}, "tool", "the tests run in the image of test-image, which has no micromamba",
         "write uv or pip, or state container with an image that has it"),
        (ARC, {"runner": "gpu-l4", "smoke-test": True, "smoke-schedule": "7 3 * * 1"}, "smoke-schedule",
         "no runner has machines of its own, so no gpu-smoke.yml is written",
         "remove it; `make smoke` tests the GPUs of a cluster"),
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


PLACES = {**options.RUNNERS, "an instance of Jarvis Labs": ("examples/jarvis.yaml", "jarvis-l4")}


def test_a_key_without_an_effect_is_an_error_on_every_kind_of_runner() -> None:
    keys = {name.replace("_", "-"): field for name, field in GpuTestsSettings.model_fields.items() if name != "runner"}
    assert {*keys} == {key for entry in options.OPTIONS.values() for key in entry}
    ignored = []
    for place, (stack, runner) in PLACES.items():
        # Where a workflow starts its machine, the runner is often not named.
        own = "workflow" in place or "Jarvis" in place
        for first, key in itertools.product([{"runner": runner}, {}] if own else [{"runner": runner}], keys):
            for entry in options.OPTIONS.values():
                if entry.get(key, keys[key].default) == keys[key].default:
                    continue
                if (written := options.files(stack, {**first, **entry})) is not None:
                    rest = {name: value for name, value in entry.items() if name != key}
                    if not found(stack, {**first, **entry}) and written == options.files(stack, {**first, **rest}):
                        ignored.append((place, key, first))
                    break

    assert ignored == []
