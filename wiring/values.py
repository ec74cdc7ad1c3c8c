"""Arguments of components that checks read too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.aws.gpu_node import GpuNode, every_toleration
from components.aws.node_group import Disk
from components.aws.registry import RegistryArgs, RepositoryArgs
from components.kubernetes.autoscaler_values import AutoscalerValues
from components.kubernetes.device_plugin_values import DevicePluginValues
from components.kubernetes.gpu_metrics_values import GpuMetricsValues
from config import pins
from config.values import gibibytes
from gpu.kubernetes import add_ons as table
from gpu.kubernetes.node_group import MPS_CAPABLE
from gpu.kubernetes.sharing import Sharing
from gpu.machines import ec2_type

if TYPE_CHECKING:
    from config.identity import Identity
    from config.machines import DiskSettings, PoolSettings, SharingSettings
    from config.services import AutoscalerSettings, DcgmSettings
    from config.settings import Settings
    from gpu.kubernetes.add_ons import AddOn


def registry(settings: Settings, identity: Identity) -> RegistryArgs:
    """Return the arguments of the ECR repositories."""
    return RegistryArgs(
        prefix=identity.prefix,
        protect=settings.stack.protect,
        repositories={
            name: RepositoryArgs(
                keep=repository.keep,
                untagged_days=repository.untagged_days,
                pull_request_days=repository.pull_request_days,
                mutable_tags=repository.mutable_tags,
                force_delete=repository.force_delete,
            )
            for name, repository in settings.ecr.items()
        },
    )


def disk(stated: DiskSettings) -> Disk:
    """Return the arguments of a node's root volume."""
    return Disk(gib=gibibytes(stated.size), iops=stated.iops, throughput=stated.throughput)


def gpu_node(name: str, pool: PoolSettings) -> GpuNode:
    """Return the marks of a pool's nodes. The autoscaler sizes new nodes by the first type, so its figures count."""
    sharing = pool.sharing.mode if pool.sharing else None
    models = {model.label for stated in pool.instance_types if (model := ec2_type(stated).gpu) is not None}
    return GpuNode(
        pool=name,
        # Nodes of several models get a neutral label. The autoscaler only requires that the label exists.
        accelerator=models.pop() if len(models) == 1 else "nvidia-gpu",
        gpus=max(1, ec2_type(pool.instance_types[0]).gpus),
        disk_gib=gibibytes(pool.disk.size),
        labels=pool.labels if sharing != "mps" else {**pool.labels, MPS_CAPABLE: "true"},
        taints=pool.taints,
        sharing_replicas=pool.sharing.replicas if pool.sharing else 1,
        device_plugin_config=sharing_name(pool.sharing) if pool.sharing else None,
        scale_down_after_minutes=pool.scale_down_after_minutes,
    )


def sharing_name(sharing: SharingSettings) -> str:
    """Return the name of the device plugin's configuration for a kind of sharing."""
    return f"{sharing.mode}-{sharing.replicas}"


def device_plugin(settings: Settings) -> DevicePluginValues:
    """Return the values of the device plugin for the nodes of every pool."""
    shared = [pool.sharing for pool in settings.gpu_pools.values() if pool.sharing is not None]
    return DevicePluginValues(
        fail_on_init_error=settings.device_plugin.fail_on_init_error if settings.device_plugin else True,
        tolerations=gpu_tolerations(settings),
        sharing={sharing_name(one): Sharing(mode=one.mode, replicas=one.replicas) for one in shared},
    )


def gpu_tolerations(settings: Settings) -> list[dict[str, str]]:
    """Return the tolerations that a DaemonSet needs on the nodes of every pool."""
    return every_toleration([pool.taints for pool in settings.gpu_pools.values()])


def gpu_metrics(settings: Settings, stated: DcgmSettings) -> GpuMetricsValues:
    """Return the values of the GPU metrics exporter."""
    return GpuMetricsValues(
        interval_seconds=stated.interval_seconds,
        service_monitor=stated.service_monitor,
        tolerations=gpu_tolerations(settings),
    )


def autoscaler(settings: Settings, stated: AutoscalerSettings, *, region: str, version: str) -> AutoscalerValues:
    """Return the values of the Cluster Autoscaler's chart."""
    return AutoscalerValues(
        region=region,
        image_tag=pins.CLUSTER_AUTOSCALER_IMAGES[version],
        expander=stated.expander,
        scale_down_after_minutes=stated.scale_down_after_minutes,
        provision_timeout_minutes=stated.provision_timeout_minutes,
        capacities={name: pool.capacity for name, pool in settings.gpu_pools.items()},
    )


def add_ons(settings: Settings) -> tuple[AddOn, ...]:
    """Return the add-ons that this stack runs, in the order of creation."""
    return tuple(one for one in table.ADD_ONS if one.section is None or _enables(settings, one.section))


def _enables(settings: Settings, path: str) -> bool:
    """Return whether the stack file states the section or sets the switch."""
    value: object = settings
    for key in path.split("."):
        value = getattr(value, key.replace("-", "_"))
        if value is None:
            return False
    return value is not False
