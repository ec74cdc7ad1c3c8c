"""What every test gets: strict outputs, and a closing table of what ran in each tier."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TIERS: Final = ("pure", "plan", "engine", "artefacts", "docs")

# An Output inside an f-string raises, where by default a warning's sentence would end up in a resource. Set before
# the first import of the SDK, which reads it once.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test stands in exactly one tier; one that stands in none would be counted nowhere."""
    for item in items:
        tiers = [tier for tier in TIERS if item.get_closest_marker(tier)]
        if len(tiers) != 1:
            stands = " and ".join(tiers) or "no tier"
            raise pytest.UsageError(f"{item.nodeid} stands in {stands}; mark it with one of {', '.join(TIERS)}")
        item.user_properties.append(("tier", tiers[0]))


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests of each tier ran, and what was skipped and why."""
    ran: Counter[str] = Counter()
    skipped: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call":
                ran[_tier(report)] += 1
    for report in terminalreporter.getreports("skipped"):
        skipped[_tier(report), _reason(report)] += 1
    if not ran and not skipped:
        return
    terminalreporter.section("tiers")
    for tier in TIERS:
        terminalreporter.line(f"{tier:<10}{ran[tier]:>6} ran")
        for (of, reason), count in sorted(skipped.items()):
            if of == tier:
                terminalreporter.line(f"{'':<10}{count:>6} skipped: {reason}")


def _tier(report: pytest.TestReport) -> str:
    return str(dict(report.user_properties).get("tier", "?"))


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.fixture(autouse=True)
def _fresh_event_loop() -> Iterator[None]:
    """No test sees the event loop of another: what is left pending in one would resolve in the next."""
    import asyncio  # noqa: PLC0415  # imported by the SDK anyway; pure tests need not pay for it first

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
