"""Several faults in one file: all parts are checked in one run, and no fault is reported twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import pytest

from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.stack_file.reading.settle import settle
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity, merge
from tests.stack_file import stacks
from tests.stack_file.stacks import STAGING

pytestmark = pytest.mark.pure

VALID: Final = stacks.sections(STAGING)


def reported(changes: Mapping[str, Any]) -> list[str]:
    """Return the paths of the faults."""
    return [line.partition(": ")[0] for line in stacks.faults(stacks.sections(STAGING, changes))]


def test_faults_in_different_entries_are_reported_together() -> None:
    changes = {
        "gpu-pools/t4-spot/min": 6,
        "gpu-pools/t4-on-demand/capacity": "sometimes",
        "images/runner-gpu/digest": "sha256:1",
        "runners/gpu-t4/arc/pool": "nope",
        "runners/cirun-gcp-gpu/cirun-gcp/disk": "100G",
        "host-image/keep": 0,
    }

    assert reported(changes) == [
        "gpu-pools.t4-on-demand.capacity",
        "gpu-pools.t4-spot.min",
        "host-image.keep",
        "images.runner-gpu.digest",
        "runners.cirun-gcp-gpu.cirun-gcp.disk",
        "runners.gpu-t4.arc.pool",
    ]


def test_every_invalid_value_of_an_entry_is_reported_and_then_every_broken_rule() -> None:
    """A rule reads the typed settings, so an entry with an invalid value is checked by the rules in the next run."""
    broken = {"runners/gpu-t4/needs/gpu": "t44", "runners/gpu-t4/arc/pool": "nope", "runners/gpu-t4/arc/image": "zip"}
    invalid = {"runners/gpu-t4/needs/memory": "12GB", "runners/gpu-t4/needs/cpu": 0}

    assert reported({**broken, **invalid}) == ["runners.gpu-t4.needs.cpu", "runners.gpu-t4.needs.memory"]
    assert reported(broken) == ["runners.gpu-t4.arc.image", "runners.gpu-t4.arc.pool", "runners.gpu-t4.needs.gpu"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("runners/gpu-t4/arc", 5),
        ("runners/gpu-t4/needs", 5),
        ("gpu-pools/t4-spot", 5),
        ("runners/gpu-t4/arc/pool", "T4"),
        ("cluster/version", "1.3"),
        ("gpu-pools/t4-on-demand/fast_image_pull", True),
        ("github-federation/branches", []),
        ("artifact-registry/gpu-tests/keep", 0),
        ("cirun/aws", "no"),
        ("autoscaler/expander", "priority"),
    ],
)
def test_an_invalid_part_causes_no_faults_at_other_paths(path: str, value: Any) -> None:
    assert reported({path: value}) == [path.replace("/", ".")]


def changed(change: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths that a change alters."""
    for key, value in change.items():
        if isinstance(value, dict) and value:
            yield from changed(value, (*above, key))
        else:
            yield (*above, key)


DEPENDS_ON: Final[Mapping[str, list[tuple[str, ...]]]] = {
    "a GPU model that the pool does not have": [("gpu-pools", "t4-on-demand", "instance-types")],
    "a pool without an autoscaler": [("gpu-pools", "t4-spot", "min")],
    "more GPUs than cirun attaches to a machine": [("runners", "cirun-gcp-gpu", "cirun-gcp", "machine-types")],
    "a minimum of nodes above the maximum": [("gpu-pools", "t4-spot", "max")],
    "a zone of another region": [("aws", "region")],
    "an unknown zone of an AWS region": [("aws", "region")],
    "machines only outside the region of their images": [("gcp", "region")],
    "a 95th percentile below the typical duration": [("runners", "gpu-t4", "workload", "minutes")],
    "GPU tests on a runner that does not exist": [
        ("runners", "gpu-t4"),
        ("runners", "gpu-t4-steady"),
    ],
    "an image of another Kubernetes version": [("aws", "region"), ("cluster", "version")],
    "nodes with a smaller disk than their image": [("aws", "region"), ("cluster", "version")],
    "a builder in another region": [("aws", "region")],
    "a builder without a GPU": [("aws", "region")],
    "copies without the original": [("aws", "region")],
    "nodes with the AMI of another region": [("aws", "region")],
    "a pool with an image that nothing builds": [("eks-image",)],
    "an own image without the section that builds it": [("ec2-image",)],
    "an image for GPUs without the CUDA version": [
        ("images", "runner-gpu"),
        ("runners", "gpu-t4"),
        ("runners", "gpu-t4-steady"),
    ],
    "a secret for the pods of jobs that have none": [("runners", "gpu-t4", "arc", "image")],
    "a secret for the registry of the account": [("images", "runner-gpu")],
    "a built image that nothing may push": [("ecr",), ("images", "runner-gpu")],
    "a built image whose cache cannot be overwritten": [("ecr",), ("images", "runner-gpu")],
    "an unknown repository": [("ecr",), ("images", "runner-gpu")],
    "an unknown runner for the test of an image": [("runners",)],
    "images of PyTorch whose tags cannot change": [("github-federation",)],
    "a combination of torch and CUDA without wheels": [("github-federation",)],
    "a job without a GPU on a back end that has only GPUs": [("runners", "cirun-gcp-gpu")],
    "more nodes than addresses": [("network",), ("cluster",), ("system-nodes",)],
    "a VPC without NAT gateways": [("network",)],
    "a cluster without administrators": [("cluster",)],
}
"""The paths on which a mistake depends without altering them."""


def places(mistake: Mistake) -> list[tuple[str, ...]]:
    """Return the paths that a mistake alters and reports."""
    return [*changed(mistake.change), tuple(mistake.path.replace("[", ".").replace("]", "").split("."))]


def needed(mistake: Mistake) -> list[tuple[str, ...]]:
    """Return the paths on which a mistake depends.

    Every machine with a runner depends on the address of GitHub, and a network or cluster that exists on whole sections.
    """
    machine = any({"vm", "start-stop"} & set(steps) for steps in places(mistake))
    existing = any("existing" in steps for steps in places(mistake))
    sections = ("network", "cluster", "system-nodes", "autoscaler", "storage", "monitoring", "aws", "eks-image")
    whole = [(name,) for name in sections] if existing else []
    return [*DEPENDS_ON.get(mistake.name, []), *([("github",)] if machine else []), *whole]


def lines_of(mistake: Mistake, faults: list[str]) -> list[str]:
    """Return the lines that report a mistake."""
    lines = (line for line in faults if line.startswith(f"{mistake.path}: "))
    return [line for line in lines if all(words in line for words in mistake.words)]


def is_invalid(mistake: Mistake) -> bool:
    """Return whether the value itself is invalid; else a rule is broken."""
    return bool(settle(merge(VALID, mistake.change), StackSettings)[1])


def mistakes() -> list[Mistake]:
    """Return the mistakes that sections alone show. Some others are found while the file is read."""
    faults = (mistake for mistake in MISTAKES if mistake.level is Severity.FAULT)
    return [mistake for mistake in faults if lines_of(mistake, stacks.faults(merge(VALID, mistake.change)))]


def apart(found: list[Mistake]) -> list[tuple[Mistake, Mistake]]:
    """Return the pairs of mistakes of which neither alters a path of the other one."""
    altered = {mistake.name: places(mistake) for mistake in found}
    read = {mistake.name: [*altered[mistake.name], *needed(mistake)] for mistake in found}

    def touches(one: Mistake, other: Mistake) -> bool:
        return any(a[: len(b)] == b or b[: len(a)] == a for a in altered[one.name] for b in read[other.name])

    return [(one, other) for one, other in combinations(found, 2) if not (touches(one, other) or touches(other, one))]


def test_two_mistakes_are_both_reported_and_nothing_else() -> None:
    """If the other mistake is an invalid value, a broken rule may be reported only in the next run."""
    found = mistakes()
    invalid = {mistake.name for mistake in found if is_invalid(mistake)}
    pairs = apart(found)
    assert len(pairs) > len(found) * (len(found) - 1) / 2 * 0.9, "most mistakes are apart"

    unexpected: dict[tuple[str, str], list[str]] = {}
    for one, other in pairs:
        faults = stacks.faults(merge(merge(VALID, one.change), other.change))
        both = {one.name: lines_of(one, faults), other.name: lines_of(other, faults)}
        due = both.keys() & invalid or both.keys()
        others = [line for line in faults if line.partition(": ")[0] in (*one.also_at, *other.also_at)]
        expected = [*both[one.name], *both[other.name], *others]
        if any(len(both[name]) != 1 for name in due) or sorted(faults) != sorted(expected):
            unexpected[one.name, other.name] = faults

    assert unexpected == {}
