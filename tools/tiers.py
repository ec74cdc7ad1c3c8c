"""A pytest plugin for `make test`: a tier of which nothing ran has not passed.

Which test belongs to which tier is said by its marker; the table of what ran is printed by `tests/conftest.py`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

import pytest

TIERS: Final = ("pure", "plan", "engine", "artefacts", "docs")


class EveryTierRuns:
    """Counts what ran and what was skipped, in xdist's workers too, and judges the whole at the end."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one report to its tier."""
        for tier in TIERS:
            if tier in report.keywords:
                self.skipped[tier] += report.skipped
                self.ran[tier] += report.when == "call" and not report.skipped

    def faults(self) -> list[str]:
        """The tiers that ran nothing. Skipped as a whole is a fault in CI, where every tool is to be had."""
        strict = os.environ.get("CI") == "true"
        return [f"no test of the tier {t} ran" for t in TIERS if not self.ran[t] and (strict or not self.skipped[t])]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run without a failed test, if a tier ran nothing."""
        if session.exitstatus == pytest.ExitCode.OK and self.faults():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tiers that ran nothing."""
        for fault in self.faults():
            terminalreporter.write_line(f"FAILED: {fault}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Count where the reports of all workers come together."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(EveryTierRuns(), "every-tier-runs")
