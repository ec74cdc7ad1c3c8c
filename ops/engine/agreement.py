"""The law that plan and engine agree: what the recorder took down is what the engine was told.

Owns the comparison and its few stated limits; both sides come in the shapes of `ops.plan.model`. Nothing secret is ever
told: of a secret that differs, only that it does.

What is not compared, and why: aliases, which the engine resolves to URNs of its own; in a preview `retain_on_delete`
and `deleted_with`, which a saved plan leaves out, and after an update `delete_before_replace`, which the state leaves
out. The other of the two has each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fakes.wire import SIGNATURE
from ops.plan.model import SECRET, Plan, Planned

if TYPE_CHECKING:
    from ops.engine.state import State

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
"""What the engine works out for a file or an archive, beside what the program said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing in which plan and engine do not agree."""

    urn: str
    path: str
    """Which property, or which option of the resource; empty where one side has no such resource."""
    planned: str
    """What the plan says."""
    engine: str
    """What the engine says."""

    def __str__(self) -> str:
        """The difference in one line."""
        where = f"{self.urn} {self.path}".rstrip()
        return f"{where}: the plan has {self.planned}, the engine has {self.engine}"


def with_preview(plan: Plan, goals: Mapping[str, Planned]) -> tuple[Difference, ...]:
    """In what a plan recorded as a preview differs from what the engine's first preview took down."""
    return tuple(_differences(plan, goals, _OF_A_PREVIEW))


def with_state(plan: Plan, state: State) -> tuple[Difference, ...]:
    """In what a plan differs from what the engine wrote down after making all of it, the stack's outputs included."""
    root = plan.resources[0].urn if plan.resources else ""
    outputs = _values(root, "outputs", dict(plan.outputs), dict(state.outputs), frozenset())
    return (*_differences(plan, state.resources, _OF_A_STATE), *outputs)


def _differences(plan: Plan, engine: Mapping[str, Planned], options: Sequence[str]) -> Iterator[Difference]:
    planned = {resource.urn: resource for resource in plan}
    for urn in plan.urns:
        if urn not in engine:
            yield Difference(urn=urn, path="", planned="it", engine=_NOTHING)
    for urn, told in engine.items():
        if urn not in planned:
            yield Difference(urn=urn, path="", planned=_NOTHING, engine="it")
        else:
            yield from _resource(planned[urn], told, options)


def _resource(planned: Planned, told: Planned, options: Sequence[str]) -> Iterator[Difference]:
    urn = planned.urn
    for option in options:
        ours, theirs = getattr(planned, option), getattr(told, option)
        if option == "property_dependencies":
            ours, theirs = _stated(ours), _stated(theirs)
        if ours != theirs:
            yield Difference(urn=urn, path=option, planned=_shown(ours), engine=_shown(theirs))
    both = planned.secret_paths & told.secret_paths
    for path in sorted(planned.secret_paths ^ told.secret_paths):
        if not _inside(path, both):
            ours, theirs = ("a secret", "plain text") if path in planned.secret_paths else ("plain text", "a secret")
            yield Difference(urn=urn, path=path, planned=ours, engine=theirs)
    for path in sorted(planned.unknown_paths ^ told.unknown_paths):
        if not _inside(path, both):
            ours, theirs = ("unknown", "known") if path in planned.unknown_paths else ("known", "unknown")
            yield Difference(urn=urn, path=path, planned=ours, engine=theirs)
    told_of = planned.unknown_paths ^ told.unknown_paths
    secret = planned.secret_paths | told.secret_paths
    for difference in _values(urn, "", planned.inputs, told.inputs, secret):
        if difference.path not in told_of:
            yield difference


def _values(urn: str, path: str, ours: Any, theirs: Any, secret: frozenset[str]) -> Iterator[Difference]:
    if path in secret:
        # An encrypted secret cannot be read; a decrypted one is compared, and told as little.
        if SECRET not in (ours, theirs) and ours != theirs:
            yield Difference(urn=urn, path=path, planned="one secret", engine="another secret")
    elif isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in sorted({*ours, *theirs}):
            inner = f"{path}.{key}" if path else key
            if key in ours and key in theirs:
                yield from _values(urn, inner, ours[key], theirs[key], secret)
            elif key != _ASSET_HASH or SIGNATURE not in ours:
                there, lacking = _there(ours.get(key), inner, secret), _NOTHING
                yield Difference(
                    urn=urn,
                    path=inner,
                    planned=there if key in ours else lacking,
                    engine=lacking if key in ours else _there(theirs[key], inner, secret),
                )
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _values(urn, f"{path}.{index}", mine, other, secret)
    elif ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
        yield Difference(urn=urn, path=path, planned=_shown(ours), engine=_shown(theirs))


def _there(value: Any, path: str, secret: frozenset[str]) -> str:
    hidden = any(one == path or one.startswith(f"{path}.") for one in secret)
    return "a secret" if hidden else _shown(value)


def _stated(dependencies: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Without the properties that depend on nothing, which one side lists and the other may not."""
    return {key: urns for key, urns in dependencies.items() if urns}


def _inside(path: str, paths: frozenset[str]) -> bool:
    return any(path.startswith(f"{one}.") for one in paths)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}…"
