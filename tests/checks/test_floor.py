"""The check `floor`: machines that are too small or too old for testing GPU code."""

from __future__ import annotations

import pytest

from gpu_ci.checks.nodes import floor
from gpu_ci.knowledge.machines import attach, ec2_type, gce_type, gpu_model
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import NEEDS, offer, verdicts

pytestmark = pytest.mark.pure

N1 = gce_type("n1-standard-4")


@pytest.mark.parametrize(
    ("name", "cuda", "level"),
    [
        ("g4dn.xlarge", "12.9", Level.OK),
        ("g4dn.xlarge", "13.0", Level.OK),
        ("p3.2xlarge", "12.9", Level.OK),
        ("p3.2xlarge", "11.8", Level.OK),
        ("p3.2xlarge", "13.0", Level.OK),  # reported by `compatibility`
        ("g6f.xlarge", "12.9", Level.ERROR),
        ("m6i.xlarge", "12.9", Level.ERROR),
    ],
)
def test_a_machine_below_a_minimum_is_refused(name: str, cuda: str, level: Level) -> None:
    assert verdicts(floor, {f"{NEEDS}/cuda": cuda}, offer(ec2_type(name)))[0].level is level


@pytest.mark.parametrize(("model", "fixes"), [("p100", ["choose a newer GPU"]), ("t4", [""])])
def test_a_pascal_gpu_is_too_old(model: str, fixes: list[str]) -> None:
    found = verdicts(floor, {f"{NEEDS}/cuda": "12.9"}, offer(attach(N1, gpu_model(model), 1)))

    assert [verdict.fix for verdict in found] == fixes


def test_every_figure_below_the_minimum_is_reported() -> None:
    found = verdicts(floor, None, offer(ec2_type("g6f.large"), disk_gib=20))

    assert [(verdict.level, verdict.reason) for verdict in found] == [
        (Level.ERROR, "g6f.large has 3 GB of GPU memory; the minimum is 8"),
        (Level.ERROR, "g6f.large has 2 vCPUs; the minimum is 4"),
        (Level.ERROR, "g6f.large has 8.6 GB of memory; the minimum is 16"),
        (Level.WARNING, "its machines have 21.5 GB of disk; the recommended minimum is 50"),
    ]
