"""The labels that runners get: each is one runner's alone, and none that cirun reads as something else."""

from __future__ import annotations

import pytest

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun_checks import judge
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

GCP = "examples/cirun-gcp.yaml"


def named(*names: str) -> list[str]:
    """Return the faults of a stack whose cirun runners have these names."""
    raw = stacks.sections(GCP)
    runner = raw["runners"].pop("cirun-gcp-gpu")
    raw["runners"] = dict.fromkeys(names, runner)
    return stacks.faults(raw)


@pytest.mark.parametrize("names", [("t4-gpu", "cirun-t4-gpu"), ("cirun-t4-gpu", "t4-gpu")])
def test_two_runners_with_the_same_label_are_a_fault(names: tuple[str, str]) -> None:
    (fault,) = named(*names)

    assert fault == (f"runners.{names[1]}: has the label cirun-t4-gpu, as has runners.{names[0]}; rename one of them")


def test_a_label_of_another_back_end_is_a_fault() -> None:
    raw = stacks.sections(stacks.STAGING)
    arc = next(runner for runner in raw["runners"].values() if "arc" in runner)
    raw["runners"]["cirun-t4"], raw["runners"]["t4"] = arc, raw["runners"].pop("cirun-gcp-gpu")

    (fault,) = (one for one in stacks.faults(raw) if "has the label" in one)

    assert fault.startswith("runners.t4: has the label cirun-t4, as has runners.cirun-t4;")


@pytest.mark.parametrize("name", ["aws-t4-ubuntu", "cirun-gcp-n1-standard-4-ubuntu2404", "azure-nc6-windows-2025"])
def test_a_name_that_cirun_reads_as_a_machine_is_a_fault(name: str) -> None:
    (fault,) = named(name)

    assert fault.startswith(
        f"runners.{name}: cirun reads the label cirun-{name.removeprefix('cirun-')} as CLOUD-TYPE-IMAGE"
    )
    assert fault.endswith("rename the runner, for example with the cloud's name last")


@pytest.mark.parametrize("name", ["gcp-gpu", "ubuntu-t4-aws", "gcp-t4-large", "ubuntu-t4", "gpu-ubuntu2404"])
def test_a_name_that_only_resembles_a_machine_is_valid(name: str) -> None:
    assert named(name) == []


@pytest.mark.parametrize(
    ("label", "ours", "levels"),
    [
        ("cirun-aws-t4-ubuntu", True, [Level.ERROR]),
        ("cirun-aws-t4-ubuntu", False, [Level.WARNING]),
        ("cirun-gcp-t4-large", True, [Level.WARNING]),
        ("cirun-gcp-gpu", True, []),
        ("self-hosted", True, [Level.ERROR]),
        ("self-hosted", False, []),
    ],
)
def test_labels_of_our_files_are_checked_more_strictly(label: str, ours: bool, levels: list[Level]) -> None:
    runner = {"name": "a", "cloud": "aws", "labels": [label]}

    assert [verdict.level for verdict in judge([runner], ours=ours)] == levels
