"""A pool and a runner that match, for tests to change in one place at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.aws.nodes.taints import ApiTaint
from gpu_ci.checks.nodes.scale_from_zero import scale_from_zero
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod, Requirement, Toleration, pod_from_template
from gpu_ci.knowledge.kubernetes.quantities import Resources
from gpu_ci.knowledge.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG
from gpu_ci.knowledge.verdict import Verdict

GPU_TAINT = Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")
GPU_LABEL = (Requirement(key="nvidia.com/gpu.present", values=("true",)),)
DEVICE_PLUGIN = DaemonSet(
    name="nvidia-device-plugin",
    pod=Pod(tolerations=(Toleration(key="CriticalAddonsOnly", operator="Exists"), GPU_TAINT), required=(GPU_LABEL,)),
)
"""NVIDIA's device plugin: a node without the label gets none."""
METRICS = DaemonSet(
    name="dcgm-exporter",
    pod=Pod(
        requests=Resources.parse({"cpu": "100m", "memory": "128Mi"}), tolerations=(GPU_TAINT,), required=(GPU_LABEL,)
    ),
)
ADD_ON_PODS = tuple(daemonset for add_on in ADD_ONS for daemonset in add_on.node_pods)
DAEMONSETS = (*ADD_ON_PODS, METRICS)
"""The DaemonSets on the pool's nodes, without the device plugin."""

POOL = NodeGroupFacts(
    path="gpu-pools.t4-spot",
    name="t4-spot",
    instance_types=("g4dn.xlarge",),
    min_size=0,
    max_size=5,
    capacity_type="SPOT",
    zones=("us-west-2a", "us-west-2b"),
    disk_gib=200,
    version="1.34",
    labels={
        "gpu-ci/pool": "t4-spot",
        "nvidia.com/gpu.present": "true",
        "k8s.amazonaws.com/accelerator": "nvidia-tesla-t4",
    },
    taints=(ApiTaint(key="nvidia.com/gpu", value="true", effect="NO_SCHEDULE"),),
)
"""A pool of T4 nodes without tags."""

TAGGED = replace(
    POOL,
    asg_tags={f"{LABEL_TAG}gpu-ci/pool": "t4-spot", f"{TAINT_TAG}nvidia.com/gpu": "true:NoSchedule"},
    tags={f"{RESOURCE_TAG}nvidia.com/gpu": "1"},
)
"""The same pool with tags."""


def runner_pod(cpu: str = "3", memory: str = "12Gi", gpus: int = 1, **more: Any) -> Pod:
    """Return the pod of a runner that uses the pool."""
    container = {"resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"nvidia.com/gpu": gpus}}}
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    spec = {"containers": [container], "nodeSelector": {"gpu-ci/pool": "t4-spot"}, "tolerations": [toleration]}
    return pod_from_template({"spec": {**spec, **more}})


def judged(
    group: NodeGroupFacts,
    *,
    pod: Pod | None = None,
    plugin: DaemonSet = DEVICE_PLUGIN,
    fits: bool = True,
) -> list[Verdict]:
    """Return the verdicts of the check scale-from-zero on the pool."""
    pod = pod or runner_pod()
    return scale_from_zero("runners.gpu-t4", pod, group, plugin=plugin, daemonsets=DAEMONSETS, fits=fits)
