"""Faults of the machine and incomplete changes of the project are one line with a fix, and exit with 3."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_ci.knowledge.incomplete import Incomplete
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from ops.cli import machine
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.engine import pulumi_cli
from ops.outcome import Exit
from ops.plan import recorder
from ops.plan.model import Plan
from ops.plan.stack_file import StackFile
from tests.stack_file import stacks

pytestmark = pytest.mark.plan

PLAN = ["plan", "--file", str(ROOT / stacks.STAGING)]
DAMAGE = {
    "a package is missing": "import sys; sys.modules['{}'] = None",
    "a package is half installed": "import sys, types; sys.modules['{}'] = types.ModuleType('{}')",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    "package", ["typer", "rich.console", "yaml", "pydantic", "pulumi", "google.protobuf", "pulumi_aws"]
)
def test_a_damaged_environment_is_reported_in_one_line(package: str, damage: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(DAMAGE[damage].format(package, package))

    done = subprocess.run(
        [sys.executable, "-m", "ops", *PLAN], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    (line,) = done.stderr.splitlines()
    assert done.returncode == Exit.OUTSIDE
    assert line.startswith("the Python environment ")
    assert package in line
    assert "Remove the folder .venv" in line or "Install requirements.txt" in line


def test_a_full_disk_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.run([*PLAN, "--json", "/dev/full"])

    assert code == Exit.OUTSIDE
    assert capsys.readouterr().err == (
        "No space left on device. Free space, or set TMPDIR to a folder with more space\n"
    )


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (errno.EROFS, "x.json: Read-only file system. Name another folder, or use a checkout that can be written\n"),
        (errno.EACCES, "x.json: Permission denied. Change its permissions, or name another folder\n"),
        (errno.ENOSPC, "x.json: No space left on device. Free space, or set TMPDIR to a folder with more space\n"),
        (errno.EMFILE, "x.json: Too many open files\n"),
    ],
)
def test_a_fault_of_the_system_is_reported_in_one_line(
    number: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_stack_file: StackFile) -> Plan:
        raise OSError(number, os.strerror(number), "x.json")

    monkeypatch.setattr(recorder, "record", failing)

    assert cli.run(["plan"]) == Exit.OUTSIDE
    assert capsys.readouterr().err == line


def test_a_module_that_a_checkout_lacks_is_named() -> None:
    with pytest.raises(ImportError) as missing:
        __import__("gpu_ci.nowhere")

    assert machine.described(missing.value) == (
        "gpu_ci/nowhere.py is missing or incomplete (No module named 'gpu_ci.nowhere'). Restore it with git, or write it "
        "(CONTRIBUTING.md)"
    )


def test_another_exception_is_not_a_fault_of_the_machine() -> None:
    assert machine.described(KeyError("x")) is None


def test_an_add_on_without_a_version_is_reported_with_the_fix() -> None:
    with pytest.raises(Incomplete, match=r'no version for Kubernetes 1\.99; add "1\.99" to its versions in gpu_ci/kno'):
        ADD_ONS[0].managed("1.99")


def test_an_incomplete_change_exits_with_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(_stack_file: StackFile) -> Plan:
        raise Incomplete("a table has no row", "add it")

    monkeypatch.setattr(recorder, "record", failing)

    assert cli.run(["plan"]) == Exit.OUTSIDE
    assert capsys.readouterr().err == "a table has no row; add it\n"


@pytest.mark.parametrize(("ci", "code"), [("true", Exit.OUTSIDE), ("", Exit.GOOD)])
def test_a_skipped_preview_fails_only_in_ci(
    ci: str, code: Exit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = pulumi_cli.Failure(origin=pulumi_cli.Origin.PATH, reason="there is no `pulumi`")
    monkeypatch.setattr(pulumi_cli, "find", lambda _progress: pulumi_cli.NotFound(failures=(missing,)))
    monkeypatch.setenv("CI", ci)

    assert cli.run(["preview", *PLAN[1:]]) == code
    assert "The preview by the engine is skipped" in capsys.readouterr().out
