"""What each tier of the tests ran: a pytest plugin for `make test`, which runs them all.

Owns the table at the end of a full run, and the rule that a tier which ran nothing has not passed. Which test belongs
to which tier is said by its marker; what the tiers are is said in `pyproject.toml`.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

TIERS: Final = ("pure", "plan", "engine", "artefacts", "docs")
UNMARKED: Final = "no tier"


@dataclass(slots=True)
class Tier:
    """What became of one tier's tests."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def ran(self) -> int:
        """How many were really carried out."""
        return self.outcomes["passed"] + self.outcomes["failed"]


class Tiers:
    """Counts reports as they come in, from xdist's workers too, and judges the whole at the end."""

    def __init__(self) -> None:
        self.tiers = {name: Tier() for name in TIERS}
        self.reasons: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one report to its tier."""
        name = next((name for name in TIERS if name in report.keywords), UNMARKED)
        tier = self.tiers.setdefault(name, Tier())
        tier.seconds += report.duration
        if report.skipped:
            tier.outcomes["skipped"] += 1
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.reasons[f"{name}: {reason.removeprefix('Skipped: ')}"] += 1
        elif report.failed:
            tier.outcomes["failed"] += 1
        elif report.when == "call":
            tier.outcomes["passed"] += 1

    def faults(self) -> list[str]:
        """Why a run that has no failed test has not passed all the same.

        A tier that is skipped as a whole is a fault in CI, where every tool is to be had; elsewhere it is told.
        """
        faults = []
        for name, tier in self.tiers.items():
            if name == UNMARKED:
                faults.append(f"{sum(tier.outcomes.values())} tests are marked with no tier")
            elif not tier.outcomes:
                faults.append(f"the tier {name} has no test")
            elif not tier.ran and os.environ.get("CI") == "true":
                faults.append(f"the tier {name} ran no test")
        return faults

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in which a tier ran nothing."""
        if session.exitstatus == pytest.ExitCode.OK and self.faults():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Show the table, the reasons of what was skipped, and the faults."""
        terminalreporter.section("tiers")
        terminalreporter.write_line(f"{'tier':<10} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
        for name, tier in self.tiers.items():
            counts = tier.outcomes
            figures = f"{counts['passed']:>7} {counts['failed']:>7} {counts['skipped']:>8} {tier.seconds:>8.1f}"
            terminalreporter.write_line(f"{name:<10} {figures}")
        for reason, count in self.reasons.most_common():
            terminalreporter.write_line(f"skipped {count}: {reason}")
        for fault in self.faults():
            terminalreporter.write_line(f"FAILED: {fault}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Count where the reports of all workers come together."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tiers(), "tiers")
