"""The scale sets of the Actions Runner Controller in the cluster, and those that the stack file declares."""

from __future__ import annotations

from typing import Any, Final

from components.kubernetes.arc_links import Objects
from components.kubernetes.namespaces import JOBS, RUNNERS, SYSTEMS
from gpu_ci.back_ends.stack import Stack
from ops.doctor.questions import kubernetes
from ops.doctor.world.world import World

_GROUP: Final = "/apis/actions.github.com/v1alpha1"
_KINDS: Final = (
    (RUNNERS, "autoscalingrunnersets", "AutoscalingRunnerSet"),
    (RUNNERS, "ephemeralrunnersets", "EphemeralRunnerSet"),
    (RUNNERS, "ephemeralrunners", "EphemeralRunner"),
    (SYSTEMS, "autoscalinglisteners", "AutoscalingListener"),
)


def names(stack: Stack) -> list[str]:
    """Return the runners that share the nodes of the cluster."""
    return [name for name, offer in stack.offers.items() if offer.shared is not None]


def objects(world: World) -> Objects:
    """Return the objects of the controller. Lists of the API do not repeat the kind in each object."""
    found: list[dict[str, Any]] = []
    for namespace, plural, kind in _KINDS:
        listed = kubernetes.items(world, f"{_GROUP}/namespaces/{namespace}/{plural}")
        found += [{**one, "kind": kind} for one in listed]
    return Objects(items=[*found, *({**one, "kind": "Pod"} for one in kubernetes.pods(world, SYSTEMS))])


def job_pods(world: World) -> list[dict[str, Any]]:
    """Return the pods of runners and of their jobs."""
    return [*kubernetes.pods(world, RUNNERS), *kubernetes.pods(world, JOBS)]
