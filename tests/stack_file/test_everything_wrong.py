"""A stack file with many faults: one run reports each of them on a line, with its path and the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from ops.cli import main as cli
from ops.cli.options import ROOT
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

FILE: Final = Path(__file__).with_name("everything-wrong.yaml")
REPORTED: Final = {
    "cluster.log-retention-day": 'unknown key; did you mean "log-retention-days"?',
    "device-plugin": "missing, but gpu-pools needs it; state device-plugin, or remove gpu-pools",
    "github-app-private-key": "is in plain text; run: pulumi config set --secret gpu-ci:github-app-private-key",
    "gpu-pools.t4-on-demand.taints.team": (
        "NO_SCHEDULE is the spelling of the EKS API, not of Kubernetes; write vision:NoSchedule"
    ),
    "gpu-pools.t4-spot.instance-types[1]": (
        'g4dn.2xlage is not a known EC2 instance type; did you mean "g4dn.2xlarge"?'
        " If not, state its facts, as in gpu-ci:instance-types: {g4dn.2xlage: {cloud: aws, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1, max-pods: 58}}"
    ),
    "gpu-pools.t4-spot.min": "9 is more than max 5; write at most 5, or raise max",
    "montoring": 'unknown section; did you mean "monitoring"?',
    "network.reserved.office": ("10.0.64.0/18 overlaps network.cidr 10.0.0.0/16; use ranges that do not overlap"),
    "network.zones.us-east-1c": "is not a zone of us-west-2; write us-west-2c",
    "runners.gpu-t4-elsewhere.arc.pool": '"t4-sopt" is not in gpu-pools; did you mean "t4-spot"?',
    "runners.gpu-t4-nowhere.arc.pool": "missing; state pool",
    "runners.gpu-t4-twice": (
        "states arc and cirun-aws, but a runner has one back end; keep arc, and move cirun-aws to another runner"
    ),
    "runners.gpu-t4-with-a-name-of-more-than-forty-five-characters": (
        "the name has 53 characters, but the chart allows 45; use a shorter name"
    ),
    "runners.gpu-t4-with-a-name-of-more-than-forty-five-characters.needs.gpu": (
        '"t5" is not a known GPU model; did you mean "t4"?'
    ),
    "runners.gpu-t4.needs.memory": '"12GB" is not a size; write whole binary units, as in 12Gi',
    "stack.tags.Token": "contains a credential in plain text; revoke it, and set secrets with --secret",
}
"""Path and message of every fault of the file, in order."""


def planned(file: Path, json: Path) -> int:
    return cli.run(["plan", "--file", str(file), "--json", str(json)])


def test_one_run_reports_every_fault_on_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = planned(FILE, tmp_path / "plan.json")
    *faults, last = capsys.readouterr().err.splitlines()

    assert faults == [f"{path}: {reported}" for path, reported in REPORTED.items()]
    assert last == f"{len(REPORTED)} faults in the stack file. Nothing was changed."
    assert code == 2


def test_only_the_faults_are_printed_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned(FILE, tmp_path / "plan.json")
    reported = capsys.readouterr()

    assert reported.out == ""
    assert "Traceback" not in reported.err
    assert list(tmp_path.iterdir()) == []


def test_the_credential_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned(FILE, tmp_path / "plan.json")

    assert "AKIA" not in capsys.readouterr().err


def without_the_secret(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if "github-app-private-key" not in line and "secure:" not in line)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (
            without_the_secret,
            (
                "github-app-private-key: missing, but arc needs it; "
                "run: pulumi config set --secret gpu-ci:github-app-private-key < key.pem"
            ),
        ),
        (
            lambda text: text.replace('version: "1.35"', "version: 1.35"),
            'cluster.version: 1.35 is a number; write it in quotes: "1.35"',
        ),
        (
            lambda text: text.replace("autoscaler:\n    scale-down-after-minutes: 5", "autoscaler: none"),
            'autoscaler: "none" is not valid; write a map: key: value',
        ),
    ],
    ids=["the missing secret", "a number for a version", "a word for a section"],
)
def test_a_single_fault_is_reported_alone(
    change: Callable[[str], str], reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Pulumi.changet.yaml"
    text = (ROOT / stacks.STAGING).read_text(encoding="utf-8")
    file.write_text(change(text), encoding="utf-8")

    code = planned(file, tmp_path / "plan.json")

    assert capsys.readouterr().err.splitlines()[:-1] == [reported]
    assert code == 2
