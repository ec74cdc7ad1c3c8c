"""The recorded plan: the resources that the program would register, as plain data.

`ops.plan.recorder` records a plan, and `ops.plan.tree` prints it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from gpu_ci.knowledge.verdict import Verdict

SECRET: Final = "[secret]"  # noqa: S105
"""The text that replaces a secret in output."""
STACK_TYPE: Final = "pulumi:pulumi:Stack"
PROVIDER_TYPE: Final = "pulumi:providers:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One registered resource."""

    urn: str
    """The URN, with the types of all parents."""
    type: str
    """The type token, for example `aws:eks/nodeGroup:NodeGroup`."""
    name: str
    """The logical name: the last part of the URN."""
    inputs: Mapping[str, Any]
    """The inputs under their protocol names. Contains secrets; print `shown` instead."""
    custom: bool
    """Whether a provider creates it; false for a component."""
    parent: str
    """The URN of the parent; empty for the stack."""
    provider: str
    """The URN of its provider; empty without an explicit provider."""
    dependencies: tuple[str, ...]
    """The URNs of its dependencies, sorted."""
    property_dependencies: Mapping[str, tuple[str, ...]]
    """The dependencies of each input, sorted."""
    protect: bool
    """Whether the engine refuses to delete it."""
    retain_on_delete: bool
    """Whether a deletion keeps the resource in the cloud."""
    deleted_with: str
    """The URN of the resource whose deletion deletes it, too; empty if it is deleted on its own."""
    ignore_changes: tuple[str, ...]
    """The paths of inputs whose changes are ignored."""
    delete_before_replace: bool
    """Whether a replacement deletes the old resource first."""
    aliases: tuple[str, ...]
    """Earlier names: URNs, or the parts that differ from the current name."""
    secret_paths: frozenset[str]
    """The dotted paths of secret inputs; list items are numbered from 0."""
    unknown_paths: frozenset[str]
    """The dotted paths of inputs that are unknown in a preview."""

    @property
    def is_provider(self) -> bool:
        """Return True for an explicit provider."""
        return self.type.startswith(PROVIDER_TYPE)

    @property
    def shown(self) -> dict[str, Any]:
        """Return the inputs with every secret masked."""
        return {key: _masked(value, key, self.secret_paths) for key, value in self.inputs.items()}

    def to_data(self) -> dict[str, Any]:
        """Return the resource as plain data without secrets."""
        return {
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "inputs": self.shown,
            "custom": self.custom,
            "parent": self.parent,
            "provider": self.provider,
            "dependencies": list(self.dependencies),
            "propertyDependencies": {key: list(urns) for key, urns in self.property_dependencies.items()},
            "protect": self.protect,
            "retainOnDelete": self.retain_on_delete,
            "deletedWith": self.deleted_with,
            "ignoreChanges": list(self.ignore_changes),
            "deleteBeforeReplace": self.delete_before_replace,
            "aliases": list(self.aliases),
            "secretPaths": sorted(self.secret_paths),
            "unknownPaths": sorted(self.unknown_paths),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of one stack file."""

    stack: str
    """The stack's name."""
    resources: tuple[Planned, ...]
    """The resources in the order of the program; the stack first."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """The stack's outputs, secrets masked."""
    verdicts: tuple[Verdict, ...] = ()
    """The verdicts of the checks."""
    preview: bool = False
    """Whether it is a preview, with unknown outputs."""
    logged: tuple[str, ...] = ()
    """The logged warnings and errors."""

    def __iter__(self) -> Iterator[Planned]:
        return iter(self.resources)

    def __len__(self) -> int:
        return len(self.resources)

    @property
    def urns(self) -> tuple[str, ...]:
        """Return every URN in the order of the program."""
        return tuple(resource.urn for resource in self.resources)

    def of(self, type_: str) -> tuple[Planned, ...]:
        """Return the resources of one type, for example `aws:eks/nodeGroup:NodeGroup`."""
        return tuple(resource for resource in self.resources if resource.type == type_)

    def one(self, type_: str, name: str) -> Planned:
        """Return the resource with this type and name; the error lists the existing names."""
        there = {resource.name: resource for resource in self.of(type_)}
        if name not in there:
            names = ", ".join(sorted(there)) or "none"
            raise LookupError(f"no {type_} has the name {name!r}; existing names: {names}")
        return there[name]

    def to_data(self) -> dict[str, Any]:
        """Return the plan as plain data without secrets."""
        return {
            "format": 1,
            "stack": self.stack,
            "preview": self.preview,
            "resources": [resource.to_data() for resource in self.resources],
            "outputs": dict(self.outputs),
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
        }


def _masked(value: Any, path: str, secret_paths: frozenset[str]) -> Any:
    if path in secret_paths:
        return SECRET
    if isinstance(value, Mapping):
        return {key: _masked(item, f"{path}.{key}", secret_paths) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_masked(item, f"{path}.{index}", secret_paths) for index, item in enumerate(value)]
    return value
