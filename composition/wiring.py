"""From the stack file to the components' arguments: plain values in, plain values out, nothing made here.

Components do not know the stack file, and the stack file does not know components; this is where they meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checks.pool_shape import MPS_CAPABLE
from components.aws.gpu_node import GpuNode, every_toleration
from components.aws.launch import Disk
from components.aws.registry import RegistryArgs, RepositoryArgs
from components.kubernetes.autoscaler_values import AutoscalerValues
from components.kubernetes.device_plugin_values import DevicePluginValues, Sharing
from components.kubernetes.scale_set_values import ScaleSetValues
from config import pins
from config.values import gibibytes
from gpu.kubernetes import add_ons as table
from gpu.machines import ec2_type

if TYPE_CHECKING:
    from config.identity import Identity
    from config.machines import DiskSettings, PoolSettings, SharingSettings
    from config.runners import ArcBackEnd, RunnerSettings
    from config.settings import Settings
    from gpu.kubernetes.add_ons import AddOn


def registry(settings: Settings, identity: Identity) -> RegistryArgs:
    """The stack's image repositories."""
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
    """A node's root volume."""
    return Disk(gib=gibibytes(stated.size), iops=stated.iops, throughput=stated.throughput)


def gpu_node(name: str, pool: PoolSettings) -> GpuNode:
    """What marks a pool's nodes. The autoscaler reckons with the first type, so the figures are that type's."""
    sharing = pool.sharing.mode if pool.sharing else None
    models = {model.label for stated in pool.instance_types if (model := ec2_type(stated).gpu) is not None}
    return GpuNode(
        pool=name,
        # A label that names one model on nodes of several would lie; the autoscaler asks only that there be one.
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
    """The device plugin's configuration that shares a GPU so."""
    return f"{sharing.mode}-{sharing.replicas}"


def device_plugin(settings: Settings) -> DevicePluginValues:
    """The plugin for every pool's nodes."""
    shared = [pool.sharing for pool in settings.gpu_pools.values() if pool.sharing is not None]
    return DevicePluginValues(
        fail_on_init_error=settings.device_plugin.fail_on_init_error if settings.device_plugin else True,
        tolerations=gpu_tolerations(settings),
        sharing={sharing_name(one): Sharing(mode=one.mode, replicas=one.replicas) for one in shared},
    )


def gpu_tolerations(settings: Settings) -> list[dict[str, str]]:
    """What a daemon needs to stand on every pool's nodes."""
    return every_toleration([pool.taints for pool in settings.gpu_pools.values()])


def autoscaler(settings: Settings, region: str, version: str) -> AutoscalerValues | None:
    """The autoscaler, where there is one."""
    stated = settings.autoscaler
    if stated is None:
        return None
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


def scale_set(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> ScaleSetValues:
    """One runner's pods."""
    pools = [name for name in (arc.pool, arc.fallback) if name is not None]
    return ScaleSetValues(
        runner=name,
        github_url=settings.github.url if settings.github else "",
        runner_group=settings.arc.runner_group if settings.arc else "default",
        min=arc.min,
        max=arc.max,
        labels=arc.labels,
        container_mode=arc.container_mode,
        gpus=runner.needs.gpus,
        cpu=runner.needs.cpu,
        memory=runner.needs.memory,
        disk=runner.needs.disk,
        timeout_minutes=runner.timeout_minutes,
        pools=pools,
        shared=any(settings.gpu_pools[pool].sharing is not None for pool in pools),
        tolerations=every_toleration([settings.gpu_pools[pool].taints for pool in pools]),
    )
