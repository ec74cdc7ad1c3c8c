"""Rules of exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.settings import Settings


def a_finding_has_one_exception(settings: Settings) -> Iterator[Fault]:
    """Reject a second exception for the same finding: its reason and its end would be ambiguous."""
    first: dict[tuple[str, str], str] = {}
    for name, one in settings.exceptions.items():
        if (other := first.setdefault((one.check, one.subject), name)) != name:
            yield Fault(f"exceptions.{name}", f"is for the same finding as exceptions.{other}", "remove one of the two")


RULES: Final[tuple[Rule, ...]] = (a_finding_has_one_exception,)
