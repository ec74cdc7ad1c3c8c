"""From the stack file to what `gpu/` judges: pools and pods as they will really be made, not as they are meant.

The same pure functions that make the components' inputs make these, so that what is judged is what is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.aws.gpu_node import api_taints, autoscaler_tags, node_labels
from components.kubernetes.device_plugin_values import device_plugin_values
from components.kubernetes.gpu_metrics_values import gpu_metrics_values
from config.values import gibibytes
from gpu.kubernetes.daemonsets import DaemonSet
from gpu.kubernetes.node_group import NodeGroupFacts
from gpu.kubernetes.sharing import Sharing
from gpu.kubernetes.taints import ApiTaint
from wiring import values as wiring

if TYPE_CHECKING:
    from config.machines import PoolSettings
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


def device_plugin(settings: Settings) -> DaemonSet | None:
    """The device plugin as this stack's values make it."""
    if settings.device_plugin is None:
        return None
    values = device_plugin_values(wiring.device_plugin(settings))
    spec = {"affinity": values["affinity"], "tolerations": values["tolerations"]}
    return DaemonSet.of("nvidia-device-plugin", {"spec": spec})


def daemonsets(settings: Settings) -> tuple[DaemonSet, ...]:
    """What runs on every GPU node beside jobs and device plugin."""
    found = [daemonset for add_on in wiring.add_ons(settings) for daemonset in add_on.node_pods]
    if settings.monitoring is not None and settings.monitoring.dcgm is not None:
        values = gpu_metrics_values(wiring.gpu_metrics(settings, settings.monitoring.dcgm))
        container = {"name": "exporter", "resources": values["resources"]}
        placed = {key: values[key] for key in ("nodeSelector", "tolerations")}
        found.append(DaemonSet.of("dcgm-exporter", {"spec": {**placed, "containers": [container]}}))
    return tuple(found)
