"""A pytest plugin for `make test`: count the tests of each tier, and fail if a tier ran no test.

The marker of a test is its tier. A test without a marker fails the run, because no tier would count it.
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
    """The results of the tests of a tier."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)


class TierCounter:
    """Count reports, including those of xdist workers, and evaluate them at the end."""

    def __init__(self) -> None:
        self.tiers: defaultdict[str, Tier] = defaultdict(Tier)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one report to its tier. A test that crashed its worker has no markers in its report."""
        if not report.keywords:
            return
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
        """Return the reasons to fail a run without failed tests.

        A tier with only skipped tests fails in CI, where every tool is installed. Elsewhere it does not.
        """
        strict = os.environ.get("CI") == "true"
        idle = [name for name in TIERS if not self.tiers[name].passed + self.tiers[name].failed]
        faults = [f"no test of the tier {name} ran" for name in idle if strict or not self.tiers[name].skipped]
        return [*faults, *(["a test is marked with no tier"] if NONE in self.tiers else [])]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in which a tier ran no test."""
        if session.exitstatus == pytest.ExitCode.OK and self.faults():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, the reasons of skipped tests, and the reasons to fail."""
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
    """Register the plugin in the main process, which receives the reports of all workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(TierCounter(), "tier-counter")
