"""Objects of the cluster, as the API returns them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from components.aws.nodes.gpu_node import POOL_LABEL
from ops.doctor.world.world import World

SYSTEM: Final = "kube-system"
LOG_LINES: Final = 200
"""The number of last lines of a log that are read."""
Item = dict[str, Any]


def items(world: World, path: str, **query: str) -> list[Item]:
    """Return the objects at a path; none if the cluster does not know their kind."""
    answer = world.cluster.ask(path, **query)
    return list(answer["items"]) if answer is not None else []


def pods(world: World, namespace: str, selector: str = "") -> list[Item]:
    """Return the pods of a namespace."""
    query = {"labelSelector": selector} if selector else {}
    return items(world, f"/api/v1/namespaces/{namespace}/pods", **query)


def nodes(world: World) -> list[Item]:
    """Return all nodes."""
    return items(world, "/api/v1/nodes")


def gpu_nodes(world: World) -> list[Item]:
    """Return the nodes of GPU pools."""
    return [node for node in nodes(world) if pool_of(node) in world.settings.gpu_pools]


def events(world: World, namespace: str, name: str) -> list[Item]:
    """Return the events about one object, the newest last."""
    path = f"/api/v1/namespaces/{namespace}/events"
    found = [one for one in items(world, path) if one.get("involvedObject", {}).get("name") == name]
    return sorted(found, key=lambda one: str(one.get("lastTimestamp") or one.get("eventTime") or ""))


def log(world: World, pod: Item, container: str) -> str:
    """Return the last lines of a container; empty if it has not started."""
    meta = pod["metadata"]
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
    return str(world.cluster.ask(path, container=container, tailLines=str(LOG_LINES)) or "")


def name(one: Item) -> str:
    """Return the name of an object."""
    return str(one["metadata"]["name"])


def labels(one: Item) -> dict[str, str]:
    """Return the labels of an object."""
    return dict(one["metadata"].get("labels") or {})


def pool_of(node: Item) -> str:
    """Return the pool of a node; empty for other nodes."""
    return labels(node).get(POOL_LABEL, "")


def condition(one: Item, kind: str) -> Item:
    """Return a condition of an object; empty if it has none of this kind."""
    conditions: list[Item] = one.get("status", {}).get("conditions") or []
    return next((found for found in conditions if found["type"] == kind), {})


_MORE: Final = re.compile(r"\. (?:no new claims|preemption|not found)")
"""The start of what the scheduler adds after the reasons."""
_NOT_SELECTED: Final = "didn't match Pod's node affinity/selector"


def reasons(message: str) -> list[str]:
    """Return the reasons of a message of the scheduler or the autoscaler, which join those of all nodes.

    The reason of nodes that the pod does not select, for example system nodes, counts only if there is no other one.
    """
    text = _MORE.split(message.partition(": ")[2] or message)[0].strip().rstrip(".")
    found = re.split(r", (?=\d+ )", text)
    return [one for one in found if not one.endswith(_NOT_SELECTED)] or found


def age(world: World, one: Item) -> timedelta:
    """Return the time since the creation of an object."""
    return world.now - datetime.fromisoformat(one["metadata"]["creationTimestamp"])


def containers(pod: Item) -> Iterator[Item]:
    """Yield the status of every container of a pod."""
    status = pod.get("status", {})
    yield from status.get("initContainerStatuses") or []
    yield from status.get("containerStatuses") or []


def why_waiting(pods: list[Item]) -> str:
    """Return the reason and the message of the first container that waits, after a colon; empty if none waits."""
    state = next((state for pod in pods if (state := waiting(pod))), {})
    return f": {state.get('reason', '')}: {state.get('message', 'no message')}" if state else ""


def waiting(pod: Item) -> Item:
    """Return the state of the first container that waits, with `reason` and `message`; empty if none waits."""
    for one in containers(pod):
        state: Item = one.get("state", {}).get("waiting") or {}
        if state:
            return state
    return {}
