"""From the stack file to what `gpu/` judges: pools and pods as they will really be made, not as they are meant.

The same pure functions that make the components' inputs make these, so that what is judged is what is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.aws.gpu_node import api_taints, autoscaler_tags, node_labels
from components.kubernetes.device_plugin_values import device_plugin_values
from components.kubernetes.gpu_metrics import GpuMetricsArgs, gpu_metrics_values
from components.kubernetes.scale_set_values import job_pod, runner_pod
from composition import wiring
from config import pins
from config.values import gibibytes
from gpu.counts import RunnerFacts
from gpu.daemonsets import DaemonSet, daemonset
from gpu.node_group import ApiTaint, NodeGroupFacts
from gpu.pods import Pod, pod_from_template
from gpu.sharing import Sharing
from gpu.template_node import Autoscaler

if TYPE_CHECKING:
    from config.machines import PoolSettings
    from config.runners import ArcBackEnd, RunnerSettings
    from config.settings import Settings


def node_group(name: str, pool: PoolSettings, settings: Settings, cluster: str) -> NodeGroupFacts:
    """A pool's managed node group."""
    node = wiring.gpu_node(name, pool)
    tags = autoscaler_tags(node)
    return NodeGroupFacts(
        path=f"gpu-pools.{name}",
        name=name,
        cluster=cluster,
        instance_types=pool.instance_types,
        min_size=pool.min,
        max_size=pool.max,
        capacity_type="SPOT" if pool.capacity == "spot" else "ON_DEMAND",
        zones=pool.zones,
        disk_gib=gibibytes(pool.disk.size),
        nvme_storage=pool.fast_image_pull,
        version=settings.cluster.version if settings.cluster else "",
        ami_type="AL2023_x86_64_NVIDIA",
        labels=node_labels(node),
        taints=tuple(ApiTaint(**taint) for taint in api_taints(node)),
        tags=tags,
        asg_tags=tags,
        sharing=Sharing(mode=pool.sharing.mode, replicas=pool.sharing.replicas) if pool.sharing else None,
    )


def gpu_pod(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> Pod:
    """The pod that stands on the GPU node: the runner's own, or the job's where it has one."""
    values = wiring.scale_set(name, runner, arc, settings)
    return pod_from_template(runner_pod(values, "") if arc.container_mode == "none" else job_pod(values))


def runner_facts(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> RunnerFacts:
    """A runner on its pools."""
    return RunnerFacts(
        path=f"runners.{name}",
        pools=tuple(f"gpu-pools.{pool}" for pool in (arc.pool, arc.fallback) if pool is not None),
        pod=gpu_pod(name, runner, arc, settings),
        # A runner whose jobs are pods of their own waits for them on a system node.
        min_runners=arc.min if arc.container_mode == "none" else 0,
        max_runners=arc.max,
    )


def device_plugin(settings: Settings) -> DaemonSet | None:
    """The device plugin as this stack's values make it."""
    if settings.device_plugin is None:
        return None
    values = device_plugin_values(wiring.device_plugin(settings))
    spec = {"affinity": values["affinity"], "tolerations": values["tolerations"]}
    return DaemonSet.of("nvidia-device-plugin", {"spec": spec})


def daemonsets(settings: Settings) -> tuple[DaemonSet, ...]:
    """What runs on every GPU node beside jobs and device plugin."""
    found = [daemonset("aws-node"), daemonset("kube-proxy"), daemonset("eks-pod-identity-agent")]
    if settings.storage is not None:
        found.append(daemonset("ebs-csi-node"))
    if settings.monitoring is not None and settings.monitoring.dcgm is not None:
        values = gpu_metrics_values(
            GpuMetricsArgs(
                version=pins.DCGM_EXPORTER_CHART,
                interval_seconds=settings.monitoring.dcgm.interval_seconds,
                service_monitor=settings.monitoring.dcgm.service_monitor,
                tolerations=wiring.gpu_tolerations(settings),
            )
        )
        container = {"name": "exporter", "resources": values["resources"]}
        placed = {key: values[key] for key in ("nodeSelector", "tolerations")}
        found.append(DaemonSet.of("dcgm-exporter", {"spec": {**placed, "containers": [container]}}))
    return tuple(found)


def autoscaler(settings: Settings) -> Autoscaler | None:
    """The autoscaler as it is allowed and told."""
    return Autoscaler() if settings.autoscaler is not None else None
