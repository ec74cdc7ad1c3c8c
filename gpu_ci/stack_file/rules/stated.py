"""Validation of the sections: the valid parts become `Settings`, and the names of everything stated are kept.

A faulty entry must not hide faults elsewhere, so it is removed and the rules run over the rest. A rule that looks for a
name also gets `Stated`, because the name may be that of a removed entry.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_origin

from pydantic import ValidationError

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.reading import translate
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.sections.settings import Settings

if TYPE_CHECKING:
    from typing import Self

SECTIONS: Final = tuple(kebab(name) for name in Settings.model_fields)
"""Every section's name, as the stack file spells it."""
MAPS: Final = frozenset(
    kebab(name) for name, field in Settings.model_fields.items() if get_origin(field.annotation) is Mapping
)
"""Sections that are maps of named entries. A faulty entry is removed alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The names in a stack file, of valid parts and of faulty ones."""

    sections: frozenset[str]
    """The sections. A map without entries does not count."""
    entries: Mapping[str, frozenset[str]]
    """Section that is a map to the names of its entries."""
    secrets: frozenset[str]
    """The secrets that are set."""

    @classmethod
    def of(cls, raw: Mapping[str, Any], secrets: frozenset[str]) -> Self:
        """Return the names in the sections `raw`."""
        return cls(
            sections=frozenset(name for name, value in raw.items() if value or name not in MAPS),
            entries={name: frozenset(raw[name] if isinstance(raw.get(name), Mapping) else ()) for name in MAPS},
            secrets=secrets,
        )


Rule = Callable[[Settings], Iterator[Fault]]
"""A rule over the valid parts."""
Reference = Callable[[Settings, Stated], Iterator[Fault]]
"""A rule that finds a name, a section or a secret missing."""


def settle(raw: Mapping[str, Any]) -> tuple[Settings, list[Fault]]:
    """Validate the sections `raw`; return the valid parts and the faults of the rest."""
    found: list[Fault] = []
    remaining = copy.deepcopy(dict(raw))
    while True:
        try:
            # A key has one spelling only: kebab case.
            return Settings.model_validate_json(json.dumps(remaining), by_alias=True, by_name=False), found
        except ValidationError as error:
            found += [fault for fault in translate.faults(error, Settings) if fault not in found]
            details = error.errors(include_url=False)
            removed = [_prune(remaining, detail["loc"], detail["type"]) for detail in details]
            if not any(removed):
                raise


_PLACEHOLDERS: Final[Mapping[str, Any]] = {"stack": {"protect": False}}
"""Values of required sections that are missing or faulty, so that the rules can check the others."""


def _prune(sections: dict[str, Any], location: Sequence[int | str], kind: str) -> bool:
    """Remove the faulty part: an unknown key, an entry of a map, or a section. Return whether anything changed."""
    section = str(location[0])
    if kind == "extra_forbidden":
        *above, last = location
    else:
        *above, last = location[: 2 if section in MAPS else 1]
    inside: Any = sections
    for part in above:
        inside = inside.get(part, {}) if isinstance(inside, dict) else inside[part]
    removed = isinstance(inside, dict) and last in inside
    if removed:
        del inside[last]
    if section in _PLACEHOLDERS and section not in sections:
        sections[section] = _PLACEHOLDERS[section]
        return True
    return removed
