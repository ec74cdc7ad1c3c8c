"""The comparison of a recorded plan with the engine: both must have the same registrations.

Not compared are aliases, which the engine resolves; in a preview `retain_on_delete` and `deleted_with`, which a saved
plan does not contain; after an update `delete_before_replace`, which the state does not contain. Values of secrets are
never printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ops.engine.state import State
from ops.fakes.protocol.wire import SIGNATURE
from ops.plan.model import SECRET, Plan, Planned

_OF_BOTH: Final = (
    "type",
    "name",
    "custom",
    "parent",
    "provider",
    "dependencies",
    "property_dependencies",
    "protect",
    "ignore_changes",
)
_OF_A_PREVIEW: Final = (*_OF_BOTH, "delete_before_replace")
_OF_A_STATE: Final = (*_OF_BOTH, "retain_on_delete", "deleted_with")
_NOTHING: Final = "nothing"
_ASSET_HASH: Final = "hash"
"""The hash that the engine adds to a file or an archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between plan and engine."""

    urn: str
    path: str
    """The property or the resource option; empty if one side lacks the resource."""
    planned: str
    engine: str

    def __str__(self) -> str:
        """Return the difference in one line."""
        where = f"{self.urn} {self.path}".rstrip()
        return f"{where}: the plan has {self.planned}, the engine has {self.engine}"


def from_preview(plan: Plan, goals: Mapping[str, Planned]) -> tuple[Difference, ...]:
    """Return the differences of a plan recorded as a preview from the engine's first preview."""
    return tuple(_differences(plan, goals, _OF_A_PREVIEW))


def from_state(plan: Plan, state: State) -> tuple[Difference, ...]:
    """Return the differences of a plan from the state after the update, including the stack's outputs."""
    root = plan.resources[0].urn if plan.resources else ""
    outputs = _values(root, "outputs", dict(plan.outputs), dict(state.outputs), frozenset())
    return (*_differences(plan, state.resources, _OF_A_STATE), *outputs)


def _differences(plan: Plan, engine: Mapping[str, Planned], options: Sequence[str]) -> Iterator[Difference]:
    planned = {resource.urn: resource for resource in plan}
    for urn in plan.urns:
        if urn not in engine:
            yield Difference(urn=urn, path="", planned="the resource", engine=_NOTHING)
    for urn, actual in engine.items():
        if urn not in planned:
            yield Difference(urn=urn, path="", planned=_NOTHING, engine="the resource")
        else:
            yield from _resource(planned[urn], actual, options)


def _resource(planned: Planned, actual: Planned, options: Sequence[str]) -> Iterator[Difference]:
    urn = planned.urn
    for option in options:
        ours, theirs = getattr(planned, option), getattr(actual, option)
        if option == "property_dependencies":
            ours, theirs = _non_empty(ours), _non_empty(theirs)
        if ours != theirs:
            yield Difference(urn=urn, path=option, planned=_shown(ours), engine=_shown(theirs))
    both = planned.secret_paths & actual.secret_paths
    for path in sorted(planned.secret_paths ^ actual.secret_paths):
        if not _inside(path, both):
            ours, theirs = ("a secret", "plain text") if path in planned.secret_paths else ("plain text", "a secret")
            yield Difference(urn=urn, path=path, planned=ours, engine=theirs)
    for path in sorted(planned.unknown_paths ^ actual.unknown_paths):
        if not _inside(path, both):
            ours, theirs = ("unknown", "known") if path in planned.unknown_paths else ("known", "unknown")
            yield Difference(urn=urn, path=path, planned=ours, engine=theirs)
    unknown = planned.unknown_paths ^ actual.unknown_paths
    secret = planned.secret_paths | actual.secret_paths
    for difference in _values(urn, "", planned.inputs, actual.inputs, secret):
        if difference.path not in unknown:
            yield difference


def _values(urn: str, path: str, ours: Any, theirs: Any, secret: frozenset[str]) -> Iterator[Difference]:
    if path in secret:
        # An encrypted secret cannot be compared.
        if SECRET not in (ours, theirs) and ours != theirs:
            yield Difference(urn=urn, path=path, planned="one secret", engine="another secret")
    elif isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in sorted({*ours, *theirs}):
            inner = f"{path}.{key}" if path else key
            if key in ours and key in theirs:
                yield from _values(urn, inner, ours[key], theirs[key], secret)
            elif key != _ASSET_HASH or SIGNATURE not in ours:
                value = _visible(ours.get(key), inner, secret)
                yield Difference(
                    urn=urn,
                    path=inner,
                    planned=value if key in ours else _NOTHING,
                    engine=_NOTHING if key in ours else _visible(theirs[key], inner, secret),
                )
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _values(urn, f"{path}.{index}", mine, other, secret)
    elif ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
        yield Difference(urn=urn, path=path, planned=_shown(ours), engine=_shown(theirs))


def _visible(value: Any, path: str, secret: frozenset[str]) -> str:
    hidden = any(one == path or one.startswith(f"{path}.") for one in secret)
    return "a secret" if hidden else _shown(value)


def _non_empty(dependencies: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Drop the properties without dependencies, which the engine may omit."""
    return {key: urns for key, urns in dependencies.items() if urns}


def _inside(path: str, paths: frozenset[str]) -> bool:
    return any(path.startswith(f"{one}.") for one in paths)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}…"
