"""One object in the stand-in cloud, and who asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from fakes.answers import Place
from fakes.kinds import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakes.kinds import Kind


class Phase(StrEnum):
    """How far a thing is."""

    CREATING = "creating"
    READY = "ready"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A provider as it was configured: in whose name it asks."""

    place: Place = field(default_factory=Place)
    """The account, region or project."""
    cluster: str = ""
    """For a Kubernetes provider, the ARN of the cluster it speaks to."""

    @classmethod
    def of(cls, type_: str, settings: Mapping[str, Any]) -> Self:
        """Return the caller that a provider of this type and these settings is."""
        cluster = str(settings.get("clusterIdentifier") or "") if type_.endswith(":kubernetes") else ""
        return cls(place=Place().with_provider(type_, settings), cluster=cluster)


@dataclass(slots=True, kw_only=True)
class Thing:
    """One object in the cloud."""

    kind: Kind
    id: str
    urn: str
    """By which URN it was made; empty where the cloud made it of its own accord."""
    name: str
    """The last part of that URN."""
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    caller: Caller = field(default_factory=Caller)
    """Who asked for it, which is also where it is."""
    seed: str = ""
    """What its generated names are worked out from."""
    phase: Phase = Phase.CREATING

    @property
    def type(self) -> str:
        """Its type token."""
        return self.kind.type

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The physical name that no second thing may have, if it has one."""
        if not self.kind.identity:
            return []
        return [(self.type, self.caller.cluster, *(str(self.at(path)) for path in self.kind.identity))]

    def at(self, path: str) -> Any:
        """The value at `path` of its outputs; `id` is its id."""
        return self.id if path == "id" else value_at(path, self.outputs)

    def __str__(self) -> str:
        """How it is called in a list of what was left."""
        return f"{self.type} {self.id}"
