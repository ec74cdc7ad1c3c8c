"""`make smoke`: the steps and their times, the reasons of failures, and the clean-up, in simulated time."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from components.kubernetes.gpus.smoke_job import SmokeJob
from gpu_ci.derived.kubernetes import smoke_jobs
from ops.cli.commands import smoke as command
from ops.cli.main import run
from ops.doctor.world.source import Unanswered
from ops.outcome import Exit
from ops.smoke import reasons
from ops.smoke.run import KEPT_SECONDS, Missing, Result, Smoke
from tests.checks.stacks import stack
from tests.ops.smoke_world import START, Cluster

pytestmark = pytest.mark.plan

EXAMPLE = "examples/eks-arc.yaml"
ANCHOR = "docs/runbook.md#"


def jobs() -> tuple[SmokeJob, ...]:
    return smoke_jobs(stack(name=EXAMPLE).settings)


def smoke(cluster: Cluster, messages: list[str] | None = None) -> Smoke:
    lines = [] if messages is None else messages
    return Smoke(cluster=cluster, clock=cluster, image="torch:1", run="abc123", say=lines.append)


def of_one_pool(*faults: str, **world: Any) -> tuple[Result, Cluster]:
    cluster = Cluster(faults=frozenset(faults), **world)
    return smoke(cluster).results(jobs()[:1])[0], cluster


def test_a_pool_scales_from_zero_and_every_step_has_its_time() -> None:
    result, _ = of_one_pool()

    assert result.passed
    assert {str(step): result.seconds(step) for step in result.times} == {
        "pod created": 2,
        "scale-up triggered": 10,
        "node created": 60,
        "node ready": 90,
        "GPU allocatable": 100,
        "pod scheduled": 105,
        "image pulled": 200,
        "test started": 205,
        "test finished": 230,
    }
    assert result.output[-1] == "passed: 1 GPUs"


def test_a_running_node_skips_the_steps_of_a_new_one() -> None:
    result, _ = of_one_pool(warm=True)

    assert result.passed
    assert [str(step) for step in result.times] == [
        "pod created", "pod scheduled", "image pulled", "test started", "test finished"
    ]  # fmt: skip


def test_all_pools_are_tested_at_the_same_time_and_their_jobs_are_deleted() -> None:
    cluster, messages = Cluster(), list[str]()
    results = smoke(cluster, messages).results(jobs())

    assert [(one.pool, one.passed) for one in results] == [("l4-spot", True), ("t4-shared", True)]
    assert cluster.deleted == ["gpu-smoke-l4-spot-abc123", "gpu-smoke-t4-shared-abc123"]
    assert cluster.time - START < timedelta(minutes=5)
    assert "l4-spot: node ready after 90 s" in messages


def test_the_job_is_that_of_the_stack_with_an_end_of_its_own() -> None:
    _, cluster = of_one_pool()
    (job,) = cluster.jobs.values()

    assert job["spec"]["ttlSecondsAfterFinished"] == KEPT_SECONDS
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "torch:1"
    assert job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("fault", "problem", "fix", "section", "minutes"),
    [
        (
            "never-schedules",
            "NotTriggerScaleUp: 1 max node group size reached",
            "all nodes of the pool are busy: wait, or raise its max",
            "a-job-waits-for-a-runner",
            11,
        ),
        (
            "too-large",
            "NotTriggerScaleUp: 1 Insufficient memory",
            "no node of the pool has enough memory: run `make plan`",
            "a-job-waits-for-a-runner",
            11,
        ),
        ("no-events", "the pod has no event", "run `make doctor`", "a-job-waits-for-a-runner", 31),
        ("no-capacity", "no node joined: pod triggered scale-up", "look for capacity", "no-node-starts", 31),
        ("not-ready", "the node ip-l4-spot is not ready", "kubectl describe node", "no-node-starts", 31),
        ("no-gpu", "the node ip-l4-spot has no GPU", "look at the device plugin", "a-node-has-no-gpu", 31),
        ("pull", 'ImagePullBackOff: Back-off pulling image "torch:1"', "correct the image", "a-smoke-test-fails", 5),
        ("hangs", "the test does not end", "the GPU hangs: delete the node", "a-node-has-no-gpu", 31),
        ("node-lost", "the node ip-l4-spot disappeared", "run it again", "a-smoke-test-fails", 31),
        (
            "driver",
            "the driver of the node fails: nvidia-smi failed: Driver/library version mismatch",
            "replace the node",
            "a-node-has-no-gpu",
            5,
        ),
    ],
)
def test_each_fault_has_its_reason_its_fix_and_its_place_in_the_runbook(
    fault: str, problem: str, fix: str, section: str, minutes: int
) -> None:
    result, cluster = of_one_pool(fault)

    assert not result.passed
    assert result.reason is not None
    assert result.reason.problem.startswith(problem)
    assert result.reason.fix.startswith(fix)
    assert result.reason.runbook == f"{ANCHOR}{section}"
    assert cluster.time - START <= timedelta(minutes=minutes)
    assert len(cluster.deleted) == 1


def test_the_runbook_has_the_sections_that_reasons_name() -> None:
    titles = {
        line[3:].strip().lower().replace(" ", "-")
        for line in Path("docs/runbook.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    }
    named = {reasons.SECTION, reasons.WITHOUT_GPU, reasons.WITHOUT_NODE, reasons.WAITS}

    assert {one.removeprefix(ANCHOR) for one in named} <= titles


def test_a_request_is_repeated_while_the_api_fails_for_a_minute() -> None:
    cluster, messages = Cluster(down=(20, 80)), list[str]()
    (result,) = smoke(cluster, messages).results(jobs()[:1])

    assert result.passed
    assert any("does not answer, trying again" in line for line in messages)


def test_an_api_that_stays_down_ends_the_run_and_the_job_is_still_deleted() -> None:
    cluster = Cluster(down=(20, 9000))
    with pytest.raises(Unanswered, match="request timed out"):
        smoke(cluster).results(jobs()[:1])

    assert len(cluster.deleted) == 1
    assert cluster.time - START < timedelta(minutes=3)


def test_ctrl_c_deletes_the_jobs() -> None:
    cluster = Cluster(interrupt_at=50)
    with pytest.raises(KeyboardInterrupt):
        smoke(cluster).results(jobs())

    assert len(cluster.deleted) == 2


def test_a_job_that_cannot_be_deleted_is_named_with_the_command() -> None:
    cluster, messages = Cluster(faults=frozenset({"undeletable"})), list[str]()
    (result,) = smoke(cluster, messages).results(jobs()[:1])

    assert result.passed
    assert messages[-1].endswith("kubectl --namespace gpu-smoke delete job gpu-smoke-l4-spot-abc123")


def test_without_the_namespace_no_job_is_created() -> None:
    cluster = Cluster(faults=frozenset({"no-namespace"}))
    with pytest.raises(Missing):
        smoke(cluster).results(jobs())

    assert cluster.jobs == {}


def line(arguments: list[str], cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(command, "connected", lambda *_: (cluster, cluster))
    return run(["smoke", *arguments])


def test_the_command_prints_the_times_and_writes_them_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "smoke.json"
    code = line(["--file", EXAMPLE, "--pool", "l4-spot", "--json", str(target)], Cluster(), monkeypatch)
    shown = capsys.readouterr().out
    (written,) = json.loads(target.read_text())

    assert code == Exit.GOOD
    assert "passed  l4-spot" in shown
    assert "GPU allocatable       100 s  (+10 s)" in shown
    assert (written["pool"], written["passed"], written["seconds"]["test finished"]) == ("l4-spot", True, 230)


@pytest.mark.parametrize(
    ("arguments", "world", "code", "message"),
    [
        (["--file", EXAMPLE, "--pool", "l4-spott"], Cluster(), Exit.WRONG, '"l4-spott" is not in gpu-pools'),
        (["--file", "tests/stacks/staging.yaml"], Cluster(), Exit.WRONG, "has no smoke-test"),
        (["--file", EXAMPLE], Cluster(faults=frozenset({"pull"})), Exit.FINDING, "ImagePullBackOff"),
        (["--file", EXAMPLE], Cluster(faults=frozenset({"no-namespace"})), Exit.FINDING, "run `pulumi up`"),
        (["--file", EXAMPLE], Cluster(down=(-1, 9000)), Exit.OUTSIDE, "etcdserver: request timed out"),
        (["--file", EXAMPLE], Cluster(interrupt_at=30), Exit.INTERRUPTED, "Stopped."),
    ],
)
def test_each_failure_has_its_own_exit_code(
    arguments: list[str],
    world: Cluster,
    code: Exit,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert line(arguments, world, monkeypatch) == code
    shown = capsys.readouterr()
    assert message in " ".join((shown.out + shown.err).split())
