"""Test that the tests pass for a user who copies an example as in the tutorial and runs `make golden`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial" / "real-cluster.md"
NAMED = re.compile(r"""(?:\bROOT\s*/\s*|=\s*|[\[(]\s*)["']Pulumi\.(?:staging|production)\.yaml""")
"""A stack file of the root that a test reads by name."""
READERS = (
    "tests/plan",
    "tests/derived",
    "tests/stack_file",
    "tests/charts",
    "tests/mistakes/test_checks.py",
)
"""The tests that read every stack file or its golden file."""


def run(folder: Path, *words: str) -> str:
    """Run a command in a folder, require success, and return its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE", "MFLAGS"))}
    ended = subprocess.run(words, capture_output=True, check=False, cwd=folder, env=kept, text=True)
    assert ended.returncode == 0, f"{' '.join(words)}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
    return ended.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the committed files and of new ones."""
    for name in run(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        source, target = ROOT / name, tmp_path / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return tmp_path


@pytest.mark.docs
def test_the_tests_pass_with_a_stack_of_the_user(checkout: Path) -> None:
    staging = checkout / "Pulumi.staging.yaml"
    (copying,) = re.findall(r"^(sed .* > Pulumi\.staging\.yaml)$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE)
    run(checkout, "bash", "-c", copying)
    copied = staging.read_text(encoding="utf-8")
    own = copied.replace("123456789012", "555566667777").replace("10.20.0.0/16", "10.77.0.0/16")
    # The lines that `pulumi stack init` adds, and another name of a pool.
    own = f"secretsprovider: awskms://alias/x\nencryptedkey: AQID\n{own.replace('l4-spot', 'our-spot')}"
    staging.write_text(own, encoding="utf-8")
    (checkout / "Pulumi.production.yaml").unlink()

    written = run(checkout, sys.executable, "-m", "ops", "golden")
    tested = run(
        checkout, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *READERS,
        "-k", "Pulumi.staging or golden_file",
    )  # fmt: skip

    assert copied.startswith("# yaml-language-server: $schema=schema/stack.schema.json\n")
    lines = written.splitlines()
    changed = re.findall(
        r"^(Wrote|Removed) tests/golden/(?:workflows/)?Pulumi\.(staging|production)[./]", written, re.MULTILINE
    )
    assert len(changed) == len(lines)
    assert "Wrote tests/golden/Pulumi.staging.urns." in lines
    assert ("Wrote", "production") not in changed
    passed = re.search(r"(\d+) passed", tested)
    assert passed is not None
    assert int(passed[1]) > 50


@pytest.mark.pure
def test_no_test_depends_on_a_stack_file_of_the_root() -> None:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if NAMED.search(path.read_text(encoding="utf-8"))]

    assert tests == []


@pytest.mark.pure
@pytest.mark.parametrize("before", ["read(ROOT / ", "STAGING = ", "STAGING: Final = ", 'parametrize("name", ["', "of("])
def test_a_test_that_depends_on_a_stack_file_is_found(before: str) -> None:
    assert NAMED.search(before.rstrip('"') + '"Pulumi.' + 'staging.yaml"')
    assert not NAMED.search('path = tmp_path / "Pulumi.' + 'staging.yaml"')
