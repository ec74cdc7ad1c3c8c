"""An empty pool starts for its runner, or the check names the problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.aws.nodes.taints import ApiTaint
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.template_node import RESOURCE_TAG
from gpu_ci.knowledge.verdict import Level
from tests.knowledge.pools import POOL, TAGGED, judged, runner_pod

pytestmark = pytest.mark.pure

SHARED = replace(POOL, shares=4)
DISK = runner_pod(
    containers=[
        {"resources": {"requests": {"cpu": "1", "ephemeral-storage": "100Gi"}, "limits": {"nvidia.com/gpu": 1}}}
    ]
)
LABELS = "gpu-pools.t4-spot.labels"
TAINTS = "gpu-pools.t4-spot.taints"


def without(key: str) -> NodeGroupFacts:
    """Return the pool without one label."""
    return replace(POOL, labels={name: value for name, value in POOL.labels.items() if name != key})


def counted(resource: str, value: str, group: NodeGroupFacts = POOL) -> NodeGroupFacts:
    """Return the pool with the tag of a resource."""
    return replace(group, tags={f"{RESOURCE_TAG}{resource}": value})


@pytest.mark.parametrize(
    ("group", "more"),
    [
        (POOL, {}),
        (TAGGED, {}),
        (counted("nvidia.com/gpu", "4", SHARED), {}),
        (counted("nvidia.com/gpu", "1", replace(POOL, instance_types=("g6f.xlarge",))), {}),
        (counted("ephemeral-storage", "179Gi"), {"pod": DISK}),
        (replace(without("nvidia.com/gpu.present"), version="1.35"), {}),
        (POOL, {"pod": runner_pod(cpu="3620m")}),
        (replace(POOL, min_size=1), {"pod": DISK}),
        (replace(POOL, min_size=5), {}),
    ],
)
def test_a_pool_that_matches_its_runner_passes(group: NodeGroupFacts, more: dict[str, Any]) -> None:
    assert [verdict.level for verdict in judged(group, **more)] == [Level.OK]


@pytest.mark.parametrize(
    ("group", "more", "subject", "reason", "fix"),
    [
        (without("nvidia.com/gpu.present"), {}, LABELS, "their GPUs are never advertised",
            "add the label nvidia.com/gpu.present: true to gpu-pools.t4-spot"),
        (replace(POOL, taints=(*POOL.taints, ApiTaint(key="team", value="ml", effect="NO_EXECUTE"))),
            {"pod": runner_pod(tolerations=[{"operator": "Exists"}])}, TAINTS, "does not tolerate the taint team=ml",
            "add tolerations for team to nvidia-device-plugin"),
        (replace(POOL, instance_types=("g6f.xlarge",)), {}, "runners.gpu-t4", "requests 1 nvidia.com/gpu but 0",
            f"{RESOURCE_TAG}nvidia.com/gpu=1"),
        (POOL, {"pod": DISK}, "runners.gpu-t4", "requests 100Gi of disk", f"{RESOURCE_TAG}ephemeral-storage="),
        (counted("ephemeral-storage", "90Gi"), {"pod": DISK}, "runners.gpu-t4", "but 90Gi of disk is left",
            f"tag the Auto Scaling group of gpu-pools.t4-spot with {RESOURCE_TAG}ephemeral-storage="),
        (POOL, {"pod": runner_pod(cpu="3630m")}, "runners.gpu-t4", "requests 3.63 CPU but 3.62 CPU is left",
            "request less cpu, or list a larger type first"),
    ],
)  # fmt: skip
def test_a_pool_that_cannot_start_is_an_error(
    group: NodeGroupFacts, more: dict[str, Any], subject: str, reason: str, fix: str
) -> None:
    (verdict,) = judged(group, **more)

    assert (verdict.level, verdict.subject) == (Level.ERROR, subject)
    assert reason in verdict.reason
    assert fix in verdict.fix


@pytest.mark.parametrize(
    ("group", "more", "fix"),
    [
        (without("gpu-ci/pool"), {}, "add the label gpu-ci/pool: t4-spot to gpu-pools.t4-spot"),
        (POOL, {"pod": runner_pod(tolerations=[{"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"}])},
            "add a toleration for nvidia.com/gpu to the runner, or remove the taint from gpu-pools.t4-spot"),
        (POOL, {"pod": runner_pod(gpus=2)}, "request at most 1 nvidia.com/gpu, or list"),
    ],
)  # fmt: skip
def test_a_pod_that_fits_neither_node_gets_an_error_for_each_node(
    group: NodeGroupFacts, more: dict[str, Any], fix: str
) -> None:
    verdicts = judged(group, **more)

    assert [verdict.level for verdict in verdicts] == [Level.ERROR, Level.ERROR]
    assert all(verdict.fix.startswith(fix) for verdict in verdicts)


def test_the_declared_affinity_of_the_device_plugin_is_used() -> None:
    anywhere = DaemonSet.of("plugin", {"spec": {"tolerations": [{"operator": "Exists"}]}})

    verdicts = judged(without("nvidia.com/gpu.present"), plugin=anywhere)

    assert {verdict.level for verdict in verdicts} <= {Level.OK}


def test_resources_of_a_pod_that_does_not_fit_are_reported_by_the_check_fit_only() -> None:
    untolerant = judged(POOL, pod=runner_pod(cpu="40", tolerations=[]), fits=False)

    assert judged(POOL, pod=runner_pod(cpu="40", gpus=2), fits=False) == []
    assert [verdict.level for verdict in untolerant] == [Level.ERROR, Level.ERROR]
    assert not any("CPU" in verdict.reason for verdict in untolerant)
