"""The changes of a stack between two commits: what the engine would do, property by property.

The engine previews the program of this checkout over the state of the base. Its events state the operation, the changed
paths and the values, with secrets masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ops.engine.events import Step
from ops.engine.property_path import value_at
from ops.fakes.cloud.paths import UNKNOWN
from ops.fakes.kubernetes.arc import RELEASE
from ops.fakes.protocol.wire import SIGNATURE, UNKNOWN_MARK
from ops.plan.model import SECRET, STACK_TYPE
from ops.report.difference import MISSING, difference, leaves, readable, whole
from ops.report.meaning import Meaning, grants, meaning, opens

LATER: Final = "(known after the update)"
HIDDEN: Final = "(secret)"
_WORDS: Final = {SECRET: HIDDEN, UNKNOWN: LATER, UNKNOWN_MARK: LATER}
"""The words in place of the marks of the engine's events."""
_FEW: Final = 4
"""The largest number of values of one input that are shown one by one."""
_LONGEST: Final = 100
"""Letters of a value in one line."""


class Effect(StrEnum):
    """The effect of an update on a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    MOVE = "move"


ORDER: Final = (Effect.REPLACE, Effect.DELETE, Effect.UPDATE, Effect.CREATE, Effect.MOVE)
"""The effects from the one that needs most attention to the one that needs least."""
_OPERATIONS: Final = {
    "create": Effect.CREATE,
    "update": Effect.UPDATE,
    "replace": Effect.REPLACE,
    "delete": Effect.DELETE,
    "same": Effect.MOVE,
}
"""The engine's operations that a report shows. `same` is shown for a resource with another URN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One changed input."""

    path: str
    """As Pulumi writes it, for example `instanceTypes[0]`."""
    old: str | None
    """The value as text; None where there was none."""
    new: str | None
    """The value as text; None where there is none any more."""
    forces: bool
    """Whether this change replaces the resource."""
    lines: tuple[str, ...] = ()
    """The difference as lines that begin with `-`, `+` or a space; empty where old and new fit into one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One resource that an update would touch."""

    effect: Effect
    urn: str
    type: str
    properties: tuple[Property, ...] = ()
    inside: tuple[str, ...] = ()
    """The components that contain it, the outermost first, as `name Class`."""
    was: str = ""
    """The old URN of a moved resource."""
    meaning: Meaning | None = None
    """The consequence for running jobs and stored data; None where there is none."""

    @property
    def name(self) -> str:
        """The last part of the URN."""
        return self.urn.rpartition("::")[2]

    @property
    def follows(self) -> bool:
        """Return True if it is replaced only because another resource is.

        Then the value that forces it is not known yet, or its provider is the other resource.
        """
        forcing = [one for one in self.properties if one.forces] or self.properties
        replaced = self.meaning is None and self.effect is Effect.REPLACE
        return replaced and all(one.new == LATER for one in forcing)

    @property
    def access(self) -> bool:
        """Return True if it changes the access of a person, a program or an address."""
        if self.effect is Effect.MOVE or self.follows:
            return False
        return grants(self.type) or opens(self.type, [one.path for one in self.properties])

    @property
    def shown(self) -> tuple[Property, ...]:
        """The inputs that a short report shows: of a new or deleted resource, only those of one that grants access."""
        return self.properties if self.access or self.effect not in (Effect.CREATE, Effect.DELETE) else ()

    @property
    def kind(self) -> str:
        """The type in short, for example `eks/nodeGroup`."""
        package, _, rest = self.type.partition(":")
        module, _, noun = rest.rpartition(":")
        return f"{module.partition('/')[0]}/{noun[:1].lower()}{noun[1:]}" if module else f"{package}/{noun}"

    @property
    def component(self) -> bool:
        """Return True if it only groups other resources, whose changes are shown. A moved one is shown, too."""
        return self.type.startswith("gpu-ci:") and self.effect is not Effect.MOVE

    def to_data(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {
            "effect": self.effect.value,
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "inside": list(self.inside),
            "was": self.was,
            "access": self.access,
            "follows": self.follows,
            "properties": [
                {
                    "path": one.path,
                    "old": one.old,
                    "new": one.new,
                    "forces": one.forces,
                    "lines": list(one.lines),
                }
                for one in self.properties
            ],
            "meaning": self.meaning.to_data() if self.meaning else None,
        }


def changes(steps: Iterable[Step]) -> tuple[Change, ...]:
    """Return the changes of a preview: replacements and deletions first, then by type and name."""
    steps = tuple(steps)
    parents = {step.urn: step.parent for step in steps}
    found = [change for step in steps if (change := _change(step, parents)) is not None]
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.effect), one.component, one.type, one.urn)))


def _inside(urn: str, parents: Mapping[str, str]) -> tuple[str, ...]:
    """Return the components that contain a resource, without the stack."""
    parent = parents.get(urn, "")
    types, _, name = parent.rpartition("::")
    class_ = types.rpartition("$")[2].rpartition(":")[2]
    return (*_inside(parent, parents), f"{name} {class_}") if parent and not types.endswith(STACK_TYPE) else ()


def _change(step: Step, parents: Mapping[str, str]) -> Change | None:
    effect = _OPERATIONS.get(step.op)
    if effect is None or step.type == STACK_TYPE:
        return None
    moved = bool(step.was) and step.was != step.urn
    if effect is Effect.MOVE and not moved:
        return None
    properties = tuple(_properties(effect, step))
    if effect is Effect.UPDATE and not properties:
        # The engine reports a component whose children change as an update.
        return None
    return Change(
        effect=effect,
        urn=step.urn,
        type=step.type,
        properties=properties,
        inside=_inside(step.urn, parents),
        was=step.was if moved else "",
        meaning=meaning(effect.value, step.type, step.old or step.new, [one.path for one in properties]),
    )


def _properties(effect: Effect, step: Step) -> Iterator[Property]:
    """Yield the changed inputs; every input of a new or deleted resource."""
    old, new = _masked(step.old), _masked(step.new)
    if effect in (Effect.CREATE, Effect.DELETE):
        for path in sorted({*old, *new} - {"__defaults"}):
            yield _property(path, readable(old.get(path, MISSING)), readable(new.get(path, MISSING)), forces=False)
        return
    paths = {path: kind.endswith("-replace") for path, kind in sorted(step.changed.items())}
    if step.type == RELEASE:
        # The values of a chart are compared as a whole: their lists are keyed by name.
        paths = {path.partition(".")[0].partition("[")[0]: False for path in paths} | {
            path: forces for path, forces in paths.items() if forces
        }
    for path, forces in paths.items():
        before, after = (value_at(path, inputs, marks=(HIDDEN, LATER), missing=MISSING) for inputs in (old, new))
        yield from _changed(path, before, after, forces=forces)


def _changed(path: str, old: Any, new: Any, *, forces: bool) -> Iterator[Property]:
    """Yield one changed input: a few short values one by one, and others together as lines."""
    before, after = readable(old), readable(new)
    found = list(leaves(path, before, after))
    if found and len(found) <= _FEW and all(_short(one) and _short(other) for _, one, other in found):
        yield from (_property(inner, one, other, forces=forces) for inner, one, other in found)
    elif found:
        lines = tuple(difference(before, after))
        yield Property(path=path, old=_text(before), new=_text(after), forces=forces, lines=lines)
    else:
        # The same content in another form, for example JSON text with other spaces.
        yield _property(path, old, new, forces=forces)


def _property(path: str, old: Any, new: Any, *, forces: bool) -> Property:
    """Return one input as a whole; with lines if it does not fit into one."""
    lines: tuple[str, ...] = ()
    if not (_short(old) and _short(new)):
        parts = (("-", old), ("+", new))
        lines = tuple(f"{sign}{line}" for sign, value in parts if value is not MISSING for line in whole(value))
    return Property(path=path, old=_text(old), new=_text(new), forces=forces, lines=lines)


def _short(value: Any) -> bool:
    text = _text(value) or ""
    return len(text) <= _LONGEST and "\n" not in text


def _masked(value: Any) -> Any:
    """Return inputs with words instead of secrets and unknown values. A secret is also an object with a mark."""
    if isinstance(value, Mapping):
        return HIDDEN if SIGNATURE in value else {key: _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _text(value: object) -> str | None:
    """Return a value as text for people."""
    if value is MISSING:
        return None
    return _plain(value)


def _plain(value: object) -> str:
    """Return a known value as text: maps and lists as YAML writes them in one line."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case "":
            return '""'
        case dict():
            return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in sorted(value.items())) + "}"
        case list():
            return "[" + ", ".join(str(_text(item)) for item in value) + "]"
        case _:
            return str(value)
