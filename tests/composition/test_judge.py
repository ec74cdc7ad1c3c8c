"""A stack that cannot work is refused before anything is built, with what would work and where to write it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

import judge
import refusal
from config.identity import Identity
from gpu.verdict import Level, Verdict
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.plan.recorder import record
from tests.config import stacks as files
from tests.config.stacks import OUT, STAGING
from tests.plan import stacks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.plan

IDENTITY = Identity(project="gpu-ci", stack="staging")
TOO_MUCH = {"runners/gpu-t4/needs/cpu": 4, "runners/gpu-t4/needs/memory": "16Gi", "runners/gpu-t4/arc/fallback": OUT}
"""What the runners of old asked of a g4dn.xlarge: all that it is sold with."""


def verdicts(changes: Mapping[str, Any], name: str = STAGING) -> list[Verdict]:
    return judge.verdicts(files.settings(name, changes), IDENTITY)


def errors(changes: Mapping[str, Any]) -> list[Verdict]:
    return [verdict for verdict in verdicts(changes) if verdict.level is Level.ERROR]


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_can_work(name: str) -> None:
    found = verdicts({}, name)

    assert found
    assert [str(verdict) for verdict in found if verdict.level is Level.ERROR] == []


def test_four_cores_and_sixteen_gibibytes_do_not_fit_a_g4dn_xlarge() -> None:
    """The kubelet and the daemons have their share; such a pod would wait for ever."""
    (fit,) = [verdict for verdict in errors(TOO_MUCH) if verdict.check == "fit"]

    assert fit.subject == "runners.gpu-t4"
    assert re.match(r"a g4dn\.xlarge of gpu-pools\.t4-spot has at most 3\.\d+ CPU and 13\.\dGi ", fit.reason)
    assert fit.reason.endswith("but it requests 4 CPU and 16Gi")
    assert fit.fix == "request cpu: 3 and memory: 13Gi, or list only g4dn.2xlarge in gpu-pools.t4-spot"


@pytest.mark.parametrize(
    "changes",
    [
        {"runners/gpu-t4/needs/cpu": 3, "runners/gpu-t4/needs/memory": "13Gi"},
        {"gpu-pools/t4-spot/instance-types": ["g4dn.2xlarge"]},
    ],
)
def test_either_way_out_is_one(changes: dict[str, Any]) -> None:
    assert errors({**TOO_MUCH, **changes}) == []


def test_a_job_is_held_against_every_pool_that_it_may_fall_back_on() -> None:
    changes = {
        **TOO_MUCH,
        "runners/gpu-t4/arc/fallback": "t4-on-demand",
        "gpu-pools/t4-spot/instance-types": ["g4dn.2xlarge"],
    }
    (fit,) = [verdict for verdict in errors(changes) if verdict.check == "fit"]

    assert "gpu-pools.t4-on-demand" in fit.reason


def test_a_runner_whose_jobs_are_pods_of_their_own_waits_for_them_without_a_gpu() -> None:
    changes = {"runners/gpu-t4/arc/min": 9, "runners/gpu-t4/arc/max": 9}

    assert ["counts" for verdict in errors(changes) if verdict.check == "counts"] == ["counts"]
    assert errors({**changes, "runners/gpu-t4/arc/container-mode": "kubernetes-novolume"}) == []


def test_machines_of_cirun_on_aws_hang_on_spot_alone_only_where_nothing_is_behind() -> None:
    runner = {
        "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
        "timeout-minutes": 60,
        "cirun-aws": {
            "instance-types": ["g4dn.xlarge"],
            "regions": ["us-west-2"],
            "images": {"us-west-2": "ami-0123456789abcdef0"},
        },
    }
    changes = {"cirun/aws": True, "runners/own": runner}
    alone = [verdict for verdict in verdicts(changes) if verdict.subject == "runners.own.cirun-aws.spot"]
    behind = verdicts({**changes, "runners/own/cirun-aws/spot": [True, False]})

    assert [(verdict.check, verdict.level) for verdict in alone] == [("counts", Level.WARNING)]
    assert [verdict for verdict in behind if verdict.subject == "runners.own.cirun-aws.spot"] == []


def test_an_empty_pool_that_nothing_scales_is_refused() -> None:
    """The stack file is told so already; whoever comes by another way is told here."""
    sound = files.settings(STAGING)
    without = sound.model_copy(update={"autoscaler": None})
    found = [verdict for verdict in judge.verdicts(without, IDENTITY) if verdict.level is Level.ERROR]

    assert {verdict.subject for verdict in found} == {"gpu-pools.t4-spot.min", "gpu-pools.t4-on-demand.min"}
    assert {verdict.fix for verdict in found} == {
        f"add the autoscaler section, or set gpu-pools.{pool}.min to at least 1" for pool in ("t4-spot", "t4-on-demand")
    }


def test_a_stack_without_the_device_plugin_is_refused() -> None:
    without = files.settings(STAGING).model_copy(update={"device_plugin": None})
    found = [verdict for verdict in judge.verdicts(without, IDENTITY) if verdict.level is Level.ERROR]

    assert {verdict.subject for verdict in found} == {"runners.gpu-t4", "runners.gpu-t4-steady"}
    assert all("no device plugin" in verdict.reason for verdict in found)


def test_a_cuda_that_the_gpu_is_too_old_for_is_refused() -> None:
    changes = {
        "gpu-pools/t4-spot/instance-types": ["p3.2xlarge"],
        "runners/gpu-t4/arc/fallback": OUT,
        "runners/gpu-t4/needs/gpu": "v100",
        "runners/gpu-t4/needs/cuda": "13.0",
    }

    assert {verdict.check for verdict in errors(changes)} >= {"compatibility"}


SPOILT: list[dict[str, Any]] = [
    TOO_MUCH,
    {"runners/gpu-t4/arc/max": 50},
    {"runners/gpu-t4/needs/gpus": 4},
    {"runners/gpu-t4/needs/disk": "900Gi"},
    {"gpu-pools/t4-spot/max": 100},
    {"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge"]},
    {"gpu-pools/t4-spot/disk": {"size": "30Gi"}},
    {"gpu-pools/t4-spot/sharing": {"mode": "time-slicing", "replicas": 4}},
    {"gpu-pools/t4-spot/sharing": {"mode": "mps", "replicas": 4}, "runners/gpu-t4/needs/gpus": 2},
    {"runners/gpu-t4/needs/cuda": "13.9"},
    {"images/runner-gpu/cuda": "13.0"},
    {"quotas": {"L-3819A6DF": 0, "L-DB2E81BA": 0}},
    {"budget": {"expected": 1, "worst": 1}},
    {"runners/gpu-t4/workload": {"jobs-per-month": 10_000, "minutes": 60}},
    {"runners/gpu-t4/queue-target-minutes": 1},
]


def stands(raw: Any, path: str) -> bool:
    """Whether a path leads into these sections, up to a key that may be left out."""
    *steps, _ = path.split(".")
    for step in steps:
        if not isinstance(raw, dict) or step not in raw:
            return False
        raw = raw[step]
    return isinstance(raw, dict)


@pytest.mark.parametrize("changes", SPOILT, ids=",".join)
def test_whatever_is_judged_is_named_by_its_place_in_the_stack_file(changes: dict[str, Any]) -> None:
    raw = files.sections(STAGING, changes)
    known = {"stack", "runners", *raw}
    found = verdicts(changes)

    assert [v.subject for v in found if v.subject.split(".")[0] not in known or not stands(raw, v.subject)] == []


@pytest.mark.parametrize("changes", SPOILT, ids=",".join)
def test_whatever_is_wrong_says_what_to_do(changes: dict[str, Any]) -> None:
    found = [verdict for verdict in verdicts(changes) if verdict.level is not Level.OK]

    assert [str(verdict) for verdict in found if not (verdict.reason and verdict.fix)] == []


def test_the_spoilt_stacks_are_really_spoilt() -> None:
    """Each is told something that the sound one is not."""
    sound = {str(verdict) for verdict in verdicts({}) if verdict.level is not Level.OK}
    told = [{str(verdict) for verdict in verdicts(changes) if verdict.level is not Level.OK} for changes in SPOILT]

    assert [changes for changes, lines in zip(SPOILT, told, strict=True) if lines <= sound] == []


def test_a_refusal_stops_before_the_first_resource_and_says_everything() -> None:
    file = stacks.changed(STAGING, "runners", lambda runners: runners["gpu-t4"]["needs"].update(cpu=4, memory="16Gi"))

    with pytest.raises(refusal.Refused) as refused:
        record(file)
    first, *lines = str(refused.value).splitlines()

    assert first == f"{len(lines)} errors; no resource was created:"
    assert all(line.startswith("  error: runners.gpu-t4: ") for line in lines)


def test_nothing_wrong_is_not_refused() -> None:
    refusal.refuse(verdicts({}))


def test_the_command_line_says_it_in_words_and_ends_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Pulumi.staging.yaml"
    text = (ROOT / STAGING).read_text(encoding="utf-8")
    file.write_text(text.replace("cpu: 3, memory: 12Gi", "cpu: 4, memory: 16Gi", 1), encoding="utf-8")

    code = cli.run(["plan", "--file", str(file), "--json", str(tmp_path / "plan.json")])
    told = capsys.readouterr()

    assert code == 1
    assert "request cpu: 3 and memory: 13Gi" in " ".join(told.out.split())
    assert "Traceback" not in told.out + told.err
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
            "gpu-pools/t4-spot/max": st.integers(1, 10_000),
            "gpu-pools/t4-spot/disk/size": st.integers(20, 2000).map("{}Gi".format),
            "gpu-pools/t4-spot/sharing": st.builds(
                lambda mode, replicas: {"mode": mode, "replicas": replicas},
                st.sampled_from(["time-slicing", "mps"]),
                st.integers(2, 48),
            ),
            "runners/gpu-t4/workload/jobs-per-month": st.integers(0, 10_000),
            "system-nodes/max": st.integers(2, 100_000),
        },
    )
)
@hypothesis(max_examples=60, deadline=None)
def test_any_sound_stack_is_judged_without_a_fault_of_the_program(changes: dict[str, Any]) -> None:
    for verdict in verdicts(changes):
        assert verdict.reason
        assert verdict.level is Level.OK or verdict.fix


def test_an_idle_runner_whose_job_has_a_pod_of_its_own_keeps_no_gpu_node() -> None:
    own = {"runners/gpu-t4/arc/min": 2, "runners/gpu-t4/arc/container-mode": "kubernetes-novolume"}
    without = {"runners/gpu-t4/arc/min": 2}

    assert [one.check for one in verdicts(own) if one.level is not Level.OK] == []
    assert "money" in {one.check for one in verdicts(without) if one.level is Level.WARNING}
