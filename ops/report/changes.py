"""The changes of a stack between two commits: what the engine would do, property by property.

The engine previews the program of this checkout over the state of the base. Its events state the operation, the changed
paths and the values, with secrets masked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from fakes.wire import SIGNATURE, UNKNOWN, UNKNOWN_MARK
from ops.plan.model import SECRET, STACK_TYPE
from ops.report.meaning import Meaning, grants, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ops.engine.events import Step

LATER: Final = "(known after the update)"
HIDDEN: Final = "(secret)"
_STEP: Final = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_PLAIN: Final = re.compile(r"[\w-]+")
_MISSING: Final = object()
RELEASE: Final = "kubernetes:helm.sh/v3:Release"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One resource that an update would touch."""

    effect: Effect
    urn: str
    type: str
    properties: tuple[Property, ...] = ()
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
        """Return True if it is replaced only because another resource is: the value that forces it is not known yet."""
        forcing = [one for one in self.properties if one.forces]
        known = self.meaning is None and self.effect is Effect.REPLACE and bool(forcing)
        return known and all(one.new == LATER for one in forcing)

    @property
    def kind(self) -> str:
        """The type in short, for example `eks/nodeGroup`."""
        package, _, rest = self.type.partition(":")
        module, _, noun = rest.rpartition(":")
        return f"{module.partition('/')[0]}/{noun[:1].lower()}{noun[1:]}" if module else f"{package}/{noun}"

    @property
    def component(self) -> bool:
        """Return True if it only groups other resources."""
        return self.type.startswith("gpu-ci:")

    def to_data(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {
            "effect": self.effect.value,
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "was": self.was,
            "properties": [
                {"path": one.path, "old": one.old, "new": one.new, "forces": one.forces} for one in self.properties
            ],
            "meaning": self.meaning.to_data() if self.meaning else None,
        }


def changes(steps: Iterable[Step]) -> tuple[Change, ...]:
    """Return the changes of a preview: replacements and deletions first, then by type and name."""
    found = [change for step in steps if (change := _change(step)) is not None]
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.effect), one.component, one.type, one.urn)))


def _change(step: Step) -> Change | None:
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
        was=step.was if moved else "",
        meaning=meaning(effect.value, step.type, step.old or step.new, [one.path for one in properties]),
    )


def _properties(effect: Effect, step: Step) -> Iterator[Property]:
    """Yield the changed inputs; every input of a new or deleted resource that grants access."""
    if effect in (Effect.UPDATE, Effect.REPLACE):
        paths = {path: kind.endswith("-replace") for path, kind in sorted(step.changed.items())}
        if step.type == RELEASE:
            # The values of a chart are compared as a whole: their lists are keyed by name.
            paths = {path.partition(".")[0].partition("[")[0]: False for path in paths} | {
                path: forces for path, forces in paths.items() if forces
            }
    elif effect in (Effect.CREATE, Effect.DELETE) and grants(step.type):
        paths = dict.fromkeys(sorted({*step.old, *step.new} - {"__defaults"}), False)
    else:
        return
    old, new = _masked(step.old), _masked(step.new)
    for path, forces in paths.items():
        for inner, before, after in _inside(path, _opened(_at(path, old)), _opened(_at(path, new))):
            yield Property(path=inner, old=_text(before), new=_text(after), forces=forces)


def _opened(value: object) -> object:
    """Return the content of text that is a JSON object; other values as they are."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


def _inside(path: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    """Yield the paths and values that differ between two objects, or the two values themselves."""
    before, after = _members(old), _members(new)
    if before is None or after is None:
        yield path, old, new
        return
    for key in sorted({*before, *after}):
        if before.get(key, _MISSING) != after.get(key, _MISSING):
            yield from _inside(f"{path}{key}", before.get(key, _MISSING), after.get(key, _MISSING))


def _members(value: object) -> dict[str, object] | None:
    """Return the members of a map, or of a list whose items have names, by the end of their paths."""
    if isinstance(value, dict):
        return {f".{key}" if _PLAIN.fullmatch(str(key)) else f'["{key}"]': item for key, item in value.items()}
    if isinstance(value, list):
        names = [item.get("name") if isinstance(item, dict) else None for item in value]
        if names and None not in names and len(set(names)) == len(names):
            return {f"[{name}]": item for name, item in zip(names, value, strict=True)}
    return None


def _masked(value: Any) -> Any:
    """Return inputs with a word instead of every secret, which the engine's events contain as an object with a mark."""
    if isinstance(value, Mapping):
        return SECRET if SIGNATURE in value else {key: _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


def _at(path: str, inputs: Any) -> object:
    """Return the value at a path; text that contains JSON is not opened."""
    value = inputs
    for quoted, index, plain in _STEP.findall(path):
        key = quoted.replace('\\"', '"') or plain
        if index:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else _MISSING
        elif isinstance(value, dict) and key in value:
            value = value[key]
        elif value in (SECRET, UNKNOWN, UNKNOWN_MARK):
            # The whole value above is hidden or unknown.
            return value
        else:
            return _MISSING
    return value


def _text(value: object) -> str | None:
    """Return a value as text for people."""
    if value is _MISSING:
        return None
    if value == SECRET:
        return HIDDEN
    if value in (UNKNOWN, UNKNOWN_MARK):
        return LATER
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
