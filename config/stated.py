"""What a stack file states, before and after validation: the sound parts typed, and every name that stands in it.

One faulty value must not hide the faults elsewhere, nor make a sound reference look broken, nor be told of twice. So
rules ask three things: what was written; the same without the values that are wrong in themselves; and those parts that
are sound as a whole. References are held against all names stated, sound or not.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from config.section import kebab
from config.settings import Settings
from config.translate import faults as translated
from config.translate import keys_at

if TYPE_CHECKING:
    from config.faults import Fault

MAPS = ("gpu-pools", "ecr", "images", "artifact-registry", "gpu-tests", "runners")
"""Sections that are maps of named things: a faulty entry falls alone."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A stack file, as far as it is sound."""

    settings: Settings
    """The sound sections and entries; a faulty one is absent."""
    raw: Mapping[str, Any]
    """Every section as it was written."""
    own: Mapping[str, Any]
    """The same without what is wrong in itself: nothing stands where a value was, and unknown keys are gone."""
    secrets: frozenset[str]
    """The secrets that are set."""

    def has(self, section: str) -> bool:
        """Whether a section is stated, sound or not."""
        return bool(self.raw.get(section)) or (section in self.raw and section not in MAPS)

    def part(self, section: str, key: str | None = None) -> Mapping[str, Any]:
        """A map as it was written, empty where there is none: for rules that a fault beside them must not silence."""
        value = self.raw.get(section)
        if key is not None and isinstance(value, Mapping):
            value = value.get(key)
        return value if isinstance(value, Mapping) else {}

    def of(self, section: str) -> Mapping[str, Any]:
        """A section without the values that are wrong in themselves, empty where there is none."""
        return inner(self.own, section)

    def entries(self, section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The entries of a section that is a map of named things, without the values that are wrong in themselves."""
        return ((name, entry) for name, entry in self.of(section).items() if isinstance(entry, Mapping))

    def names(self, section: str) -> frozenset[str]:
        """The keys stated in a section that is a map, sound or not."""
        return frozenset(self.part(section))


def inner(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A map inside an entry, empty where there is none."""
    value = entry.get(key)
    return value if isinstance(value, Mapping) else {}


def listed_at(entry: Mapping[str, Any], key: str) -> list[tuple[int, Any]]:
    """What a list inside an entry holds, each with its place, without what is wrong in itself."""
    value = entry.get(key)
    return [(index, one) for index, one in enumerate(value if isinstance(value, list) else ()) if one is not None]


def settle(raw: Mapping[str, Any], secrets: frozenset[str]) -> tuple[Stated, list[Fault]]:
    """Validate `raw` and keep what is sound, together with the faults of the rest."""
    found: list[Fault] = []
    own, remaining = copy.deepcopy(dict(raw)), copy.deepcopy(dict(raw))
    while True:
        try:
            # A key is spelt in one way alone, or rules that look for it would miss the other.
            settings = Settings.model_validate_json(json.dumps(remaining), by_alias=True, by_name=False)
        except ValidationError as error:
            found += [fault for fault in translated(error, Settings) if fault not in found]
            details = error.errors(include_url=False)
            for detail in details:
                _blank(own, detail["loc"], detail["type"])
            removed = [_prune(remaining, detail["loc"], detail["type"]) for detail in details]
            if not any(removed):
                raise
            continue
        return Stated(settings=settings, raw=raw, own=own, secrets=secrets), found


_OF_A_WHOLE = ("missing", "too_short", "too_long")
"""What is wrong with a part although each value in it may be sound."""


def _blank(sections: dict[str, Any], location: tuple[int | str, ...], kind: str) -> None:
    """Leave nothing where a value is wrong in itself, so that no rule tells of it a second time."""
    *before, last = location
    is_key = last == "[key]"
    if is_key:
        *before, last = before
    # A named thing with a name that is none still has everything else that can be wrong with it.
    if kind in _OF_A_WHOLE or (is_key and len(before) == 1) or (kind == "value_error" and keys_at(Settings, location)):
        return
    parent = _found(sections, before)
    if isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        parent[last] = None
    elif isinstance(parent, dict) and last in parent:
        if is_key or kind == "extra_forbidden":
            del parent[last]
        else:
            parent[last] = None


def _prune(sections: dict[str, Any], location: tuple[int | str, ...], kind: str) -> bool:
    """Take out the smallest part at `location` that can be missed: an unknown key, an entry of a map, or a section."""
    if kind == "missing" and len(location) == 1:
        sections[str(location[0])] = _PLACEHOLDER.get(str(location[0]), {})
        return True
    if kind == "extra_forbidden":
        return _remove(sections, location)
    depth = 2 if location[0] in MAPS and len(location) > 1 else 1
    return _remove(sections, location[:depth])


_PLACEHOLDER: dict[str, Any] = {"stack": {"protect": False}}
"""Stand-ins for required sections that are missing, so that the others can still be judged."""


def _remove(sections: dict[str, Any], location: tuple[int | str, ...]) -> bool:
    inside = _found(sections, location[:-1])
    if isinstance(inside, dict) and location[-1] in inside:
        del inside[location[-1]]
        if location == ("stack",):
            sections.update(_PLACEHOLDER)
        return True
    return False


def _found(sections: dict[str, Any], location: Sequence[int | str]) -> Any:
    """What stands at a location; nothing where nothing can."""
    inside: Any = sections
    for part in location:
        try:
            inside = inside[part]
        except (KeyError, IndexError, TypeError):
            return None
    return inside


def section_names() -> list[str]:
    """Every section's name, as the stack file spells it."""
    return [kebab(name) for name in Settings.model_fields]
