"""Tests of the plugin tests.tiers: a run passes only if a test of every tier ran, also in workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.artefacts

ROOT = Path(__file__).resolve().parents[2]
EVERY_TIER = """
import pytest

@pytest.mark.parametrize("tier", [
    pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("pure", "plan", "engine", "artefacts", "docs")
])
def test_one(tier):
    if tier == {skipped!r}:
        pytest.skip("no such tool")
    assert tier != {failed!r}
"""


def run(folder: Path, source: str, *, ci: str, workers: str = "0") -> tuple[int, list[str]]:
    """Return the exit code and the failure lines of a run of `source` with the plugin."""
    code, output = ended_run(folder, source, ci=ci, workers=workers)
    return code, [line for line in output.splitlines() if line.startswith("FAILED: ")]


def ended_run(folder: Path, source: str, *, ci: str, workers: str) -> tuple[int, str]:
    """Return the exit code and the output of a run of `source` with the options of the Makefile."""
    options = ["-q", "-p", "tests.tiers", "-p", "no:cacheprovider", "-n", workers, "--dist", "worksteal"]
    folder.joinpath("test_it.py").write_text(source)
    folder.joinpath("pytest.ini").write_text("[pytest]\nmarkers = pure\n plan\n engine\n artefacts\n docs\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "."],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_of_every_tier_passes(tmp_path: Path, workers: str) -> None:
    source = EVERY_TIER.format(skipped=None, failed=None)

    assert run(tmp_path, source, ci="true", workers=workers) == (0, [])


def test_a_tier_with_only_skipped_tests_fails_only_in_ci(tmp_path: Path) -> None:
    source = EVERY_TIER.format(skipped="engine", failed=None)

    assert run(tmp_path, source, ci="") == (0, [])
    assert run(tmp_path, source, ci="true", workers="2") == (1, ["FAILED: no test of the tier engine ran"])


def test_a_tier_without_a_test_fails_everywhere(tmp_path: Path) -> None:
    source = EVERY_TIER.format(skipped=None, failed=None).replace(', "docs"', "")

    assert run(tmp_path, source, ci="") == (1, ["FAILED: no test of the tier docs ran"])


def test_a_tier_whose_only_test_failed_counts_as_run(tmp_path: Path) -> None:
    source = EVERY_TIER.format(skipped=None, failed="plan")

    assert run(tmp_path, source, ci="true") == (1, [])


def test_a_test_that_crashes_its_worker_is_named_and_the_others_run(tmp_path: Path) -> None:
    crash = "    import os, signal\n    tier == 'plan' and os.kill(os.getpid(), signal.SIGSEGV)\n"
    code, output = ended_run(tmp_path, EVERY_TIER.format(skipped=None, failed=None) + crash, ci="", workers="2")

    assert code == 1
    assert "crashed while running 'test_it.py::test_one[plan]'" in output
    assert "1 failed, 4 passed" in output


def test_a_test_without_a_tier_fails_the_run(tmp_path: Path) -> None:
    source = EVERY_TIER.format(skipped=None, failed=None) + "\ndef test_of_no_tier():\n    pass\n"

    assert run(tmp_path, source, ci="") == (1, ["FAILED: a test is marked with no tier"])


def test_the_table_counts_each_tier(tmp_path: Path) -> None:
    _, output = ended_run(tmp_path, EVERY_TIER.format(skipped="docs", failed="plan"), ci="", workers="2")
    rows = [line.split()[:4] for line in output.splitlines() if line.split(" ")[0] in ("pure", "plan", "docs")]

    assert rows == [["pure", "1", "0", "0"], ["plan", "0", "1", "0"], ["docs", "0", "0", "1"]]
    assert "skipped in docs: 1: no such tool" in output
