"""Tests of the Makefile: the list of targets, the set-up, and the messages about a missing Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.artefacts

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Makefile").read_text()
TARGETS = dict(re.findall(r"^([a-z-]+):[^=\n]*## (.+)$", TEXT, re.MULTILINE))
PHONY = {target for line in re.findall(r"^\.PHONY: (.+)$", TEXT, re.MULTILINE) for target in line.split()} - {
    ".FORCE",
    "cli",
}

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make, without the variables of a make that runs these tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PULUMI_"))}
    return subprocess.run(
        ["make", *arguments], capture_output=True, check=False, cwd=folder, env={**kept, **environment}, text=True
    )


def machine(folder: Path, python: str | None) -> str:
    """Return a PATH with common commands, and with `python` as the script python3."""
    folder.mkdir()
    for command in ("bash", "sh", "env", "awk", "git", "grep", "rm", "touch", "uname", "find"):
        found = shutil.which(command)
        assert found, f"{command} is not installed"
        (folder / command).symlink_to(found)
    (folder / "make").symlink_to(shutil.which("make") or "")
    if python is not None:
        (folder / "python3").write_text(f"#!/bin/sh\n{python}\n")
        (folder / "python3").chmod(0o755)
    return str(folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the files that the set-up needs."""
    folder = tmp_path / "checkout with a space"
    folder.mkdir()
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    for name in ("requirements", "tools"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@needs_make
def test_make_without_a_target_lists_every_target() -> None:
    listed = dict(re.findall(r"^  ([a-z-]+) +(.+)$", make().stdout, re.MULTILINE))

    assert listed == TARGETS


def test_every_target_has_a_description() -> None:
    assert PHONY - set(TARGETS) == set()
    assert set(TARGETS) - PHONY == set()


RECORDER = """#!{python}
import json, os, sys
if sys.argv[1] == "-m" and sys.argv[2] in ("ops", "tools.chart_keys", "tools.replacement_table"):
    print(json.dumps(sys.argv[2:]))
"""
"""An interpreter that prints the command that a target runs."""


@pytest.fixture
def recorded(checkout: Path) -> Callable[..., list[str]]:
    """Return a function that runs a target and returns the arguments of its command."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(RECORDER.format(python=sys.executable))
    python.chmod(0o755)
    for source in ("requirements.txt", "requirements/dev.txt", "tools/setup.sh"):
        os.utime(checkout / source, (0, 0))
    for stamp in ("run", "dev"):
        (checkout / ".venv" / stamp).touch()

    def run(*arguments: str, **environment: str) -> list[str]:
        ended = make(*arguments, folder=checkout, **environment)
        assert ended.stderr == ""
        assert sorted(path.name for path in checkout.iterdir()) == BEFORE
        command: list[str] = json.loads(ended.stdout)
        return command[1:]

    return run


BEFORE = [".venv", "Makefile", "requirements", "requirements.txt", "tools"]
DATA = (
    "a folder/stack.yaml", "it's.yaml", 'a"b', "$(touch pwned)", "$(shell touch pwned)", "`touch pwned`", "; touch pwned",
    "' ; touch pwned; '", '"; touch pwned; "', "$HOME", "$$", "a$b", "${PATH}", "#x", "a\\b", "a\nb", "*", "~", "%", "-x", "&", "é",
)  # fmt: skip
VARIABLES = {
    "STACK": ("plan", ["ops", "plan", "--stack", "{}"]),
    "FILE": ("rehearse", ["ops", "rehearse", "--file", "{}"]),
    "OUT": ("kit", ["ops", "kit", "--stack", "staging", "--out", "{}"]),
    "REPO": ("kit", ["ops", "kit", "--stack", "staging", "--out", "out", "--repo", "{}"]),
    "REPO_FOLDER": ("workflows", ["ops", "workflows", "--stack", "staging", "--", "{}"]),
    "ALSO": ("workflows", ["ops", "workflows", "--stack", "staging", "--also", "{}", "--", "."]),
    "RELEASE": ("record-release", ["ops", "record-release", "--", "{}"]),
    "CHARTS": ("chart-keys", ["tools.chart_keys", "--charts", "{}"]),
    "SCHEMAS": ("replacement-table", ["tools.replacement_table", "--schemas", "{}"]),
}


@needs_make
def test_a_stack_is_selected_by_name_or_by_file(recorded: Callable[..., list[str]]) -> None:
    assert recorded("plan", STACK="") == ["plan", "--stack", "staging"]
    assert recorded("plan", "STACK=production") == ["plan", "--stack", "production"]
    assert recorded("plan", "FILE=a folder/arc.yaml") == ["plan", "--file", "a folder/arc.yaml"]
    assert recorded("plan", "WHY=1") == ["plan", "--stack", "staging", "--why"]


@needs_make
@pytest.mark.parametrize("variable", VARIABLES)
def test_the_value_of_a_variable_is_data(variable: str, recorded: Callable[..., list[str]]) -> None:
    target, command = VARIABLES[variable]
    for text in DATA:
        expected = [text if word == "{}" else word for word in command[1:]]

        assert recorded(target, f"{variable}={text}") == expected
        if "touch" in text:
            assert recorded(target, **{variable: text}) == expected


@needs_make
@pytest.mark.parametrize("stated", [(), ("IMAGE=name",), ("CUDA=12.9",)])
def test_the_test_of_an_image_needs_its_name_and_its_cuda_version(stated: tuple[str, ...], tmp_path: Path) -> None:
    path = machine(tmp_path / "bin", python=None)
    docker = tmp_path / "bin" / "docker"
    docker.write_text("#!/bin/sh\necho started\n")
    docker.chmod(0o755)

    ended = make("test-image", *stated, PATH=path)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("test-image: state the image and its CUDA version, as in IMAGE=name CUDA=12.9\n")
    assert make("test-image", "IMAGE=name", "CUDA=12.9", PATH=path).stdout == "started\n"


@needs_make
def test_make_makes_an_output_in_a_string_an_error(tmp_path: Path) -> None:
    probe = tmp_path / "probe.mk"
    probe.write_text(f"include {ROOT}/Makefile\nprobe:\n\t@echo $$PULUMI_ERROR_OUTPUT_STRING\n")

    assert make("-f", str(probe), "probe").stdout == "1\n"


@needs_make
@pytest.mark.parametrize(
    ("python", "message"),
    [
        pytest.param(None, "set-up: python3 is missing: install Python 3.11 or newer", id="no python"),
        pytest.param("echo Python 3.9.2; exit 1", "set-up: Python 3.9.2 is too old: install Python 3.11", id="old"),
    ],
)
def test_a_missing_suitable_python_is_reported_in_one_line(
    checkout: Path, tmp_path: Path, python: str | None, message: str
) -> None:
    ended = make("plan", folder=checkout, PATH=machine(tmp_path / "bin", python))
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("make: ")]

    assert ended.returncode == 2
    assert len(lines) == 1
    assert lines[0].startswith(message)


@needs_make
def test_a_python_without_venv_gets_the_name_of_the_package(checkout: Path, tmp_path: Path) -> None:
    python = f'case "$*" in *venv*) exit 1;; *) exec {sys.executable} "$@";; esac'
    ended = make("plan", folder=checkout, PATH=machine(tmp_path / "bin", python))

    assert "apt-get install python3-venv" in ended.stderr
    assert not (checkout / ".venv").exists()


@needs_make
def test_the_set_up_reports_a_full_disk(checkout: Path, tmp_path: Path) -> None:
    full = "OSError: [Errno 28] No space left on device"
    python = f'case "$*" in *venv*) echo "{full}"; exit 1;; *) exec {sys.executable} "$@";; esac'
    ended = make("plan", folder=checkout, PATH=machine(tmp_path / "bin", python))

    assert "set-up: no space is left for .venv: free space" in ended.stderr
    assert "venv module" not in ended.stderr


@needs_make
@pytest.mark.skipif(os.access("/sys", os.W_OK), reason="no folder is read-only for this user")
def test_the_set_up_reports_a_read_only_checkout(checkout: Path) -> None:
    ended = subprocess.run(
        ["bash", str(checkout / "tools" / "setup.sh"), "requirements.txt", "/sys/.venv/run"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip

    assert (ended.returncode, ended.stderr.splitlines()) == (
        3,
        ["set-up: /sys cannot be written: use a checkout that can be written, because the Python environment is in it"],
    )


@needs_make
def test_the_set_up_runs_once_and_after_a_change_of_the_lock(checkout: Path, tmp_path: Path) -> None:
    (checkout / "requirements.txt").write_text("")
    path = machine(tmp_path / "bin", f'exec {sys.executable} "$@"')

    def set_up() -> bool:
        ended = make(".venv/run", folder=checkout, PATH=path)
        assert ended.returncode == 0, ended.stderr
        return "set-up: installing requirements.txt" in ended.stderr

    assert [set_up(), set_up()] == [True, False]
    later = (checkout / ".venv" / "run").stat().st_mtime + 10
    os.utime(checkout / "requirements.txt", (later, later))
    assert set_up()
    python = checkout / ".venv" / "bin" / "python"
    python.unlink()
    assert set_up()
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert set_up(), "a link to an interpreter that was removed"
    python.unlink()
    python.write_text("not a program")
    python.chmod(0o755)
    assert set_up(), "an interpreter that does not start"
    assert not set_up()


def test_every_command_of_a_target_exists() -> None:
    commands = {path.stem.replace("_", "-") for path in (ROOT / "ops" / "cli").glob("[cm]*/[a-z]*.py")}

    assert set(re.findall(r"\$\(OPS\) ([a-z-]+)", TEXT)) - commands == set()


def test_pre_commit_runs_only_targets() -> None:
    entries = re.findall(r"^\s+entry: (.+)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)

    assert entries
    assert [entry for entry in entries if entry.removeprefix("make ") not in TARGETS] == []


def test_ci_runs_the_targets_for_checks_and_tests() -> None:
    steps = re.findall(r"^step .* (make [a-z-]+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)

    assert steps == ["make artefact-tools", "make check", "make test-all"]
