"""One object in a fake cloud, and the provider that created it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from ops.fakes.kinds import value_at
from ops.fakes.request import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.fakes.kinds import Kind


class Phase(StrEnum):
    """The life cycle of an object."""

    CREATING = "creating"
    READY = "ready"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A configured provider."""

    place: Place = field(default_factory=Place)
    """The account and region, or project."""
    cluster: str = ""
    """The ARN of the cluster of a Kubernetes provider."""

    @classmethod
    def of(cls, type_: str, settings: Mapping[str, Any]) -> Self:
        """Return the caller of a provider of this type with these settings."""
        cluster = str(settings.get("clusterIdentifier") or "") if type_.endswith(":kubernetes") else ""
        return cls(place=Place().with_provider(type_, settings), cluster=cluster)


@dataclass(slots=True, kw_only=True)
class CloudObject:
    """One object in the cloud."""

    kind: Kind
    id: str
    urn: str
    """The URN of the resource; empty for an object that the cloud created as a side effect."""
    name: str
    """The logical name of the resource."""
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    caller: Caller = field(default_factory=Caller)
    """The provider that created it; it decides the account, the region or the cluster."""
    seed: str = ""
    """The seed of its generated names."""
    phase: Phase = Phase.CREATING

    @property
    def type(self) -> str:
        """The type token."""
        return self.kind.type

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The physical name that is unique, if the type has one."""
        if not self.kind.identity:
            return []
        return [(self.type, self.caller.cluster, *(str(self.at(path)) for path in self.kind.identity))]

    def at(self, path: str) -> Any:
        """Return the value at `path` in the outputs; `id` is the object's id."""
        return self.id if path == "id" else value_at(path, self.outputs)

    def __str__(self) -> str:
        """Return the type and the id."""
        return f"{self.type} {self.id}"
