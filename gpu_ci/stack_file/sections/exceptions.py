"""The section of exceptions: findings of checks and policy rules that are allowed until a day."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Invalid, Matching

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_QUOTED: Final = 'write it in quotes, as in "2026-12-31"'


def _day(value: object) -> date:
    """Accept a day as text. Pulumi changes a date without quotes to a time."""
    if not isinstance(value, str):
        raise Invalid("it is not a day", _QUOTED)
    if _DAY.fullmatch(value) is None:
        begins = _DAY.match(value)
        raise Invalid(f'"{value}" is not a day', f'write it in quotes: "{begins[0]}"' if begins else _QUOTED)
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Invalid(f'"{value}" is not in the calendar', "write a day that exists") from None


Day = Annotated[
    date, BeforeValidator(_day), WithJsonSchema({"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})
]
Reason = Annotated[
    str, Matching(r"\S.{8,298}\S", "a reason", "write 10 to 300 characters: why this is acceptable until then")
]


class ExceptionSettings(Section):
    """A finding that is allowed until a day. An exception after its last day is an error."""

    check: Annotated[str, Field(min_length=1, max_length=60)]
    """The check or the policy rule that reports the finding, for example `image-pin`."""
    subject: Annotated[str, Field(min_length=1, max_length=300)]
    """The subject of the finding, exactly as the plan prints it: `runners.gpu-t4`, or `Cluster cluster` for a resource.
    """
    reason: Reason
    """The reason why the finding is acceptable, in 10 to 300 characters."""
    until: Day
    """The last day on which the finding is allowed (UTC), in quotes: `"2026-12-31"`. At most a year ahead."""
