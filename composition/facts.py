"""From the stack file to what `gpu/` judges: pools and pods as they will really be made, not as they are meant.

The same pure functions that make the components' inputs make these, so that what is judged is what is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from back_ends.arc.values import scale_set
from checks.counts import RunnerFacts
from checks.image_fit import ImageUse
from checks.machine_fit import OwnDisk
from components.aws.gpu_node import api_taints, autoscaler_tags, node_labels
from components.kubernetes.device_plugin_values import device_plugin_values
from components.kubernetes.gpu_metrics import GpuMetricsArgs, gpu_metrics_values
from components.kubernetes.scale_set_values import job_pod, runner_pod
from config import pins
from config.values import gibibytes, mebibytes
from gpu.kubernetes.daemonsets import DaemonSet
from gpu.kubernetes.node_group import ApiTaint, NodeGroupFacts
from gpu.kubernetes.pods import Pod, pod_from_template
from gpu.kubernetes.quantities import MIB
from gpu.kubernetes.sharing import Sharing
from gpu.kubernetes.template_node import Autoscaler
from wiring import values as wiring

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    values = scale_set(name, runner, arc, settings)
    return pod_from_template(runner_pod(values, "") if arc.container_mode == "none" else job_pod(values))


def runner_facts(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> RunnerFacts:
    """A runner on its pools."""
    return RunnerFacts(
        path=f"runners.{name}",
        pools=tuple(f"gpu-pools.{pool}" for pool in (arc.pool, arc.fallback) if pool is not None),
        pod=gpu_pod(name, runner, arc, settings),
        # A runner whose jobs are pods of their own waits for them on a system node.
        min_runners=arc.min_on_gpu,
        max_runners=arc.max,
    )


def image_uses(
    groups: Sequence[NodeGroupFacts], runners: Sequence[RunnerFacts], settings: Settings
) -> Iterator[tuple[str, int, list[ImageUse]]]:
    """Each image whose size is stated, in bytes, with whoever starts in it on a GPU node."""
    for name, image in settings.images.items():
        # A runner whose jobs are pods of their own starts on a system node; what those jobs start in is not known.
        starting = {
            f"runners.{key}"
            for key, runner in settings.runners.items()
            if runner.arc is not None and runner.arc.image == name and runner.arc.container_mode == "none"
        }
        if image.compressed is not None:
            uses = [
                ImageUse(runner=runner.path, pod=runner.pod, group=group)
                for runner in runners
                for group in groups
                if runner.path in starting and group.path in runner.pools
            ]
            yield f"images.{name}.compressed", mebibytes(image.compressed) * MIB, uses


def own_disk(name: str, runner: RunnerSettings, settings: Settings) -> OwnDisk | None:
    """The root disk of a runner that has a machine to itself."""
    served = runner.cirun_aws or runner.cirun_gcp
    if served is None:
        return None
    image = settings.host_image if runner.cirun_gcp else None
    return OwnDisk(
        path=f"runners.{name}",
        stated=f"runners.{name}.{'cirun-gcp' if runner.cirun_gcp else 'cirun-aws'}.disk",
        gib=gibibytes(served.disk),
        image_gib=gibibytes(image.builder.disk) if image else 0,
        wanted_gib=gibibytes(runner.needs.disk) if runner.needs.disk else 0,
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
        values = gpu_metrics_values(
            GpuMetricsArgs(
                version=pins.DCGM_EXPORTER_CHART,
                interval_seconds=settings.monitoring.dcgm.interval_seconds,
                service_monitor=settings.monitoring.dcgm.service_monitor,
                alerts=settings.monitoring.dcgm.alerts,
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
