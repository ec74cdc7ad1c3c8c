"""Exceptions: what they allow, when they end, and what happens to the others."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpu_ci.checks
from gpu_ci.checks import exceptions as check_of_exceptions
from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.policy import exceptions
from gpu_ci.policy.exceptions import LONGEST, SOON, State, allowing, state
from gpu_ci.stack_file.sections.exceptions import ExceptionSettings
from tests.checks.stacks import stack
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity
from tests.mistakes.saying import write
from tests.mistakes.sound import settings_in, verdicts

pytestmark = pytest.mark.pure

TODAY: Final = date(2026, 11, 22)
NOT_BUILT: Final = {"images/runner-gpu/digest": f"sha256:{'0' * 64}"}
FINDING: Final = ("image-pin", "images.runner-gpu.digest")
OF_CHECKS: Final = [
    mistake
    for mistake in MISTAKES
    if mistake.level in {Severity.ERROR, Severity.WARNING} and mistake.check != check_of_exceptions.CHECK
]


def exception(until: str = "2026-12-18", **change: str) -> dict[str, Any]:
    """The changes of an exception to the finding of `NOT_BUILT`."""
    check, subject = FINDING
    stated = {"check": check, "subject": subject, "reason": "the image is built on Friday", "until": until, **change}
    return {"exceptions": {"image": stated}}


def judged(changes: dict[str, Any]) -> list[Verdict]:
    """The verdicts that are no `ok`."""
    return [one for one in gpu_ci.checks.verdicts(stack(changes)) if one.level is not Level.OK]


def short(found: list[Verdict]) -> list[tuple[str, str, Level]]:
    """The check, the subject and the level of verdicts."""
    return [(one.check, one.subject, one.level) for one in found]


def test_an_exception_allows_its_finding() -> None:
    assert short(judged(NOT_BUILT)) == [(*FINDING, Level.WARNING)]
    assert short(judged({**NOT_BUILT, **exception()})) == [(*FINDING, Level.ALLOWED)]


@pytest.mark.parametrize(
    ("until", "levels"),
    [
        ("2026-11-21", {FINDING: Level.WARNING, ("exceptions", "exceptions.image.until"): Level.ERROR}),
        ("2026-11-22", {FINDING: Level.ALLOWED, ("exceptions", "exceptions.image.until"): Level.WARNING}),
        ("2026-12-06", {FINDING: Level.ALLOWED, ("exceptions", "exceptions.image.until"): Level.WARNING}),
        ("2026-12-07", {FINDING: Level.ALLOWED}),
        ("2027-11-23", {FINDING: Level.ALLOWED}),
        ("2027-11-24", {FINDING: Level.WARNING, ("exceptions", "exceptions.image.until"): Level.ERROR}),
    ],
)
def test_an_exception_is_valid_through_its_last_day(until: str, levels: dict[tuple[str, str], Level]) -> None:
    found = judged({**NOT_BUILT, **exception(until)})

    assert {(one.check, one.subject): one.level for one in found} == levels


def test_the_reason_states_the_last_day() -> None:
    reasons = {
        until: next(one.reason for one in judged({**NOT_BUILT, **exception(until)}) if one.check == "exceptions")
        for until in ("2026-11-22", "2026-11-23", "2026-11-24")
    }

    assert [reason.split(";")[0] for reason in reasons.values()] == [
        "it ends today, on 2026-11-22",
        "it ends in 1 day, on 2026-11-23",
        "it ends in 2 days, on 2026-11-24",
    ]


def test_an_exception_allows_nothing_else() -> None:
    changes = {**NOT_BUILT, "gpu-pools/t4-spot/instance-types": ["g4dn.xlarge"]}

    others = [one for one in short(judged(changes)) if one[:2] != FINDING]

    assert others
    assert [one for one in short(judged({**changes, **exception()})) if one[:2] != FINDING] == others


def test_an_expired_exception_is_not_also_reported_as_unused() -> None:
    assert short(judged(exception("2026-11-01"))) == [("exceptions", "exceptions.image.until", Level.ERROR)]


def test_an_exception_to_a_rule_is_not_reported_as_unused_before_the_rules_run() -> None:
    assert judged(exception(check="no-public-service", subject="Service web")) == []


def test_an_unknown_name_without_a_similar_one_lists_all() -> None:
    (found,) = judged(exception(check="zzz"))

    assert found.level is Level.ERROR
    assert {"known: ", "fit", "volumes-are-encrypted"} <= {
        part for part in ("known: ", "fit", "volumes-are-encrypted", "exceptions,") if part in found.fix
    }
    assert "exceptions" not in found.fix


@pytest.mark.parametrize("check", sorted({mistake.check for mistake in OF_CHECKS}))
def test_every_finding_of_every_check_can_have_an_exception(check: str, tmp_path: Path) -> None:
    def allowed(mistake: Mistake) -> bool:
        settings = settings_in(write(mistake.change, tmp_path))
        before = [one for one in verdicts(settings) if one.level is not Level.OK]
        stated = {
            f"e{number}": ExceptionSettings(check=of, subject=subject, reason="for a test of all", until="2026-12-18")  # type: ignore[arg-type]
            for number, (of, subject) in enumerate(dict.fromkeys((one.check, one.subject) for one in before))
        }
        after = Counter(one.level for one in verdicts(settings.model_copy(update={"exceptions": stated})))
        own = check in {one.check for one in before}
        return own and after.keys() <= {Level.OK, Level.ALLOWED} and after[Level.ALLOWED] == len(before)

    assert [mistake.name for mistake in OF_CHECKS if mistake.check == check and not allowed(mistake)] == []


def test_every_check_has_a_mistake() -> None:
    assert {mistake.check for mistake in OF_CHECKS} == {one.CHECK for one in gpu_ci.checks.CHECKS} - {"exceptions"}


@given(st.integers(-800, 800))
def test_an_exception_may_end_from_today_to_the_maximum_duration(days: int) -> None:
    until = TODAY + timedelta(days=days)
    one = ExceptionSettings(check="fit", subject="runners.a", reason="a reason of a test", until=until.isoformat())  # type: ignore[arg-type]

    allowed = allowing({"a": one}, "fit", "runners.a", TODAY) == "a"

    assert allowed == (0 <= days <= LONGEST.days)
    assert (state(until, TODAY) is State.SOON) == (0 <= days <= SOON.days)
    assert allowing({"a": one}, "fit", "runners.b", TODAY) is None
    assert allowing({"a": one}, "floor", "runners.a", TODAY) is None


def test_another_day_can_be_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exceptions.today() == TODAY

    monkeypatch.setenv(exceptions.TODAY, "2031-01-02")
    assert exceptions.today() == date(2031, 1, 2)

    monkeypatch.delenv(exceptions.TODAY)
    assert exceptions.today().year >= 2026
