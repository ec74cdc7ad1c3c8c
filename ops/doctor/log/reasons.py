"""Reasons in messages of clouds and controllers: what a check makes of a text that it has found.

`reasons.yaml` has them for each check, the more exact ones first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from gpu_ci.repository.documents import load_yaml


class Reason(BaseModel):
    """A reason with its meaning and its fix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: re.Pattern[str]
    """The pattern of a text with this reason."""
    meaning: str
    fix: str


_FILE: Final = Path(__file__).with_name("reasons.yaml")
REASONS: Final = TypeAdapter(dict[str, tuple[Reason, ...]]).validate_python(
    load_yaml(_FILE.read_text(encoding="utf-8"), _FILE.name)
)
"""The name of a check to the reasons that it knows."""


def reason_of(check: str, text: str) -> Reason | None:
    """Return the first reason of a check that a text has."""
    return next((one for one in REASONS[check] if one.pattern.search(text)), None)


def reasons_in(check: str, lines: Iterable[str]) -> Iterator[tuple[Reason, list[str]]]:
    """Yield each reason of a check that lines of a log have, with these lines."""
    listed = list(lines)
    for one in REASONS[check]:
        if found := [line for line in listed if one.pattern.search(line)]:
            yield one, found
