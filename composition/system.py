"""From the stack file to what runs on the system nodes: the same values that the components are made from, as pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from back_ends.arc.values import scale_set
from components.kubernetes.arc_controller_values import CONTROLLER_RESOURCES
from components.kubernetes.autoscaler_values import RESOURCES as AUTOSCALER_RESOURCES
from components.kubernetes.scale_set_values import LISTENER, runner_pod
from config.values import gibibytes
from gpu.kubernetes.node_group import NodeGroupFacts
from gpu.kubernetes.pods import SystemPods, pod_from_template
from wiring import values as wiring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.machines import SystemNodesSettings
    from config.settings import Settings
    from gpu.kubernetes.daemonsets import DaemonSet


def node_group(nodes: SystemNodesSettings, cluster: str) -> NodeGroupFacts:
    """The system nodes' own group."""
    return NodeGroupFacts(
        path="system-nodes",
        name="system",
        cluster=cluster,
        instance_types=nodes.instance_types,
        min_size=nodes.min,
        max_size=nodes.max,
        zones=nodes.zones,
        disk_gib=gibibytes(nodes.disk.size),
    )


def pods(settings: Settings) -> Iterator[SystemPods]:
    """What has nowhere else to run: the add-ons, the controllers, and what each runner needs besides its job."""
    for add_on in wiring.add_ons(settings):
        yield from add_on.system_pods
    if settings.autoscaler is not None:
        yield _one("the autoscaler", AUTOSCALER_RESOURCES)
    if settings.arc is not None:
        yield _one("the runner controller", CONTROLLER_RESOURCES)
    for name, runner in settings.runners.items():
        if runner.arc is None:
            continue
        yield _one(f"the listener of {name}", LISTENER["resources"])
        if runner.arc.container_mode != "none":
            # The job's pod goes to a GPU; the runner that waits for it does not.
            pod = pod_from_template(runner_pod(scale_set(name, runner, runner.arc, settings), ""))
            idle, most = runner.arc.min, runner.arc.max
            yield SystemPods(name=f"runner of {name}", pod=pod, copies=idle, jobs=most - idle)


def daemonsets(settings: Settings) -> tuple[DaemonSet, ...]:
    """What runs on every node without a GPU."""
    return tuple(daemonset for add_on in wiring.add_ons(settings) for daemonset in add_on.node_pods)


def _one(name: str, resources: Any) -> SystemPods:
    template = {"spec": {"containers": [{"name": "main", "resources": resources}]}}
    return SystemPods(name=name, pod=pod_from_template(template))
