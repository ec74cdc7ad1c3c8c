"""The types of rules: over the valid settings, and over the names of everything that a stack file states.

A faulty entry must not hide faults elsewhere, so it is removed and the rules run over the rest. A rule that looks for a
name also gets `Stated`, because the name may be that of a removed entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, get_origin

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.sections.settings import Settings

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """The language of a stack file: its types, and the rules over them."""

    settings: type[Settings]
    rules: tuple[Rule, ...]
    references: tuple[Reference, ...]

    def broken(self, settings: Settings, stated: Stated) -> list[Fault]:
        """Return every fault that a rule finds."""
        found = [fault for rule in self.rules for fault in rule(settings)]
        return found + [fault for rule in self.references for fault in rule(settings, stated)]
