"""Rules of a cluster: what one of the stack needs, and what an existing one needs instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.sections.settings import Settings

AUTOSCALER: Final = "cluster-autoscaler"
"""The name in `add-ons` of an autoscaler that the cluster already has."""
_OF_A_NEW_CLUSTER: Final = ("zones", "endpoint", "administrators")
_WITHOUT_EFFECT: Final = (*_OF_A_NEW_CLUSTER, "viewers", "logs", "log_retention_days", "support")


def the_cluster_is_own_or_existing(settings: Settings) -> Iterator[Fault]:
    """Require what a cluster of the stack needs, and reject it for one that exists."""
    cluster = settings.cluster
    if cluster is None:
        return
    stated = cluster.model_fields_set
    if cluster.existing is None:
        for key in _OF_A_NEW_CLUSTER:
            if key not in stated:
                yield Fault(f"cluster.{key}", "missing", f"state {key}, or existing for a cluster that exists")
        return
    for key in _WITHOUT_EFFECT:
        if key in stated:
            problem = "has no effect on an existing cluster"
            yield Fault(f"cluster.{kebab(key)}", problem, "remove it, or remove existing")
    if settings.system_nodes is not None:
        problem = "has no effect on an existing cluster, which has nodes of its own"
        yield Fault("system-nodes", problem, "remove it, or remove cluster.existing")
    if settings.network is not None and settings.network.existing is None:
        problem = "missing, but cluster.existing needs it"
        yield Fault("network.existing", problem, "state the VPC of the cluster, and its subnets for the pools")


def an_existing_cluster_has_its_add_ons(settings: Settings) -> Iterator[Fault]:
    """Look for every add-on that the stack file needs among those that the cluster has."""
    existing = settings.cluster.existing if settings.cluster is not None else None
    if existing is None:
        return
    for add_on in ADD_ONS:
        if add_on.name not in existing.add_ons and (add_on.section is None or _stated(settings, add_on.section)):
            user = add_on.section or "every stack"
            fix = f"install and list it{f', or remove {user}' if add_on.section else ''}"
            yield Fault("cluster.existing.add-ons", f"{add_on.name} is not listed, but {user} needs it", fix)
    if settings.autoscaler is not None and AUTOSCALER in existing.add_ons:
        problem = f"the cluster already has {AUTOSCALER}, and two of them would change the same groups"
        yield Fault("autoscaler", problem, f"remove it, or remove {AUTOSCALER} from cluster.existing.add-ons")


def _stated(settings: Settings, path: str) -> bool:
    """Return whether the section at a path is stated, or its switch is on."""
    value: object = settings
    for key in path.split("."):
        value = getattr(value, key.replace("-", "_"), None)
    return value is not None and value is not False


RULES: Final[tuple[Rule, ...]] = (the_cluster_is_own_or_existing, an_existing_cluster_has_its_add_ons)
