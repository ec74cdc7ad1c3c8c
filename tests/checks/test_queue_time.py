"""The steps until a job starts, and the check against the target of its runner."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.checks.capacity.queue_time import check
from gpu_ci.knowledge.machines import ec2_type
from gpu_ci.knowledge.machines.start_up import (
    DISPATCH,
    Step,
    Wait,
    fast_pull_obstacle,
    own_machine_steps,
    parallel_pull,
    pull,
    shared_node_steps,
    total,
)
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.cli.options import ROOT
from tests.checks.stacks import stack
from tests.tables import OUT

pytestmark = pytest.mark.pure

COLD: Final = shared_node_steps(image_gib=5, idle_on_gpu=0, min_nodes=0, fast_pull=False)
STEPS = st.builds(
    lambda p50, factor: Step(name="step", p50=p50, p95=p50 * factor, source="a test"),
    st.floats(1, 300),
    st.floats(1, 5),
)
TARGET: Final = "runners/gpu-t4/queue-target-minutes"


# The steps and their sum.


def test_a_job_on_an_empty_pool_waits_for_every_step() -> None:
    assert [step.name for step in COLD] == [
        "GitHub assigns the job",
        "the controller creates the runner's pod",
        "the autoscaler sees the pod",
        "a GPU node starts and joins",
        "the device plugin offers the GPU",
        "the image of 5 GiB is pulled",
        "the runner starts and takes the job",
    ]


@pytest.mark.parametrize(
    ("idle", "min_nodes", "fast", "steps"), [(1, 0, False, 1), (0, 1, False, 3), (0, 0, True, 7), (1, 1, True, 1)]
)
def test_always_running_machines_shorten_the_start(idle: int, min_nodes: int, fast: bool, steps: int) -> None:
    found = shared_node_steps(image_gib=5, idle_on_gpu=idle, min_nodes=min_nodes, fast_pull=fast)

    assert len(found) == steps
    assert total(found).p95 < total(COLD).p95


def test_a_dedicated_machine_pulls_no_image() -> None:
    assert [step.name for step in own_machine_steps()] == [
        "GitHub assigns the job",
        "a machine for the job starts",
        "the runner is installed and registered on it",
    ]


def test_pulls_take_the_published_times_for_nine_gigabytes() -> None:
    nine = 9 / 1.073741824

    assert pull(nine).p50 == pytest.approx(130.8, rel=0.05)
    assert parallel_pull(nine).p50 == pytest.approx(39.6, rel=0.1)


def test_the_total_of_one_step_is_its_percentiles_and_without_steps_zero() -> None:
    assert total([DISPATCH]) == Wait(p50=DISPATCH.p50, p95=DISPATCH.p95)
    assert total([]) == Wait(p50=0, p95=0)


def test_the_total_agrees_with_a_simulation() -> None:
    rng = random.Random(3)  # noqa: S311  # a simulation, not a secret
    sums = sorted(
        sum(step.p50 * (step.p95 / step.p50) ** (rng.gauss(0, 1) / 1.6448536) for step in COLD) for _ in range(20_000)
    )

    assert total(COLD).p50 == pytest.approx(sums[10_000], rel=0.12)
    assert total(COLD).p95 == pytest.approx(sums[19_000], rel=0.12)


@given(st.lists(STEPS, min_size=1, max_size=6), STEPS)
def test_another_step_never_shortens_the_wait(steps: list[Step], another: Step) -> None:
    before, after = total(steps), total([*steps, another])

    assert after.p50 > before.p50
    assert after.p95 > before.p95


@pytest.mark.parametrize(
    ("types", "disk_mibps", "obstacle"),
    [
        (["g4dn.xlarge", "g4dn.2xlarge"], 125, ""),
        (["p3.2xlarge"], 600, ""),
        (["p3.2xlarge"], 400, "they need a disk of 600 MiB/s, and this one has 400"),
        (["g4dn.xlarge", "g6f.large"], 600, "they need 4 vCPUs and 7 GiB of memory"),
    ],
)
def test_parallel_pulls_need_vcpus_memory_and_a_fast_disk(types: list[str], disk_mibps: int, obstacle: str) -> None:
    assert fast_pull_obstacle(map(ec2_type, types), disk_mibps) == obstacle


def test_the_docs_page_has_the_figures_of_the_table() -> None:
    page = (ROOT / "docs/explanation/checks/queue-time.md").read_text(encoding="utf-8")
    steps = [step for step in {*COLD, *own_machine_steps()} if "image" not in step.name]

    assert len(steps) == 8
    assert [step for step in steps if f"| {step.name} | {step.p50:.0f} s | {step.p95:.0f} s |" not in page] == []


# The check.


def verdicts(changes: dict[str, Any], prefix: str = "runners.gpu-t4.") -> list[Verdict]:
    """The verdicts on one runner, or on one pool."""
    return [one for one in check(stack(changes)) if f"{one.subject}.".startswith(prefix)]


def test_without_a_target_the_verdict_shows_the_wait_and_the_source_of_each_step() -> None:
    (verdict,) = verdicts({})

    assert (verdict.level, verdict.subject) == (Level.OK, "runners.gpu-t4")
    assert verdict.reason == "a job waits 3.7 minutes for a runner, and one in 20 more than 7.0"
    assert len(verdict.chain) == 7
    assert "Cluster Autoscaler FAQ" in verdict.chain[2]


@pytest.mark.parametrize(
    ("changes", "level", "fix"),
    [
        ({TARGET: 7}, Level.OK, ""),
        ({TARGET: 6}, Level.WARNING, "set gpu-pools.t4-spot.fast-image-pull: true"),
        ({TARGET: 2}, Level.ERROR, r"set gpu-pools.t4-spot.min: 1 (207.97 USD a month)"),
        ({TARGET: 2, "images/runner-gpu/compressed": "900Gi"}, Level.ERROR,
         "set gpu-pools.t4-spot.min: 1 (207.97 USD a month)"),
        ({TARGET: 1, "gpu-pools/t4-spot/min": 1}, Level.OK, ""),
        ({TARGET: 1, "runners/gpu-t4/arc/min": 1}, Level.OK, ""),
    ],
)  # fmt: skip
def test_the_fix_is_the_cheapest_setting_that_meets_the_target(changes: dict[str, Any], level: Level, fix: str) -> None:
    (verdict,) = verdicts(changes)

    assert (verdict.level, verdict.fix) == (level, fix)


def test_no_setting_shortens_the_wait_of_a_dedicated_machine() -> None:
    changes = {"runners/cirun-gcp-gpu/queue-target-minutes": 1}
    (verdict,) = verdicts(changes, "runners.cirun-gcp-gpu.")

    assert verdict.level is Level.ERROR
    assert verdict.fix == "no setting makes it shorter; raise the target to 3"


def test_too_few_runners_for_the_working_hours_get_a_warning_with_a_sufficient_number() -> None:
    jobs = {"runners/gpu-t4/workload": {"jobs-per-month": 6600, "minutes": 12}}
    _, verdict = verdicts(jobs)

    assert (verdict.level, verdict.subject) == (Level.WARNING, "runners.gpu-t4.arc.max")
    assert verdict.reason.startswith("the stated jobs keep 6.0 runners busy in working hours, and the maximum is 5")
    assert verdict.fix == "set it to at least 7, and gpu-pools.t4-spot.max with it"
    assert len(verdicts({**jobs, "runners/gpu-t4/arc/max": 7})) == 1


@pytest.mark.parametrize(
    ("instance_type", "gpu", "fix"),
    [
        ("p3.2xlarge", "v100", "set gpu-pools.t4-spot.disk.throughput: 600, or remove fast-image-pull"),
        ("g6f.large", "l4",
         "list only types that have it in gpu-pools.t4-spot.instance-types, or remove fast-image-pull"),
    ],
)  # fmt: skip
def test_parallel_pulls_without_effect_get_a_warning(instance_type: str, gpu: str, fix: str) -> None:
    changes = {
        "gpu-pools/t4-spot/fast-image-pull": True,
        "gpu-pools/t4-spot/instance-types": [instance_type],
        "runners/gpu-t4/needs/gpu": gpu,
        "runners/gpu-t4/arc/fallback": OUT,
    }
    (verdict,) = verdicts(changes, "gpu-pools.t4-spot.")

    assert (verdict.level, verdict.fix) == (Level.WARNING, fix)
