"""The folder of an engine is removed, also if its process was killed, and a full one is reported as such."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

import pytest

from ops.cli.options import ROOT
from ops.engine import workspace
from ops.engine.engine import Engine, EngineNotReadyError
from ops.engine.pulumi_cli import Found, Origin
from ops.plan.stack_file import StackFile

pytestmark = pytest.mark.engine

HOLDER = """
import sys
from ops.engine import workspace
with workspace.folder() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_at_its_end(parent: Path) -> None:
    with workspace.folder() as folder:
        assert folder.parent == parent
        assert folder.is_dir()

    assert list(parent.iterdir()) == []


def test_the_next_run_removes_only_leftovers_of_a_killed_process(parent: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER], cwd=ROOT, env={**os.environ, "TMPDIR": str(parent)}, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    left, used = (Path(process.stdout.readline().strip()) for process in processes if process.stdout)
    processes[0].kill()
    processes[0].communicate()
    (parent / "gpu-ci-engine-new").mkdir()
    (parent / "gpu-ci-engine-old").mkdir()
    an_hour_ago = time.time() - 4000
    os.utime(parent / "gpu-ci-engine-old", (an_hour_ago, an_hour_ago))
    (parent / "gpu-ci-engine-link").symlink_to(ROOT)
    (parent / "another").mkdir()

    workspace.remove_leftovers(parent)

    names = {path.name for path in parent.iterdir()}
    assert not left.exists()
    assert names == {used.name, "gpu-ci-engine-new", "gpu-ci-engine-link", "another"}
    processes[1].communicate("")


def test_a_folder_that_another_process_removes_before_its_lock_is_not_used(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removed = fcntl.flock, list[Path]()

    def remove_first(file: TextIO, operation: int) -> None:
        if not removed:
            removed.extend(parent.iterdir())
            shutil.rmtree(removed[0])
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", remove_first)

    with workspace.folder() as folder:
        assert folder.is_dir()
        assert [folder] == list(parent.iterdir())
        assert folder not in removed


FULL = """#!/bin/sh
case "$*" in
  *{failing}*) echo "error: write state.json: no space left on device"; exit 1 ;;
  *--save-plan*) printf '{{"resourcePlans": ' > "$PWD/saved-plan.json" ;;
esac
"""


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        ("stack", r"`pulumi stack init` failed: .*no space left on device\. Free space, or set TMPDIR"),
        ("preview", r"no space left on device\. Free space, or set TMPDIR"),
        ("nothing", r"did not write its whole plan into .*\. Free space, or set TMPDIR"),
    ],
)
def test_a_full_disk_is_reported(failing: str, message: str, tmp_path: Path) -> None:
    script = tmp_path / "pulumi"
    script.write_text(FULL.format(failing=failing))
    script.chmod(0o755)
    found = Found(path=script, version="3.258.0", origin=Origin.PATH)
    stack_file = StackFile(name="test", path=tmp_path, config={}, secret_keys=frozenset())

    with pytest.raises(EngineNotReadyError, match=message), Engine(found, stack_file) as engine:
        engine.preview(goals=True)
