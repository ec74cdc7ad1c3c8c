"""A pytest plugin for `make test`: what each tier ran, and that a tier of which nothing ran has not passed.

Which test belongs to which tier is said by its marker; a test without one is a fault, since nobody would count it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

import pytest

TIERS: Final = ("pure", "plan", "engine", "artefacts", "docs")
NONE: Final = "no tier"


@dataclass(slots=True)
class Tier:
    """What became of one tier's tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)


class EveryTierRuns:
    """Counts reports as they come in, from xdist's workers too, and judges the whole at the end."""

    def __init__(self) -> None:
        self.tiers: defaultdict[str, Tier] = defaultdict(Tier)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one report to its tier."""
        tier = self.tiers[next((name for name in TIERS if name in report.keywords), NONE)]
        tier.seconds += report.duration
        if report.skipped:
            tier.skipped += 1
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            tier.reasons[text.removeprefix("Skipped: ")] += 1
        elif report.failed:
            tier.failed += 1
        elif report.when == "call":
            tier.passed += 1

    def faults(self) -> list[str]:
        """Why a run without a failed test has not passed all the same.

        A tier that was skipped as a whole is a fault in CI, where every tool is to be had; elsewhere it is told.
        """
        strict = os.environ.get("CI") == "true"
        idle = [name for name in TIERS if not self.tiers[name].passed + self.tiers[name].failed]
        faults = [f"no test of the tier {name} ran" for name in idle if strict or not self.tiers[name].skipped]
        return [*faults, *(["a test is marked with no tier"] if NONE in self.tiers else [])]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in which a tier ran nothing."""
        if session.exitstatus == pytest.ExitCode.OK and self.faults():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table, the reasons of what was skipped, and the faults."""
        terminalreporter.section("tiers")
        terminalreporter.write_line(f"{'tier':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
        for name in [*TIERS, *(self.tiers.keys() - set(TIERS))]:
            tier = self.tiers[name]
            figures = f"{tier.passed:>8}{tier.failed:>8}{tier.skipped:>9}{tier.seconds:>9.1f}"
            terminalreporter.write_line(f"{name:<10}{figures}")
        for name, tier in self.tiers.items():
            for reason, count in tier.reasons.most_common():
                terminalreporter.write_line(f"skipped in {name}: {count}: {reason}")
        for fault in self.faults():
            terminalreporter.write_line(f"FAILED: {fault}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Count where the reports of all workers come together."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(EveryTierRuns(), "every-tier-runs")
