"""The command line: exit codes, one line per fault, and tracebacks only with --traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.outcome import Exit, Stop
from ops.plan import recorder
from ops.plan.model import Plan
from ops.plan.stack_file import StackFile
from tests.plan import stacks

pytestmark = pytest.mark.plan

FAULTY = """\
config:
  gpu-ci:stack: {protect: maybe}
  gpu-ci:clusters-of-mine: {}
  gpu-ci:runners: {}
"""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_a_plan_is_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written = tmp_path / "deep" / "plan.json"

    code = cli.run(["plan", "--file", str(ROOT / stacks.STAGING), "--json", str(written)])

    out = capsys.readouterr().out
    assert code == Exit.GOOD
    assert out.startswith("staging\n├── ")
    assert "no errors" in out.splitlines()[-1]
    assert "\x1b" not in out, "output that is not a terminal has no colour"
    assert json.loads(written.read_bytes())["resources"] == stacks.planned(stacks.STAGING).to_data()["resources"]


def test_json_to_a_dash_is_the_only_output(capfd: pytest.CaptureFixture[str]) -> None:
    code = cli.run(["plan", "--file", str(stacks.FILES[-1]), "--json", "-"])

    out, err = capfd.readouterr()
    assert code == Exit.GOOD
    assert json.loads(out)["format"] == 1
    assert err == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["plan", "--stack", "stagin"], "Pulumi.stagin.yaml: no such stack file. Did you mean staging?"),
        (["plan", "--bogus"], "No such option: --bogus"),
        (["plann"], "No such command 'plann'. Did you mean 'plan'?"),
        (["plan", "-s", "staging", "-f", "x.yaml"], "--stack and --file exclude each other; use one of them"),
        (["plan", "--stack", "a/staging"], "Pulumi.a/staging.yaml: no such stack file. Did you mean staging?"),
        (["plan", "-f", "/nowhere/x.yaml"], "/nowhere/x.yaml: no such stack file. There is no folder /nowhere"),
        (["plan", "-f", f"{ROOT}/examples/eks-arcs.yaml"], "no such stack file. Did you mean eks-arc.yaml or eks-"),
        (["plan", "-f", f"{ROOT}/gpu_ci/x.yaml"], "gpu_ci/x.yaml: no such stack file. gpu_ci contains no stack file"),
        (
            ["record-release", "--", ""],
            '"" is not a release; write its number, as in make record-release RELEASE=0.2.0',
        ),
        ([], "Usage: python -m ops"),
    ],
)
def test_a_wrong_command_line_exits_with_2(line: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.run(line)

    err = capsys.readouterr().err
    assert code == Exit.WRONG
    assert message in err
    assert "Traceback" not in err


def test_every_fault_of_a_stack_file_is_printed_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text(FAULTY)
    written = tmp_path / "plan.json"

    code = cli.run(["plan", "--file", str(path), "--json", str(written)])

    out, err = capsys.readouterr()
    *faults, count = err.splitlines()
    assert code == Exit.WRONG
    assert out == ""
    assert [fault.split(":")[0] for fault in faults] == ["clusters-of-mine", "stack.protect"]
    assert count == "2 faults in the stack file. Nothing was changed."
    assert not written.exists()


def test_an_error_exits_with_1_and_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    text = (ROOT / stacks.STAGING).read_text(encoding="utf-8")
    path.write_text(text.replace("memory: 12Gi", "memory: 64Gi"), encoding="utf-8")

    code = cli.run(["plan", "--file", str(path)])

    out, err = capsys.readouterr()
    assert code == Exit.FINDING
    assert out.startswith("error    runners.gpu-t4")
    assert err == ""


def test_broken_rules_are_printed_with_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    text = (ROOT / stacks.STAGING).read_text(encoding="utf-8").replace("memory: 12Gi", "memory: 64Gi")
    path.write_text(text.replace("public: [203.0.113.0/24]", "public: [0.0.0.0/0]"), encoding="utf-8")

    code = cli.run(["plan", "--file", str(path)])

    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("error ")]
    assert code == Exit.FINDING
    assert heads[0].startswith("error    Cluster cluster  no-ingress-from-everywhere")
    assert "error    runners.gpu-t4  fit" in heads


def raising(fault: Exception) -> object:
    def record(_stack_file: StackFile) -> Plan:
        raise fault

    return record


def test_an_unexpected_exception_is_printed_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorder, "record", raising(KeyError("unexpected")))

    code = cli.run(["plan"])

    assert code == Exit.OUTSIDE
    assert capsys.readouterr().err.splitlines() == [
        "KeyError: 'unexpected'",
        "This is a bug. Run the command again with --traceback for details.",
    ]


@pytest.mark.parametrize("line", [["--traceback", "plan"], ["plan", "--traceback"]])
def test_traceback_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.setattr(recorder, "record", raising(KeyError("unexpected")))

    with pytest.raises(KeyError, match="unexpected"):
        cli.run(line)


def test_a_failure_outside_of_the_program_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorder, "record", raising(Stop(Exit.OUTSIDE, "the disk is [full]")))

    code = cli.run(["plan"])

    assert code == Exit.OUTSIDE
    assert capsys.readouterr().err == "the disk is [full]\n"


def test_an_interruption_exits_with_130_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_stack_file: StackFile) -> Plan:
        raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "record", interrupted)

    code = cli.run(["plan"])

    assert code == Exit.INTERRUPTED
    assert capsys.readouterr().err.splitlines() == ["Stopped."]


INTERRUPTED_PLAN = """
import os, signal, sys
from ops.cli.main import run
from ops.plan.recorder import Recorder

register = Recorder.RegisterResource

def interrupted(*arguments):
    Recorder.RegisterResource = register
    os.kill(os.getpid(), signal.SIGINT)
    return register(*arguments)

Recorder.RegisterResource = interrupted
sys.exit(run(["plan"]))
"""


def test_ctrl_c_stops_a_plan() -> None:
    command = [sys.executable, "-c", INTERRUPTED_PLAN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr.splitlines()) == (Exit.INTERRUPTED, ["Stopped."])


def test_ctrl_c_during_the_imports_prints_one_line(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich" / "__init__.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "ops", "plan"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "Stopped.\n")


@pytest.mark.parametrize("arguments", ["plan", "plan --json -"])
def test_a_closed_pipe_ends_a_command_silently(arguments: str) -> None:
    line = f"{sys.executable} -m ops {arguments} | true; exit ${{PIPESTATUS[0]}}"

    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}

    done = subprocess.run(["bash", "-c", line], cwd=ROOT, env=buffered, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (Exit.CLOSED, "")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["--help"])

    out = capsys.readouterr().out
    names = [path.stem.replace("_", "-") for path in (ROOT / "ops" / "cli").glob("[cm]*/[a-z]*.py")]
    assert "plan" in names
    assert [name for name in names if f"\n  {name} " not in out] == []
