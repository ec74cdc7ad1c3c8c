"""Validation of the sections: a faulty part is removed, and the valid parts become `Settings`."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.reading import translate
from gpu_ci.stack_file.rules.stated import MAPS
from gpu_ci.stack_file.sections.settings import Settings


def settle(raw: Mapping[str, Any], kind: type[Settings]) -> tuple[Settings, list[Fault]]:
    """Validate the sections `raw` as settings of this kind; return the valid parts and the faults of the rest."""
    found: list[Fault] = []
    remaining = copy.deepcopy(dict(raw))
    while True:
        try:
            # A key has one spelling only: kebab case.
            return kind.model_validate_json(json.dumps(remaining), by_alias=True, by_name=False), found
        except ValidationError as error:
            found += [fault for fault in translate.faults(error, kind) if fault not in found]
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
