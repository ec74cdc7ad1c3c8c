"""The fixes that the checks on quotas, money, spot and waiting time name, applied to the stack file word for word."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.checks.capacity import queue_time, quota
from gpu_ci.checks.cost import money, spot_plan
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.plan.stack_file import read
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity
from tests.mistakes.saying import write
from tests.mistakes.sound import verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

CHECKS = frozenset({quota.CHECK, money.CHECK, spot_plan.CHECK, queue_time.CHECK})


def at(path: str, value: object) -> dict[str, Any]:
    """Return the change that states a value at a path."""
    first, _, rest = path.partition(".")
    return {first: at(rest, value) if rest else value}


def both(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Return two changes as one; the second wins."""
    inner = {
        key: both(first[key], then[key])
        for key in first
        if all(isinstance(one.get(key), dict) for one in (first, then))
    }
    return {**first, **then, **inner}


FIXES: tuple[tuple[str, Callable[[re.Match[str], str], dict[str, Any]]], ...] = (
    (r"state (\d+) as (quotas\.\S+):", lambda found, _: at(found[2], int(found[1]))),
    (r"lower (\S+) to (\d+)", lambda found, _: at(found[1], int(found[2]))),
    (r"did you mean \"(\S+)\"\?", lambda found, path: both(at(path, OUT), {"quotas": {found[1]: 99}})),
    (r"^remove it", lambda _, path: at(path, OUT)),
    (r"raise the (?:limit|target) to (\d+)", lambda found, path: at(path, int(found[1]))),
    (r"remove budget", lambda _, __: {"budget": OUT}),
    (r"set it to at least (\d+), or state fewer jobs", lambda found, path: at(path, int(found[1]))),
    (r"set it to at least (\d+), and (\S+)\.max with it",
     lambda found, path: both(at(path, int(found[1])), at(f"{found[2]}.max", int(found[1])))),
    (r"set it to 0", lambda _, path: at(path, 0)),
    (r"state (\S+\.queue-target-minutes) as", lambda found, _: at(found[1], 60)),
    (r"set (\S+): (true|\d+)", lambda found, _: at(found[1], found[2] == "true" or int(found[2]))),
    (r"name an on-demand pool in (\S+\.pool)(?: and remove (\S+\.fallback))?",
     lambda found, _: both(at(found[1], "t4-on-demand"), at(found[2], OUT) if found[2] else {})),
    (r"remove fast-image-pull", lambda _, path: at(path, OUT)),
)  # fmt: skip
"""The words of a fix, and the change to the stack file that they describe."""


def found(change: Mapping[str, Any], mistake: Mistake, folder: Path) -> list[Verdict]:
    """Return the verdicts on the mistake in the stack file with this change."""
    file = read(write(change, folder))
    settings = settings_of(file.config, file.secret_keys, file.name, file.path.name)
    level = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING}[mistake.level]
    return [
        one for one in verdicts(settings) if (one.check, one.level, one.subject) == (mistake.check, level, mistake.path)
    ]


@pytest.mark.parametrize(
    "mistake", [one for one in MISTAKES if one.check in CHECKS], ids=lambda one: one.name.replace(" ", "-")
)
def test_each_fix_ends_its_verdict(mistake: Mistake, tmp_path: Path) -> None:
    (verdict,) = found(mistake.change, mistake, tmp_path)
    fixes = [(words, change) for form, change in FIXES if (words := re.search(form, verdict.fix))]
    # A missing price cannot be stated in a stack file.
    unpriced = verdict.fix.startswith("estimate it yourself")

    assert bool(fixes) is not unpriced, verdict.fix
    for words, change in fixes:
        assert found(both(mistake.change, change(words, verdict.subject)), mistake, tmp_path) == [], words[0]
