"""Every check there is: something breaks it, its chapter is there, and what it says can be acted on."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING, Final

import pytest

import checks
import gpu
from config.load import settings_of
from gpu.verdict import Level, Verdict
from judge import verdicts
from ops.cli.options import ROOT
from ops.plan.stack_file import read
from tests.config.stacks import FILES
from tests.mistakes.catalogue import MISTAKES, Mistake, Told
from tests.mistakes.saying import write
from tests.mistakes.sound import IDENTITY

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.pure

CHECKS: Final = {
    check
    for package in (gpu, checks)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if (check := getattr(importlib.import_module(found.name), "CHECK", None)) is not None
}
"""Every name that a verdict of the code can carry."""
INDEX: Final = ROOT / "docs" / "explanation" / "checks" / "index.md"
JUDGED: Final = [mistake for mistake in MISTAKES if mistake.told in {Told.ERROR, Told.WARNING}]


def judged(mistake: Mistake, folder: Path) -> list[Verdict]:
    file = read(write(mistake.change, folder))
    return verdicts(settings_of(file.config, file.secret_keys, file.name, str(file.path)), IDENTITY)


def test_no_verdict_carries_another_name() -> None:
    named = {
        f"{path.stem}: {name}"
        for folder in ("gpu", "checks")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "verdict.py"
        for name in re.findall(r"\bcheck=([^,)\s]+)", path.read_text(encoding="utf-8"))
    }

    assert {name.partition(": ")[2] for name in named} == {"CHECK"}
    assert len(CHECKS) >= 10


def test_every_check_is_broken_by_some_mistake() -> None:
    # What it asks for is derived, and cannot be misspelt in a stack file: it is spoilt in the recorded plan instead.
    assert CHECKS - {mistake.check for mistake in MISTAKES} == {"scale-from-zero"}


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_every_check_has_its_chapter_and_its_line_in_the_table(check: str) -> None:
    chapter = Verdict(check=check, level=Level.OK, subject="", reason="").chapter

    assert (ROOT / "docs" / chapter).is_file()
    assert f"]({check}.md)" in INDEX.read_text(encoding="utf-8")


def test_the_table_names_no_check_that_is_not_there() -> None:
    named = set(re.findall(r"\]\(([a-z-]+)\.md\)", INDEX.read_text(encoding="utf-8")))

    assert named == CHECKS


@pytest.mark.parametrize("mistake", JUDGED, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_what_is_said_can_be_acted_on(mistake: Mistake, tmp_path: Path) -> None:
    said = judged(mistake, tmp_path)
    bad = [verdict for verdict in said if verdict.level is not Level.OK]

    assert bad
    assert [verdict for verdict in said if not (verdict.subject and verdict.reason)] == []
    assert [verdict for verdict in bad if not verdict.fix] == []
    assert {verdict.check for verdict in said} <= CHECKS
    assert len(set(said)) == len(said)
    assert [verdict.reason for verdict in said if "None" in str(verdict) or "\n" in str(verdict)] == []


@pytest.mark.parametrize("name", FILES)
def test_a_committed_stack_has_nothing_to_be_said_about(name: str) -> None:
    """A stack that is deployed may be warned of: who deploys it decides."""
    file = read(ROOT / name)
    said = verdicts(settings_of(file.config, file.secret_keys, file.name, name), IDENTITY)
    borne = {Level.OK, Level.WARNING} if "/" not in name else {Level.OK}

    assert [str(verdict) for verdict in said if verdict.level not in borne] == []
