"""The base of a comparison: another commit of a repository, and its program."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ops import cache
from ops.cli.options import ROOT
from ops.outcome import Exit, Stop
from ops.report import base as module
from ops.report.base import KEPT, base
from ops.report.html import html
from ops.report.markdown import markdown
from tests.report.made import made

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


def git(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> None:
    """Run git as a person with a name."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, env=env)


def commit(folder: Path, *options: str) -> None:
    """Commit everything."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change", *options)


def output(folder: Path, *arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True).stdout[
        :-1
    ]


def stack(root: Path) -> Path:
    """The stack file."""
    return root / "Pulumi.demo.yaml"


def test_the_program_of_the_commit_records_its_state(root: Path) -> None:
    stages: list[str] = []

    found = base("main", stack(root), root, stages.append)

    assert found.state is not None
    assert found.state.stack_file.name == "demo"
    assert (found.plan, found.faults, found.new) == ({"verdicts": [], "findings": []}, (), False)
    assert stages == [f"Bringing demo of main ({found.commit}) up on fake clouds"]


def test_the_same_tree_runs_once(root: Path, tmp_path: Path) -> None:
    base("main", stack(root), root, print)
    git(root, "commit", "--quiet", "--allow-empty", "--message", "nothing")

    assert base("HEAD", stack(root), root, print).state is not None
    assert (tmp_path / "runs").read_text() == "run\n"


def test_the_program_runs_as_on_the_day_of_its_commit(root: Path) -> None:
    program = f"""{PROGRAM}
import os
(out / "plan.json").write_text('{{"day": "' + os.environ["GPU_CI_TODAY"] + '"}}')
"""
    (root / "ops/__main__.py").write_text(program)
    git(root, "add", "--all")
    environment = {**os.environ, "GIT_COMMITTER_DATE": "2026-03-01T23:30:00-02:00"}
    git(root, "commit", "--quiet", "--message", "day", env=environment)

    assert base("HEAD", stack(root), root, print).plan == {"day": "2026-03-02"}


def test_uncommitted_files_are_not_part_of_the_base(root: Path) -> None:
    (root / "ops/__main__.py").write_text("raise SystemExit('broken')")

    assert base("main", stack(root), root, print).faults == ()


def test_an_unknown_commit_is_an_error_with_the_nearest_branch(root: Path) -> None:
    with pytest.raises(Stop) as stop:
        base("mian", stack(root), root, print)

    assert stop.value.code is Exit.WRONG
    assert stop.value.message == 'BASE=mian: there is no such commit in this repository; did you mean "main"?'


def test_an_option_is_not_accepted_as_a_commit(root: Path) -> None:
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


def test_a_base_that_hangs_is_terminated(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "ops/__main__.py").write_text("import time; time.sleep(60)")
    commit(root)
    monkeypatch.setattr(module, "_MINUTES", 0.01)

    assert base("main", stack(root), root, print).faults == ("its program did not end within 0.01 minutes",)


def test_the_cache_keeps_a_limited_number_of_bases(root: Path) -> None:
    for number in range(KEPT + 2):
        stack(root).write_text(f"config: {{}} # {number}\n")
        commit(root)
        base("main", stack(root), root, print)

    kept = [path.name for path in (cache.folder() / "bases").iterdir() if path.name != "lock"]
    assert len(kept) == KEPT


def test_a_folder_that_is_not_a_repository_is_an_error(tmp_path: Path) -> None:
    stack_file = tmp_path / "Pulumi.demo.yaml"
    stack_file.write_text("config: {}\n")

    with pytest.raises(Stop) as stop:
        base("main", stack_file, tmp_path, print)

    assert stop.value.code is Exit.WRONG
    assert stop.value.message.endswith("is no git repository, so there is no other commit; clone the project with git")


def test_a_shallow_clone_names_the_command_that_completes_it(root: Path, tmp_path: Path) -> None:
    commit(root, "--allow-empty")
    old = output(root, "rev-parse", "HEAD~1")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{root}", str(shallow))

    with pytest.raises(Stop, match="run `git fetch --unshallow origin`, or write `fetch-depth: 0`"):
        base(old, stack(shallow), shallow, print)


def test_uncommitted_and_untracked_files_are_named(root: Path) -> None:
    stack(root).write_text("config: {gpu-ci:aws: {}}\n")
    (root / "new.py").write_text("")

    found = base("main", stack(root), root, print)

    assert found.uncommitted == ("M Pulumi.demo.yaml", "?? new.py")
    for text in (markdown(made(base=found)), html(made(base=found))):
        assert "M Pulumi.demo.yaml\n?? new.py" in text


def test_a_base_with_other_packages_has_a_note(root: Path) -> None:
    (root / "requirements.txt").write_text("pulumi==3\n")

    note = "main states other Python packages in requirements.txt; its program runs with those of this folder."
    assert base("main", stack(root), root, print).notes == (note,)
    assert note in html(made(base=base("main", stack(root), root, print)))


def test_other_packages_run_the_program_again(root: Path, tmp_path: Path) -> None:
    base("main", stack(root), root, print)
    (root / "requirements.txt").write_text("pulumi==3\n")
    base("main", stack(root), root, print)

    assert (tmp_path / "runs").read_text() == "run\nrun\n"


@pytest.mark.parametrize("file", ["state.json", "plan.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", "{}", None])
def test_a_damaged_cache_entry_is_created_again(root: Path, tmp_path: Path, file: str, content: str | None) -> None:
    base("main", stack(root), root, print)
    path = next((cache.folder() / "bases").glob(f"*/{file}"))
    if content is None:
        path.unlink()
    else:
        path.write_text(content)

    found = base("main", stack(root), root, print)

    assert found.state is not None
    assert isinstance(found.plan, dict)
    # An empty plan can be read; it has no findings.
    runs = 1 if (file, content) == ("plan.json", "{}") else 2
    assert (tmp_path / "runs").read_text() == "run\n" * runs


def test_a_cache_that_cannot_be_written_is_not_used(root: Path) -> None:
    cache.folder().mkdir(parents=True)
    (cache.folder() / "bases").write_text("a file in its place")
    stages: list[str] = []

    assert base("main", stack(root), root, stages.append).state is not None
    assert "cannot be written" in stages[0]


def test_two_runs_at_the_same_time_run_the_program_once(root: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda _: base("main", stack(root), root, print), range(4)))

    assert [one.faults for one in found] == [()] * 4
    assert (tmp_path / "runs").read_text() == "run\n"


def test_the_leftovers_of_a_killed_run_are_removed(root: Path) -> None:
    left = cache.folder() / "bases/running-abc"
    left.mkdir(parents=True)

    base("main", stack(root), root, print)

    assert not left.exists()


def test_the_base_of_a_project_in_a_subfolder_is_recorded(root: Path) -> None:
    whole = root.parent / "whole"
    (whole / "infra").mkdir(parents=True)
    root.rename(whole / "infra/project")
    shutil.rmtree(whole / "infra/project/.git")
    git(whole, "init", "--quiet", "--initial-branch=main")
    commit(whole)
    inner = whole / "infra/project"

    assert base("main", stack(inner), inner, print).state is not None


WAITING = """import os, pathlib, signal, sys, time
pathlib.Path({started!r}).write_text(str(os.getpid()))
try:
    time.sleep(60)
except KeyboardInterrupt:
    pathlib.Path({cleaned!r}).write_text("yes")
    sys.exit(130)
"""


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_program_and_removes_its_folder(root: Path, tmp_path: Path, signal_: int) -> None:
    started, cleaned = tmp_path / "started", tmp_path / "cleaned"
    (root / "ops/__main__.py").write_text(WAITING.format(started=str(started), cleaned=str(cleaned)))
    commit(root)
    code = f"from pathlib import Path; from ops.report.base import base; r = Path({str(root)!r})"
    code += "; base('main', r / 'Pulumi.demo.yaml', r, print)"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    process.send_signal(signal_)

    assert process.wait(timeout=60) != 0
    assert cleaned.read_text() == "yes"
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert list((cache.folder() / "bases").glob("running-*")) == []
