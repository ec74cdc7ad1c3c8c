"""A pod as the scheduler reads it: its requests, its tolerations and its required labels.

The requests of its containers add up, and a limit without a request counts as a request
(`k8s.io/component-helpers/resource`, v0.35). The pod templates of this project have no init containers. Preferences,
volumes and spreading are omitted, because they never keep a pod off an empty node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gpu_ci.knowledge.kubernetes.quantities import NOTHING, Resources, total

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Labels as sorted pairs, so that a pod can be compared and hashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"
    """`NoSchedule`, `NoExecute` or `PreferNoSchedule`. The scheduler ignores any other word."""

    def __str__(self) -> str:
        """Return the taint as `kubectl` prints it."""
        return f"{self.key}{'=' if self.value else ''}{self.value}:{self.effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """A toleration of a pod."""

    key: str = ""
    """Empty for every key."""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    """Empty for every effect."""

    def tolerates(self, taint: Taint) -> bool:
        """Return whether the pod may run on a node with the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or (self.operator == "Equal" and self.value == taint.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One expression of a node selector term."""

    key: str
    operator: str = "In"
    """`In`, `NotIn`, `Exists` or `DoesNotExist`. `Gt` and `Lt` compare numbers, which our labels do not have."""
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the expression is true for a node with these labels."""
        found = labels.get(self.key)
        by_operator = {
            "In": found in self.values,
            "NotIn": found not in self.values,
            "Exists": found is not None,
            "DoesNotExist": found is None,
        }
        return by_operator[self.operator]

    def __str__(self) -> str:
        """Return the expression for people."""
        if self.operator == "In" and len(self.values) == 1:
            return f"{self.key}={self.values[0]}"
        return " ".join(filter(None, (self.key, self.operator, ", ".join(self.values))))


Term: TypeAlias = tuple[Requirement, ...]
"""Requirements that must all match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod."""

    requests: Resources = NOTHING
    """The sum of its containers."""
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Labels = ()
    required: tuple[Term, ...] | None = None
    """Terms of the required node affinity, of which one must match; None without such an affinity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPods:
    """Equal pods on the system nodes."""

    name: str
    """For example `listener of gpu-t4`."""
    pod: Pod
    copies: int = 1
    """Copies that always run."""
    jobs: int = 0
    """Further copies that come and go with jobs."""


def pairs(mapping: Mapping[str, str] | None) -> Labels:
    """Return a mapping as sorted pairs."""
    return tuple(sorted((mapping or {}).items()))


def pod_from_template(template: Mapping[str, Any]) -> Pod:
    """Return the pod of a pod template, as a manifest or Helm values state it."""
    spec: Mapping[str, Any] = template.get("spec") or {}
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return Pod(
        requests=total(_container(container) for container in spec.get("containers") or ()),
        tolerations=tuple(
            Toleration(
                key=stated.get("key", ""),
                operator=stated.get("operator") or "Equal",
                value=stated.get("value", ""),
                effect=stated.get("effect", ""),
            )
            for stated in spec.get("tolerations") or ()
        ),
        node_selector=pairs(spec.get("nodeSelector")),
        required=None if affinity is None else _terms(affinity.get("nodeSelectorTerms") or ()),
    )


def _terms(stated: Sequence[Mapping[str, Any]]) -> tuple[Term, ...]:
    """Return the terms with expressions: a term without expressions matches no node."""
    return tuple(
        tuple(
            Requirement(key=one["key"], operator=one["operator"], values=tuple(one.get("values") or ()))
            for one in term["matchExpressions"]
        )
        for term in stated
        if term.get("matchExpressions")
    )


def _container(container: Mapping[str, Any]) -> Resources:
    stated = container.get("resources") or {}
    return Resources.parse({**(stated.get("limits") or {}), **(stated.get("requests") or {})})
