"""The cluster's nodes and pods, from the stack file: the arguments of components, and the facts that checks read.

Both come from the same pure functions, so that the checks read what the program declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.aws.nodes.cpu_node import CpuNode, cpu_labels, cpu_tags, cpu_taints
from components.aws.nodes.gpu_node import (
    GpuNode,
    api_taints,
    autoscaler_tags,
    every_toleration,
    node_labels,
    tolerations,
)
from components.aws.nodes.taints import ApiTaint
from components.kubernetes.arc.arc_controller_values import CONTROLLER_RESOURCES
from components.kubernetes.autoscaler_values import RESOURCES as AUTOSCALER_RESOURCES
from components.kubernetes.autoscaler_values import AutoscalerValues
from components.kubernetes.gpus.device_plugin_values import DevicePluginValues, device_plugin_values
from components.kubernetes.gpus.gpu_metrics_values import GpuMetricsValues, gpu_metrics_values
from components.kubernetes.gpus.smoke_job import SmokeJob
from gpu_ci.back_ends.offer import SharedNodes
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge import pins
from gpu_ci.knowledge.incomplete import Incomplete
from gpu_ci.knowledge.kubernetes import add_ons as table
from gpu_ci.knowledge.kubernetes.add_ons import AddOn
from gpu_ci.knowledge.kubernetes.allocatable import node_room
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import SystemPods, pod_from_template
from gpu_ci.knowledge.kubernetes.quantities import EPHEMERAL_STORAGE, MIB
from gpu_ci.knowledge.machines import Catalogue
from gpu_ci.stack_file.sections.machines import CpuPoolSettings, PoolSettings, SharingSettings
from gpu_ci.stack_file.sections.services import AutoscalerSettings, DcgmSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes


def gpu_node(name: str, pool: PoolSettings, catalogue: Catalogue) -> GpuNode:
    """Return the marks of a pool's nodes. The autoscaler sizes new nodes by the first type, so its figures count."""
    machines = [catalogue.ec2(stated) for stated in pool.instance_types]
    models = {machine.gpu.label for machine in machines if machine.gpu is not None}
    rooms = [
        node_room(machine, disk_gib=gibibytes(pool.disk.size), nvme_storage=pool.fast_image_pull)
        for machine in machines
    ]
    return GpuNode(
        pool=name,
        # Nodes of several models get a neutral label. The autoscaler only requires that the label exists.
        accelerator=models.pop() if len(models) == 1 else "nvidia-gpu",
        gpus=max(1, machines[0].gpus),
        ephemeral_mib=min(room.allocatable[EPHEMERAL_STORAGE] for room in rooms) // MIB,
        labels=pool.labels,
        taints=pool.taints,
        sharing_replicas=pool.sharing.replicas if pool.sharing else 1,
        device_plugin_config=sharing_name(pool.sharing) if pool.sharing else None,
        scale_down_after_minutes=pool.scale_down_after_minutes,
    )


def cpu_node(name: str, pool: CpuPoolSettings, catalogue: Catalogue) -> CpuNode:
    """Return the marks of the nodes of a pool without GPUs."""
    rooms = [node_room(catalogue.ec2(one), disk_gib=gibibytes(pool.disk.size)) for one in pool.instance_types]
    return CpuNode(
        pool=name,
        ephemeral_mib=min(room.allocatable[EPHEMERAL_STORAGE] for room in rooms) // MIB,
        labels=pool.labels,
        taints=pool.taints,
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
        shares={sharing_name(one): one.replicas for one in shared},
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
        labels=stated.labels,
    )


def job_pools(stack: Stack) -> frozenset[str]:
    """Return the GPU pools whose nodes are only for jobs: without a minimum, and without a runner that waits there."""
    kept = {pool for shared in shared_nodes(stack).values() if shared.idle_on_gpu for pool in shared.pools}
    return frozenset(name for name, pool in stack.settings.gpu_pools.items() if pool.min == 0 and name not in kept)


def smoke_jobs(settings: Settings) -> tuple[SmokeJob, ...]:
    """Return the smoke test of each pool; none without the section."""
    if settings.smoke_test is None or settings.cluster is None:
        return ()
    release, minutes = pins.EKS_AMI_RELEASES[settings.cluster.version], settings.smoke_test.timeout_minutes
    return tuple(
        SmokeJob(
            pool=name,
            # A node with fewer GPUs than the pod requests would never get it. A shared GPU gives one share.
            gpus=1 if pool.sharing else min(settings.machines.ec2(one).devices for one in pool.instance_types),
            tolerations=tolerations(pool.taints),
            timeout_minutes=minutes,
            proves=f"{release} {pool.image} {' '.join(pool.instance_types)}",
            pull_secret=settings.images[settings.smoke_test.image].image_pull_secret,
        )
        for name, pool in settings.gpu_pools.items()
    )


def autoscaler(settings: Settings, stated: AutoscalerSettings, *, region: str, version: str) -> AutoscalerValues:
    """Return the values of the Cluster Autoscaler's chart."""
    return AutoscalerValues(
        region=region,
        image_tag=pins.CLUSTER_AUTOSCALER_IMAGES[version],
        expander=stated.expander,
        scale_down_after_minutes=stated.scale_down_after_minutes,
        provision_timeout_minutes=stated.provision_timeout_minutes,
        capacities={name: pool.capacity for name, pool in settings.pools.items()},
    )


def add_ons(settings: Settings) -> tuple[AddOn, ...]:
    """Return the add-ons that this stack runs, in the order of creation."""
    return tuple(one for one in table.ADD_ONS if one.section is None or _enables(settings, one.section))


def _enables(settings: Settings, path: str) -> bool:
    """Return whether the stack file states the section or sets the switch."""
    value: object = settings
    for key in path.split("."):
        if value is None:
            return False
        if not hasattr(value, name := key.replace("-", "_")):
            fix = "correct the key in knowledge/kubernetes/add_ons.py, or add it to stack_file/sections/services.py"
            raise Incomplete(f"no section of the stack file has the key {path}, which enables an add-on", fix)
        value = getattr(value, name)
    return value is not None and value is not False


def node_groups(stack: Stack) -> tuple[NodeGroupFacts, ...]:
    """Return the node groups of the pools."""
    settings = stack.settings
    return (
        *(_node_group(name, pool, stack) for name, pool in settings.gpu_pools.items()),
        *(_cpu_node_group(name, pool, stack) for name, pool in settings.cpu_pools.items()),
    )


def _node_group(name: str, pool: PoolSettings, stack: Stack) -> NodeGroupFacts:
    machines = stack.settings.machines
    node = gpu_node(name, pool, machines)
    tags = autoscaler_tags(node)
    cluster = stack.settings.cluster
    return NodeGroupFacts(
        path=f"gpu-pools.{name}",
        name=name,
        instance_types=pool.instance_types,
        catalogue=machines,
        min_size=pool.min,
        max_size=pool.max,
        capacity_type="SPOT" if pool.capacity == "spot" else "ON_DEMAND",
        zones=pool.zones,
        disk_gib=gibibytes(pool.disk.size),
        nvme_storage=pool.fast_image_pull,
        version=cluster.version if cluster else "",
        ami_type="AL2023_x86_64_NVIDIA",
        labels=node_labels(node),
        taints=tuple(ApiTaint(**taint) for taint in api_taints(node)),
        tags=tags,
        asg_tags={**stack.settings.stack.tags, **tags},
        shares=pool.sharing.replicas if pool.sharing else 1,
    )


def _cpu_node_group(name: str, pool: CpuPoolSettings, stack: Stack) -> NodeGroupFacts:
    node = cpu_node(name, pool, stack.settings.machines)
    tags = cpu_tags(node)
    return NodeGroupFacts(
        path=f"cpu-pools.{name}",
        name=name,
        instance_types=pool.instance_types,
        catalogue=stack.settings.machines,
        min_size=pool.min,
        max_size=pool.max,
        capacity_type="SPOT" if pool.capacity == "spot" else "ON_DEMAND",
        zones=pool.zones,
        disk_gib=gibibytes(pool.disk.size),
        version=stack.settings.cluster.version if stack.settings.cluster else "",
        ami_type="AL2023_x86_64_STANDARD",
        labels=cpu_labels(node),
        taints=tuple(ApiTaint(**taint) for taint in cpu_taints(node)),
        tags=tags,
        asg_tags={**stack.settings.stack.tags, **tags},
    )


def shared_nodes(stack: Stack) -> dict[str, SharedNodes]:
    """Return the runners that use the pools, by path."""
    return {offer.path: offer.shared for offer in stack.offers.values() if offer.shared is not None}


def plugin_daemonset(settings: Settings) -> DaemonSet | None:
    """Return the device plugin; None where the stack has none."""
    if settings.device_plugin is None:
        return None
    values = device_plugin_values(device_plugin(settings))
    spec = {"affinity": values["affinity"], "tolerations": values["tolerations"]}
    return DaemonSet.of("nvidia-device-plugin", {"spec": spec})


def metrics_daemonset(settings: Settings) -> DaemonSet | None:
    """Return the DCGM exporter; None where the stack has none."""
    if settings.monitoring is None or settings.monitoring.dcgm is None:
        return None
    values = gpu_metrics_values(gpu_metrics(settings, settings.monitoring.dcgm))
    container = {"name": "exporter", "resources": values["resources"]}
    placement = {key: values[key] for key in ("nodeSelector", "tolerations")}
    return DaemonSet.of("dcgm-exporter", {"spec": {**placement, "containers": [container]}})


def daemonsets(settings: Settings) -> tuple[DaemonSet, ...]:
    """Return all DaemonSets of the cluster. Their tolerations and labels decide on which nodes they run."""
    nvidia = (plugin_daemonset(settings), metrics_daemonset(settings))
    return (*_add_on_daemonsets(settings), *(daemonset for daemonset in nvidia if daemonset is not None))


def _add_on_daemonsets(settings: Settings) -> tuple[DaemonSet, ...]:
    return tuple(daemonset for add_on in add_ons(settings) for daemonset in add_on.node_pods)


def system_nodes(stack: Stack) -> NodeGroupFacts | None:
    """Return the node group of the system nodes; None where the stack has none."""
    nodes = stack.settings.system_nodes
    if nodes is None:
        return None
    return NodeGroupFacts(
        path="system-nodes",
        name="system",
        instance_types=nodes.instance_types,
        catalogue=stack.settings.machines,
        min_size=nodes.min,
        max_size=nodes.max,
        zones=nodes.zones,
        disk_gib=gibibytes(nodes.disk.size),
    )


def system_pods(stack: Stack) -> Iterator[SystemPods]:
    """Yield the pods of the system nodes: add-ons, controllers, and the listener and waiting pods of each runner."""
    for add_on in add_ons(stack.settings):
        yield from add_on.system_pods
    if stack.settings.autoscaler is not None:
        yield _one("the autoscaler", AUTOSCALER_RESOURCES)
    if stack.settings.arc is not None:
        yield _one("the runner controller", CONTROLLER_RESOURCES)
    for name, offer in stack.offers.items():
        shared = offer.shared
        if shared is not None and shared.listener is not None:
            yield SystemPods(name=f"the listener of {name}", pod=shared.listener)
        if shared is not None and shared.waiting_pod is not None:
            jobs = shared.most - shared.idle
            yield SystemPods(name=f"runner of {name}", pod=shared.waiting_pod, copies=shared.idle, jobs=jobs)


def _one(name: str, resources: Any) -> SystemPods:
    template = {"spec": {"containers": [{"name": "main", "resources": resources}]}}
    return SystemPods(name=name, pod=pod_from_template(template))
