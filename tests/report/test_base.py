"""The base of a comparison: another commit of a repository, and its program."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from ops import cache
from ops.outcome import Exit, Stop
from ops.report import base as module
from ops.report.base import KEPT, base

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.pure

STATE = '{"release": "base", "stack": "demo", "secrets": [], "config": {}, "resources": []}'
PROGRAM = f"""import pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir()
(out / "state.json").write_text('{STATE}')
(out / "plan.json").write_text('{{"verdicts": [], "findings": []}}')
with open("RUNS", "a") as runs: runs.write("run\\n")
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a stack and a program that records it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    (folder / "ops").mkdir(parents=True)
    (folder / "ops/__main__.py").write_text(PROGRAM.replace('"RUNS"', repr(str(tmp_path / "runs"))))
    (folder / "Pulumi.demo.yaml").write_text("config: {}\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    """Run git as a person with a name."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def commit(folder: Path) -> None:
    """Commit everything."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


def stack(root: Path) -> Path:
    """The stack file."""
    return root / "Pulumi.demo.yaml"


def test_the_program_of_the_commit_records_its_state(root: Path) -> None:
    stages: list[str] = []

    found = base("main", stack(root), root, stages.append)

    assert found.state is not None
    assert found.state.stack_file.name == "demo"
    assert (found.plan, found.faults, found.new) == ({"verdicts": [], "findings": []}, (), False)
    assert stages == [f"Bringing Pulumi.demo of main ({found.commit}) up on fake clouds"]


def test_the_same_tree_runs_once(root: Path, tmp_path: Path) -> None:
    base("main", stack(root), root, print)
    git(root, "commit", "--quiet", "--allow-empty", "--message", "nothing")

    assert base("HEAD", stack(root), root, print).state is not None
    assert (tmp_path / "runs").read_text() == "run\n"


def test_uncommitted_files_are_no_part_of_the_base(root: Path) -> None:
    (root / "ops/__main__.py").write_text("raise SystemExit('broken')")

    assert base("main", stack(root), root, print).faults == ()


def test_an_unknown_commit_is_an_error_with_the_nearest_branch(root: Path) -> None:
    with pytest.raises(Stop) as stop:
        base("mian", stack(root), root, print)

    assert stop.value.code is Exit.WRONG
    assert stop.value.message == 'BASE=mian: there is no such commit in this repository; did you mean "main"?'


def test_an_option_is_no_commit(root: Path) -> None:
    with pytest.raises(Stop, match="there is no such commit"):
        base("--all", stack(root), root, print)


def test_a_stack_file_outside_the_repository_is_an_error(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "Pulumi.other.yaml"
    other.write_text("config: {}\n")

    with pytest.raises(Stop, match="is outside the repository, so no other commit has it"):
        base("main", other, root, print)


def test_a_stack_that_the_commit_does_not_have_is_new(root: Path) -> None:
    fresh = root / "Pulumi.fresh.yaml"
    fresh.write_text("config: {}\n")

    found = base("main", fresh, root, print)

    assert (found.new, found.state, found.faults) == (True, None, ())


@pytest.mark.parametrize(
    ("program", "faults"),
    [
        ("print('gpu-ci:aws: unknown key'); raise SystemExit(2)", ("gpu-ci:aws: unknown key",)),
        ("raise SystemExit(3)", ("its program ended with exit code 3",)),
    ],
)
def test_a_base_that_does_not_run_has_faults(root: Path, program: str, faults: tuple[str, ...]) -> None:
    (root / "ops/__main__.py").write_text(program)
    commit(root)

    found = base("main", stack(root), root, print)

    assert (found.faults, found.state, found.new) == (faults, None, False)


def test_a_base_without_the_command_has_faults(root: Path) -> None:
    git(root, "rm", "--quiet", "ops/__main__.py")
    commit(root)

    assert "No module named ops" in base("main", stack(root), root, print).faults[-1]


def test_a_base_that_hangs_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "ops/__main__.py").write_text("import time; time.sleep(60)")
    commit(root)
    monkeypatch.setattr(module, "_MINUTES", 0.01)

    assert base("main", stack(root), root, print).faults == ("its program did not end within 0.01 minutes",)


def test_the_cache_keeps_a_limited_number_of_bases(root: Path) -> None:
    for number in range(KEPT + 2):
        stack(root).write_text(f"config: {{}} # {number}\n")
        commit(root)
        base("main", stack(root), root, print)

    kept = [path.name for path in (cache.folder() / "bases").iterdir()]
    assert len(kept) == KEPT
