"""The catalogue of mistakes in a stack file. `catalogue/` has them, a chapter in each file.

Each mistake is a change that is merged into `tests/stacks/staging.yaml`, map by map. Exactly one line of the output has
the path and the words of the mistake. If the change causes other problems too, their paths are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ops.outcome import Exit
from tests.tables import OUT, load

CHAPTERS: Final = (
    "exceptions",
    "names",
    "writing",
    "wholes",
    "errors",
    "warnings",
    "compatibility",
    "places-and-times",
    "domains",
    "networks",
    "machine-images",
    "jarvis-labs",
    "google-machines",
    "checks-of-machines",
    "ec2-machines",
    "started",
    "cpu-runners",
    "existing",
)
"""The names of the files, in the order of their mistakes."""
PARAMETER: Final = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
"""The SSM parameter of the AWS images for GPUs: driver R595 with open kernel modules."""


class Severity(StrEnum):
    """The kind of line that reports a mistake."""

    FAULT = "fault"
    """The stack file is refused when it is read."""
    ERROR = "error"
    """It cannot work."""
    RULE = "rule"
    """A resource of the plan violates a policy rule."""
    WARNING = "warning"
    """It works, but may surprise."""

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        return {Severity.FAULT: Exit.WRONG, Severity.WARNING: Exit.GOOD}.get(self, Exit.FINDING)


class Mistake(BaseModel):
    """One mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    change: Mapping[str, Any]
    """The change to the sections of the stack file."""
    level: Severity = Severity.FAULT
    path: str
    """The path in the line."""
    words: tuple[str, ...]
    """Parts of the line, above all of the fix."""
    check: str = ""
    """The check that reports it; empty if the stack file is refused when it is read."""
    also_at: tuple[str, ...] = Field(default=(), alias="also-at")
    """The paths of other problems that the same change causes."""


def merge(below: Any, above: Any) -> Any:
    """Return `below` with a change merged into it, map by map."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    kept = {key: value for key, value in below.items() if above.get(key) is not OUT}
    changed = {key: merge(below.get(key, {}), value) for key, value in above.items() if value is not OUT}
    return {**kept, **changed}


def _chapter(name: str) -> tuple[Mistake, ...]:
    """Return the mistakes of a file."""
    return TypeAdapter(tuple[Mistake, ...]).validate_python(load(Path(__file__).with_suffix("") / f"{name}.yaml"))


MISTAKES: Final = tuple(mistake for name in CHAPTERS for mistake in _chapter(name))
