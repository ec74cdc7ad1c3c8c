"""Value types of GitHub: addresses, ids, names and the times of scheduled workflows."""

from __future__ import annotations

import re
from calendar import monthrange
from typing import Annotated, Final

from pydantic import AfterValidator, Field, WithJsonSchema

from gpu_ci.stack_file.values.general import Invalid, Matching

INVISIBLE: Final = r"\x00-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060\ufeff"
"""Control characters, and spaces that look like others or like nothing, as part of a class of signs."""
OWNER: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
REPOSITORY: Final = r"(?!\.\.?(/|$))(?!.*\.git$)[A-Za-z0-9._-]{1,100}"
_HOST: Final = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+"
_PAGES: Final = r"(enterprises|organizations|orgs|settings|apps|users|login)"
"""The first part of addresses that are pages of GitHub, not owners."""

GitHubUrl = Annotated[
    str,
    Matching(
        rf"https://(?!(www|api)\.github\.com/){_HOST}"
        rf"/(enterprises/[A-Za-z0-9_-]{{1,60}}|(?!{_PAGES}(/|$)){OWNER}(/{REPOSITORY})?)",
        "a GitHub address",
        "write https://github.com/ORGANISATION or https://github.com/OWNER/REPOSITORY",
    ),
]
GitHubId = Annotated[int, Field(ge=1, le=10**12)]
"""A number that GitHub gives to an owner, a repository, an App or an installation."""
RunnerGroup = Annotated[
    str,
    Field(max_length=255),
    Matching(
        rf"(?!\s)(?!.*\s$)[^{INVISIBLE}]+",
        "the name of a runner group",
        "write the name as GitHub shows it, without spaces around it",
    ),
]
Repository = Annotated[
    str,
    Field(max_length=100),
    Matching(REPOSITORY, "a repository's name", "write it without its owner, as in vision"),
]
"""A repository of the organisation, as GitHub spells it."""
FullName = Annotated[
    str,
    Matching(rf"{OWNER}/{REPOSITORY}", "a repository with its owner", "write OWNER/NAME, as in acme/gpu-infra"),
]
"""A repository with its owner."""
EnvironmentName = Annotated[
    str,
    Field(max_length=255),
    Matching(
        r"[A-Za-z0-9_][A-Za-z0-9_.-]*",
        "an environment that a subject of OpenID Connect contains unchanged",
        "use letters, digits and _.-",
    ),
]
"""An environment of a repository. GitHub encodes other signs in the subject of a token."""
Who = Annotated[
    str,
    Field(max_length=100),
    Matching(r"[A-Za-z0-9][A-Za-z0-9_-]*", "a GitHub name", "write the team, role or user as GitHub spells it"),
]
"""A team or a role, as GitHub spells it."""
Login = Annotated[str, Matching(OWNER, "a GitHub user", "write the user's name without @, as in octocat")]
Branch = Annotated[
    str,
    Field(max_length=200),
    Matching(
        r"(?!refs/)(?!HEAD$)(?!.*(\.\.|//|/\.|\.lock(/|$)|[./]$))[A-Za-z0-9_][A-Za-z0-9._/-]*",
        "a branch",
        "write its name alone, as in main",
    ),
]
"""A branch that Git accepts (git-check-ref-format), without the signs that workflows and IAM would have to quote."""

GITHUB_LABELS: Final = frozenset({"self-hosted", "linux", "windows", "macos", "x64", "x86", "arm", "arm64"})
"""Labels of self-hosted runners (GitHub documentation, "Using labels with self-hosted runners", 2026)."""
GITHUB_IMAGES: Final = re.compile(r"(ubuntu|windows|macos)-(latest|slim|vs\d{4}|\d{2}(\d\d)?(\.\d\d)?)(-.*)?")
"""Labels of GitHub's own machines, as in `ubuntu-24.04-arm` (GitHub documentation, "GitHub-hosted runners", 2026)."""

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_FIELDS: Final = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_PART: Final = re.compile(
    r"(?:\*|(\d{1,2}|[A-Z]{3})(?:-(\d{1,2}|[A-Z]{3}))?)(?:/([1-9]\d?))?", re.ASCII | re.IGNORECASE
)
_LEAP_YEAR: Final = 2028
_CRON_FIX: Final = 'write five fields of cron, as in "17 3 * * *" or "17 3 * * MON-FRI"'

CRON: Final = r"[\dA-Za-z*/,-]+( +[\dA-Za-z*/,-]+){4}"
"""The shape of a time in five fields."""


def _cron(value: str) -> str:
    """Accept a time of a scheduled workflow that occurs.

    Syntax: GitHub's page "Events that trigger workflows", 2026: no seconds, no names such as @daily, Sunday is 0 or 7.
    """
    if re.fullmatch(CRON, value, re.ASCII) is None:
        raise Invalid(f'"{value}" is not a time', _CRON_FIX)
    _, _, days, months, _ = cron_numbers(value)
    longest = max(monthrange(_LEAP_YEAR, month)[1] for month in months)
    # A stated day of the week counts in addition to the day of the month.
    if min(days) > longest and value.rsplit(maxsplit=1)[-1].startswith("*"):
        raise Invalid(f'"{value}" never occurs: its months have at most {longest} days', "write another day or month")
    return value


def cron_numbers(value: str) -> list[set[int]]:
    """Return the minutes, hours, days of the month, months and days of the week of a time."""
    return [_numbers(text, *field) for text, field in zip(value.split(), _FIELDS, strict=True)]


def _numbers(text: str, title: str, least: int, most: int, names: tuple[str, ...]) -> set[int]:
    """Return the numbers of one field."""
    known = {name: number for number, name in enumerate(names, start=least)}
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        ends = [known.get(end.upper(), end) for end in match.groups()[:2] if end] if match else []
        numbers = [int(end) for end in ends if str(end).isdecimal()]
        if match is None or len(numbers) < len(ends) or any(not least <= number <= most for number in numbers):
            raise Invalid(f'"{text}" is not a {title}', f"write {least} to {most}; {_CRON_FIX}")
        first, last, step = numbers[0] if numbers else least, numbers[-1] if numbers else most, int(match[3] or 1)
        if first > last:
            raise Invalid(f'"{text}" is not a {title}: {part} ends before it begins', _CRON_FIX)
        found |= set(range(first, (most if match[3] and len(numbers) == 1 else last) + 1, step))
    return found


Cron = Annotated[str, AfterValidator(_cron), WithJsonSchema({"type": "string", "pattern": f"^(?:{CRON})$"})]
"""A time in UTC, in five fields."""
