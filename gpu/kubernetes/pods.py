"""A pod as the scheduler sees it: what it asks for, what it tolerates, where it insists on going.

Owns the reading of a pod template and the sum of its requests (`k8s.io/component-helpers/resource`, v0.35): containers
add up, an init container counts where it alone asks for more, a sidecar counts throughout, a missing request is its
limit. Preferences, volumes and spreading are left out: they never keep a pod off an empty node of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from gpu.kubernetes.quantities import CPU, MEMORY, NOTHING, Resources, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Labels as sorted pairs, so that what carries them can be compared and hashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """What a node keeps pods away with."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"
    """`NoSchedule`, `NoExecute` or `PreferNoSchedule`; the scheduler lets anything else pass."""

    def __str__(self) -> str:
        """As `kubectl` prints it."""
        return f"{self.key}{'=' if self.value else ''}{self.value}:{self.effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """What a pod puts up with."""

    key: str = ""
    """Empty for every key."""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    """Empty for every effect."""

    def tolerates(self, taint: Taint) -> bool:
        """Whether it covers the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or (self.operator == "Equal" and self.value == taint.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One expression of a node selector term."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet it; `NotIn` and `DoesNotExist` are met by a missing label."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
            case _:
                return False

    def _compares(self, value: str | None) -> bool:
        try:
            left, right = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return left > right if self.operator == "Gt" else left < right

    def __str__(self) -> str:
        """As a person would say it."""
        if self.operator == "In" and len(self.values) == 1:
            return f"{self.key}={self.values[0]}"
        return f"{self.key} {self.operator} {', '.join(self.values)}".rstrip()


Term: TypeAlias = tuple[Requirement, ...]
"""Requirements that must hold together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod."""

    requests: Resources = NOTHING
    """What it needs on its node, all its containers together."""
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Labels = ()
    required: tuple[Term, ...] | None = None
    """Terms of the required node affinity, of which one must hold; none where the pod states no such affinity."""
    labels: Labels = field(default=(), compare=False)


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
    """A mapping as sorted pairs."""
    return tuple(sorted((mapping or {}).items()))


def pod_from_template(template: Mapping[str, Any]) -> Pod:
    """The pod of a pod template, as a manifest or Helm values spell it."""
    spec: Mapping[str, Any] = template.get("spec") or {}
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return Pod(
        requests=_requests(spec),
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
        labels=pairs((template.get("metadata") or {}).get("labels")),
    )


def _terms(stated: Sequence[Mapping[str, Any]]) -> tuple[Term, ...]:
    """The terms that can match at all: one without expressions selects no node."""
    return tuple(
        tuple(
            Requirement(key=one["key"], operator=one["operator"], values=tuple(one.get("values") or ()))
            for one in term["matchExpressions"]
        )
        for term in stated
        if term.get("matchExpressions")
    )


def _requests(spec: Mapping[str, Any]) -> Resources:
    running = total(_container(container) for container in spec.get("containers") or ())
    sidecars = starting = NOTHING
    for container in spec.get("initContainers") or ():
        asked = _container(container)
        if container.get("restartPolicy") == "Always":
            running += asked
            sidecars += asked
            starting |= sidecars
        else:
            starting |= asked + sidecars
    needed = running | starting
    # Requests of the pod as a whole stand in for its containers' (on by default since Kubernetes 1.34).
    for resource, amount in Resources.parse((spec.get("resources") or {}).get("requests")).amounts:
        if resource in {CPU, MEMORY}:
            needed = needed.with_amount(resource, amount)
    return needed + Resources.parse(spec.get("overhead"))


def _container(container: Mapping[str, Any]) -> Resources:
    stated = container.get("resources") or {}
    return Resources.parse({**(stated.get("limits") or {}), **(stated.get("requests") or {})})
