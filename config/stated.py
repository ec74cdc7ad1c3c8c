"""What a stack file states, before and after validation: the sound parts typed, and every name that stands in it.

One faulty value must not hide the faults elsewhere, nor make a sound reference look broken: so the sound parts are
validated even where others are not, while references are held against all names stated, sound or not.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from config.section import kebab
from config.settings import Settings
from config.translate import faults as translated

if TYPE_CHECKING:
    from config.faults import Fault

MAPS = ("gpu-pools", "ecr", "images", "artifact-registry", "runners")
"""Sections that are maps of named things: a faulty entry falls alone."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A stack file, as far as it is sound."""

    settings: Settings
    """The sound sections and entries; a faulty one is absent."""
    raw: Mapping[str, Any]
    """Every section as it was written."""
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

    def names(self, section: str) -> frozenset[str]:
        """The keys stated in a section that is a map, sound or not."""
        return frozenset(self.part(section))


def settle(raw: Mapping[str, Any], secrets: frozenset[str]) -> tuple[Stated, list[Fault]]:
    """Validate `raw` and keep what is sound, together with the faults of the rest."""
    found: list[Fault] = []
    remaining = copy.deepcopy(dict(raw))
    while True:
        try:
            settings = Settings.model_validate_json(json.dumps(remaining))
        except ValidationError as error:
            found += [fault for fault in translated(error, Settings) if fault not in found]
            removed = [_prune(remaining, detail["loc"], detail["type"]) for detail in error.errors(include_url=False)]
            if not any(removed):
                raise
            continue
        return Stated(settings=settings, raw=raw, secrets=secrets), found


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
    inside: Any = sections
    for part in location[:-1]:
        try:
            inside = inside[part]
        except (KeyError, IndexError, TypeError):
            return False
    if isinstance(inside, dict) and location[-1] in inside:
        del inside[location[-1]]
        if location == ("stack",):
            sections.update(_PLACEHOLDER)
        return True
    return False


def section_names() -> list[str]:
    """Every section's name, as the stack file spells it."""
    return [kebab(name) for name in Settings.model_fields]
