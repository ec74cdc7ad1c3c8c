"""What changed between two property bags, path by path, as the engine's protocol wants it told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fakes.kinds import Kind


class Turn(StrEnum):
    """What became of a property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One property that changed."""

    path: str
    """As Pulumi writes paths: `taints[0].effect`, `tags["a.b"]`."""
    names: tuple[str, ...]
    """The same without list positions."""
    turn: Turn
    replaces: bool
    """Whether it makes a new thing of the old."""


def changes(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every property in which `new` differs from `old`; a value not known yet differs from any that is."""
    wanted = [tuple(path.split(".")) for path in kind.replaced_by]
    return [
        Change(path=path, names=names, turn=turn, replaces=any(names[: len(one)] == one for one in wanted))
        for path, names, turn in _walk(dict(old), dict(new), "", ())
    ]


def deletes_first(kind: Kind, found: list[Change], inputs: Mapping[str, Any]) -> bool:
    """Whether the provider asks for the old one to go first: where the name is stated, and stays what it was."""
    if not kind.delete_first or not any(change.replaces for change in found):
        return False
    names = tuple(kind.delete_first.split("."))
    value: Any = inputs
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value is not None and not any(change.names == names for change in found)


def _walk(old: Any, new: Any, path: str, names: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], Turn]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            inner = _join(path, key)
            if key not in new:
                yield inner, (*names, key), Turn.DELETE
            elif key not in old:
                yield inner, (*names, key), Turn.ADD
            else:
                yield from _walk(old[key], new[key], inner, (*names, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            inner = f"{path}[{index}]"
            if index >= len(new):
                yield inner, names, Turn.DELETE
            elif index >= len(old):
                yield inner, names, Turn.ADD
            else:
                yield from _walk(old[index], new[index], inner, names)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, names, Turn.UPDATE


def _join(path: str, key: str) -> str:
    plain = key.replace("_", "").replace("-", "").isalnum()
    if not path:
        return key if plain else f'["{key}"]'
    return f"{path}.{key}" if plain else f'{path}["{key}"]'
