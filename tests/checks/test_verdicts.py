"""All checks together: subjects and fixes, refusal before the first resource, and logged warnings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

import gpu_ci.derived.refusal
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.plan.recorder import record
from tests.mistakes.sound import verdicts as verdicts_on
from tests.plan import stacks
from tests.stack_file import stacks as files
from tests.stack_file.stacks import STAGING
from tests.tables import OUT

pytestmark = pytest.mark.plan

TOO_MUCH = {"runners/gpu-t4/needs/cpu": 4, "runners/gpu-t4/needs/memory": "16Gi", "runners/gpu-t4/arc/fallback": OUT}
"""All CPUs and all memory that a g4dn.xlarge is sold with."""


def verdicts(changes: Mapping[str, Any], name: str = STAGING) -> list[Verdict]:
    return verdicts_on(files.settings(name, changes))


def errors(changes: Mapping[str, Any]) -> list[Verdict]:
    return [verdict for verdict in verdicts(changes) if verdict.level is Level.ERROR]


@pytest.mark.parametrize("name", stacks.NAMES)
def test_committed_stacks_have_no_errors(name: str) -> None:
    found = verdicts({}, name)

    assert found
    assert [str(verdict) for verdict in found if verdict.level is Level.ERROR] == []


def test_four_cores_and_sixteen_gibibytes_do_not_fit_a_g4dn_xlarge() -> None:
    (fit,) = [verdict for verdict in errors(TOO_MUCH) if verdict.check == "fit"]

    assert fit.subject == "runners.gpu-t4"
    assert re.match(r"a g4dn\.xlarge of gpu-pools\.t4-spot has at most 3\.\d+ CPU and 14Gi ", fit.reason)
    assert fit.reason.endswith("but it requests 4 CPU and 16Gi")
    assert fit.fix == "request cpu: 3 and memory: 14Gi, or list only g4dn.2xlarge in gpu-pools.t4-spot"


@pytest.mark.parametrize(
    "changes",
    [
        {"runners/gpu-t4/needs/cpu": 3, "runners/gpu-t4/needs/memory": "13Gi"},
        {"gpu-pools/t4-spot/instance-types": ["g4dn.2xlarge"]},
    ],
)
def test_each_fix_works(changes: dict[str, Any]) -> None:
    assert errors({**TOO_MUCH, **changes}) == []


def test_a_job_has_to_fit_the_fallback_pool_too() -> None:
    changes = {
        **TOO_MUCH,
        "runners/gpu-t4/arc/fallback": "t4-on-demand",
        "gpu-pools/t4-spot/instance-types": ["g4dn.2xlarge"],
    }
    (fit,) = [verdict for verdict in errors(changes) if verdict.check == "fit"]

    assert "gpu-pools.t4-on-demand" in fit.reason


def test_idle_runners_need_no_gpu_node_if_jobs_have_their_own_pods() -> None:
    changes = {"runners/gpu-t4/arc/min": 9, "runners/gpu-t4/arc/max": 9}

    assert ["counts" for verdict in errors(changes) if verdict.check == "counts"] == ["counts"]
    assert errors({**changes, "runners/gpu-t4/arc/container-mode": "kubernetes-novolume"}) == []


CHANGED: list[dict[str, Any]] = [
    TOO_MUCH,
    {"runners/gpu-t4/arc/max": 50},
    {"runners/gpu-t4/needs/gpus": 4},
    {"runners/gpu-t4/needs/disk": "900Gi"},
    {"gpu-pools/t4-spot/max": 100},
    {"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge"]},
    {"gpu-pools/t4-spot/disk": {"size": "30Gi"}},
    {"gpu-pools/t4-spot/sharing": {"mode": "time-slicing", "replicas": 4}},
    {"gpu-pools/t4-spot/sharing": {"mode": "time-slicing", "replicas": 4}, "runners/gpu-t4/needs/gpus": 2},
    {"runners/gpu-t4/needs/cuda": "13.9"},
    {"images/runner-gpu/cuda": "13.0"},
    {"quotas": {"L-3819A6DF": 0, "L-DB2E81BA": 0}},
    {"budget": {"expected": 1, "worst": 1}},
    {"runners/gpu-t4/workload": {"jobs-per-month": 10_000, "minutes": 60}},
    {"runners/gpu-t4/queue-target-minutes": 1},
]


def is_path(raw: Any, path: str) -> bool:
    """Return whether a path leads into these sections; the last key may be absent."""
    *steps, _ = path.split(".")
    for step in steps:
        if not isinstance(raw, dict) or step not in raw:
            return False
        raw = raw[step]
    return isinstance(raw, dict)


@pytest.mark.parametrize("changes", CHANGED, ids=",".join)
def test_every_subject_is_a_path_in_the_stack_file(changes: dict[str, Any]) -> None:
    raw = files.sections(STAGING, changes)
    known = {"stack", "runners", *raw}
    found = verdicts(changes)

    assert [v.subject for v in found if v.subject.split(".")[0] not in known or not is_path(raw, v.subject)] == []


@pytest.mark.parametrize("changes", CHANGED, ids=",".join)
def test_every_problem_has_a_reason_and_a_fix(changes: dict[str, Any]) -> None:
    found = [verdict for verdict in verdicts(changes) if verdict.level is not Level.OK]

    assert [str(verdict) for verdict in found if not (verdict.reason and verdict.fix)] == []


def test_every_changed_stack_gets_a_new_verdict() -> None:
    sound = {str(verdict) for verdict in verdicts({}) if verdict.level is not Level.OK}
    changed = [{str(verdict) for verdict in verdicts(changes) if verdict.level is not Level.OK} for changes in CHANGED]

    assert [changes for changes, lines in zip(CHANGED, changed, strict=True) if lines <= sound] == []


def test_a_refusal_names_every_error() -> None:
    file = stacks.changed(STAGING, "runners", lambda runners: runners["gpu-t4"]["needs"].update(cpu=4, memory="16Gi"))

    with pytest.raises(gpu_ci.derived.refusal.Refused) as refused:
        record(file)
    first, *lines = str(refused.value).splitlines()

    assert first == f"{len(lines)} errors; no resource was created:"
    assert all(line.startswith("  error: runners.gpu-t4: ") for line in lines)


def test_a_stack_without_errors_is_not_refused() -> None:
    gpu_ci.derived.refusal.refuse(verdicts({}))


def test_the_plan_prints_the_fix_and_exits_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "Pulumi.staging.yaml"
    text = (ROOT / STAGING).read_text(encoding="utf-8")
    file.write_text(text.replace("cpu: 3, memory: 12Gi", "cpu: 4, memory: 16Gi", 1), encoding="utf-8")

    code = cli.run(["plan", "--file", str(file), "--json", str(tmp_path / "plan.json")])
    output = capsys.readouterr()

    assert code == 1
    assert "request cpu: 3 and memory: 14Gi" in " ".join(output.out.split())
    assert "Traceback" not in output.out + output.err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_warning_is_logged_where_the_plan_shows_it() -> None:
    file = stacks.changed(STAGING, "runners", lambda runners: runners["gpu-t4"]["arc"].update(max=50))
    plan = record(file)
    warned = [str(verdict) for verdict in verdicts({"runners/gpu-t4/arc/max": 50}) if verdict.level is Level.WARNING]

    assert warned
    assert [line for line in plan.logged if line.startswith("warning: ")] == warned


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "runners/gpu-t4/needs/cpu": st.integers(1, 192),
            "runners/gpu-t4/needs/gpus": st.integers(1, 16),
            "runners/gpu-t4/needs/memory": st.integers(1, 2000).map("{}Gi".format),
            "runners/gpu-t4/needs/cuda": st.sampled_from(["10.2", "11.8", "12.9", "13.0", "14.9"]),
            "runners/gpu-t4/needs/disk": st.integers(1, 2000).map("{}Gi".format),
            "runners/gpu-t4/needs/torch": st.sampled_from(["1.0", "2.9.1", "99.0"]),
            "runners/gpu-t4/arc/max": st.integers(1, 10_000),
            "gpu-pools/t4-spot/instance-types": st.lists(
                st.sampled_from(["g4dn.xlarge", "g4dn.2xlarge", "g4dn.12xlarge", "g4dn.metal"]),
                unique=True,
                min_size=1,
                max_size=3,
            ),
            "gpu-pools/t4-spot/max": st.integers(1, 8182),
            "gpu-pools/t4-spot/disk/size": st.integers(20, 2000).map("{}Gi".format),
            "gpu-pools/t4-spot/sharing": st.builds(
                lambda replicas: {"mode": "time-slicing", "replicas": replicas},
                st.integers(2, 48),
            ),
            "runners/gpu-t4/workload/jobs-per-month": st.integers(0, 10_000),
            "system-nodes/max": st.integers(2, 8182),
        },
    )
)
@hypothesis(max_examples=60, deadline=None)
def test_the_checks_accept_any_valid_stack(changes: dict[str, Any]) -> None:
    for verdict in verdicts(changes):
        assert verdict.reason
        assert verdict.level is Level.OK or verdict.fix


def test_an_idle_runner_keeps_no_gpu_node_if_its_job_has_its_own_pod() -> None:
    own = {"runners/gpu-t4/arc/min": 2, "runners/gpu-t4/arc/container-mode": "kubernetes-novolume"}
    without = {"runners/gpu-t4/arc/min": 2}

    assert [one.check for one in verdicts(own) if one.level is not Level.OK] == []
    assert "money" in {one.check for one in verdicts(without) if one.level is Level.WARNING}
