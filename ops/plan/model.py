"""The recorded plan: what the program would register, as plain data that can be compared and printed.

Owns the shapes and the bytes. How a plan comes about is `ops.plan.recorder`; how it looks is `ops.plan.tree`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gpu.verdict import Verdict

SECRET: Final = "[secret]"  # noqa: S105  # what is shown instead of one
"""What stands where a secret is not shown."""
STACK_TYPE: Final = "pulumi:pulumi:Stack"
PROVIDER_TYPE: Final = "pulumi:providers:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One resource as the program registers it."""

    urn: str
    """The engine's name for it, with the full chain of parent types."""
    type: str
    """The type token, for example `aws:eks/nodeGroup:NodeGroup`."""
    name: str
    """The logical name: the last part of the URN."""
    inputs: Mapping[str, Any]
    """The inputs as plain data under the names of the wire; secrets in clear, so never print these: see `shown`."""
    custom: bool
    """Whether a provider makes it; a component is made by nobody."""
    parent: str
    """The URN of the parent; empty for the stack alone."""
    provider: str
    """The URN of the provider that makes it; empty where the program gave none."""
    dependencies: tuple[str, ...]
    """The URNs it waits for, sorted."""
    property_dependencies: Mapping[str, tuple[str, ...]]
    """The same by input, sorted."""
    protect: bool
    """Whether the engine refuses to delete it."""
    retain_on_delete: bool
    """Whether a delete leaves the thing itself standing."""
    deleted_with: str
    """The URN whose deletion takes it along; empty where it is deleted itself."""
    ignore_changes: tuple[str, ...]
    """The input paths whose changes are not taken up."""
    delete_before_replace: bool
    """Whether a replacement deletes first."""
    aliases: tuple[str, ...]
    """The names it went by: URNs, or what differs from today's."""
    secret_paths: frozenset[str]
    """The dotted paths of the inputs that are secret; list elements count from 0."""
    unknown_paths: frozenset[str]
    """The dotted paths of the inputs that a preview cannot know."""

    @property
    def is_provider(self) -> bool:
        """Whether it is an explicit provider."""
        return self.type.startswith(PROVIDER_TYPE)

    @property
    def shown(self) -> dict[str, Any]:
        """The inputs with every secret masked."""
        return {key: _masked(value, key, self.secret_paths) for key, value in self.inputs.items()}

    def to_data(self) -> dict[str, Any]:
        """Everything a reader may see, as plain data."""
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
    """Everything one stack file leads to."""

    stack: str
    """The stack's name."""
    resources: tuple[Planned, ...]
    """In the order in which the program declares them; the stack itself first."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """The stack's outputs, secrets masked."""
    verdicts: tuple[Verdict, ...] = ()
    """What was judged about the stack file on the way."""
    preview: bool = False
    """Whether it was recorded as a preview, with outputs unknown."""
    logged: tuple[str, ...] = ()
    """The warnings and errors that the program and the SDK logged."""

    def __iter__(self) -> Iterator[Planned]:
        return iter(self.resources)

    def __len__(self) -> int:
        return len(self.resources)

    @property
    def urns(self) -> tuple[str, ...]:
        """Every URN, in the order of declaration."""
        return tuple(resource.urn for resource in self.resources)

    def of(self, type_: str) -> tuple[Planned, ...]:
        """The resources of one type, for example `aws:eks/nodeGroup:NodeGroup`."""
        return tuple(resource for resource in self.resources if resource.type == type_)

    def one(self, type_: str, name: str) -> Planned:
        """The resource of this type and name; where there is none, the error says which names there are."""
        there = {resource.name: resource for resource in self.of(type_)}
        if name not in there:
            names = ", ".join(sorted(there)) or "none of that type"
            raise LookupError(f"no {type_} is called {name!r}; there is: {names}")
        return there[name]

    def to_data(self) -> dict[str, Any]:
        """The plan as plain data without a secret in it."""
        return {
            "format": 1,
            "stack": self.stack,
            "preview": self.preview,
            "resources": [resource.to_data() for resource in self.resources],
            "outputs": dict(self.outputs),
            "verdicts": [
                {
                    "check": verdict.check,
                    "level": str(verdict.level),
                    "subject": verdict.subject,
                    "reason": verdict.reason,
                    "fix": verdict.fix,
                    "chain": list(verdict.chain),
                }
                for verdict in self.verdicts
            ],
        }

    def to_json(self) -> bytes:
        """The plan as JSON: the same tree gives the same bytes on any machine and any day."""
        text = json.dumps(self.to_data(), indent=1, sort_keys=True, ensure_ascii=False)
        return text.encode() + b"\n"


def _masked(value: Any, path: str, secret_paths: frozenset[str]) -> Any:
    if path in secret_paths:
        return SECRET
    if isinstance(value, Mapping):
        return {key: _masked(item, f"{path}.{key}", secret_paths) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_masked(item, f"{path}.{index}", secret_paths) for index, item in enumerate(value)]
    return value
