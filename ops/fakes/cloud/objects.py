"""One object in a fake cloud, the provider that created it, and the objects as the rows of the tables see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, Self

from ops.fakes.cloud.paths import value_at
from ops.fakes.cloud.request import Place


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

    type: str
    """The type token."""
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

    def at(self, path: str) -> Any:
        """Return the value at `path` in the outputs; `id` is the object's id."""
        return self.id if path == "id" else value_at(path, self.outputs)

    def __str__(self) -> str:
        """Return the type and the id."""
        return f"{self.type} {self.id}"


class Objects(Protocol):
    """The objects of a cloud, and what the checks and effects of a row can do with them."""

    outside: Mapping[str, str]
    """Objects that no stack created: the id or the name to the zone, which is empty for objects without one."""
    drained: list[str]
    """Running nodes that updates have ended, in one line for each update."""
    gpus_work: bool
    """Whether the tests of a machine image find a GPU that works."""

    def of(self, type_: str) -> list[CloudObject]:
        """Return the objects of one type that are ready or being deleted."""
        ...

    def find(self, type_: str, id_: str) -> CloudObject | None:
        """Return the object of this type and id."""
        ...

    def pointing_at(self, obj: CloudObject, type_: str) -> list[CloudObject]:
        """Return the objects of a type that refer to this one."""
        ...

    def put(self, type_: str, name: str, inputs: Mapping[str, Any], caller: Caller) -> CloudObject:
        """Create an object as a side effect of the cloud."""
        ...

    def delete(self, type_: str, id_: str) -> None:
        """Delete an object, or refuse to."""
        ...

    def forget_inside(self, cluster: str, which: Callable[[CloudObject], bool] = ...) -> None:
        """Delete the objects inside a cluster that `which` selects."""
        ...
