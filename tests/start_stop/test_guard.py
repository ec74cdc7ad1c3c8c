"""The guard of a run, and the exit codes of the command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gpu_ci.back_ends.start_stop.gpu_instance import cli, problems
from gpu_ci.back_ends.start_stop.gpu_instance.github_runners import GitHub
from gpu_ci.back_ends.start_stop.gpu_instance.guard import guard
from gpu_ci.back_ends.start_stop.gpu_instance.instance import State
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied, Problem, TimedOut, Unavailable
from tests.start_stop.stand_ins import BEGIN, FakeClock, FakeMachine

pytestmark = pytest.mark.pure

LIMIT = timedelta(minutes=10)


def answers(monkeypatch: pytest.MonkeyPatch, *jobs: str | type[Problem] | None) -> list[str]:
    """Let GitHub give these statuses of the job, the last one again and again; return the requests to cancel."""
    left, cancelled = list(jobs), list[str]()

    def job(_: GitHub, run: str, attempt: str, job: str) -> str | None:
        assert (run, attempt, job) == ("42", "2", "Test on gpu-t4")
        status = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(status, type):
            raise status("GitHub answered 503")
        return status

    def cancel(_: GitHub, run: str) -> None:
        cancelled.append(run)

    monkeypatch.setattr(GitHub, "job", job)
    monkeypatch.setattr(GitHub, "cancel", cancel)
    return cancelled


def guarded(clock: FakeClock) -> None:
    github = GitHub(token="t", owner="repos/acme/vision")
    guard(github, "42", "2", "Test on gpu-t4", LIMIT, clock, list[str]().append)


def test_a_job_that_a_runner_takes_ends_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, clock = answers(monkeypatch, None, "queued", Unavailable, "queued", "in_progress"), FakeClock()

    guarded(clock)

    assert cancelled == []
    assert clock.time - BEGIN == timedelta(minutes=1)


def test_a_job_that_no_runner_takes_cancels_its_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, clock = answers(monkeypatch, "queued"), FakeClock()

    with pytest.raises(TimedOut, match='no runner took "Test on gpu-t4" within 0:10:00'):
        guarded(clock)

    assert cancelled == ["42"]
    assert clock.time - BEGIN == LIMIT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    machines = {"gpu-t4": {"cloud": "aws", "max_hours": 2}, "gpu-l4": {"cloud": "gcp", "max_hours": 2}}
    (tmp_path / cli.FILE).write_text(json.dumps(machines))
    return tmp_path


def machine(**changes: Any) -> tuple[FakeClock, FakeMachine]:
    clock = FakeClock()
    return clock, FakeMachine(clock=clock, **changes)


def test_start_status_and_stop_of_one_machine_succeed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock, opened = machine()
    codes = [
        cli.main([command, "gpu-t4"], folder=folder, opener=lambda _: opened, clock=clock)
        for command in ("start", "start", "status", "stop", "stop")
    ]

    assert codes == [0] * 5
    assert "gpu-t4: running, runner online" in capsys.readouterr().out
    assert opened.state() is State.STOPPED


@pytest.mark.parametrize(
    "kind", [Problem, problems.NotFound, problems.Denied, problems.NoCapacity, problems.TimedOut, problems.Unavailable]
)
def test_a_problem_is_printed_in_one_line_with_its_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: type[Problem]
) -> None:
    def fail(_: Mapping[str, Any]) -> FakeMachine:
        raise kind("two\nlines")

    code = cli.main(["start", "gpu-t4"], folder=folder, opener=fail, clock=FakeClock())

    assert code == kind.code
    assert capsys.readouterr().err == "::error::two lines\n"


def test_the_exit_codes_differ() -> None:
    kinds = [kind for kind in vars(problems).values() if isinstance(kind, type) and issubclass(kind, Problem)]

    assert len({kind.code for kind in kinds} | {cli.Wrong.code, 0}) == len(kinds) + 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["start", "gpu-x"], "::error::instances.json has no runner gpu-x; it has gpu-t4, gpu-l4\n"),
        (["guard", "Test on gpu-t4"], "::error::GITHUB_TOKEN, GITHUB_REPOSITORY, "),
    ],
)
def test_a_wrong_argument_has_the_exit_code_2(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    reason: str,
) -> None:
    for name in ("GITHUB_TOKEN", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"):
        monkeypatch.delenv(name, raising=False)

    assert cli.main(words, folder=folder) == 2
    assert capsys.readouterr().err.startswith(reason)


def test_a_missing_file_of_machines_has_the_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep"], folder=tmp_path) == 2
    assert "write it again with make kit" in capsys.readouterr().err


def test_a_sweep_continues_after_a_machine_that_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock, running = machine(current=State.RUNNING, launched=BEGIN - timedelta(hours=3))

    def opener(facts: Mapping[str, Any]) -> FakeMachine:
        if facts["cloud"] == "aws":
            raise Denied("no credentials")
        return running

    assert cli.main(["sweep"], folder=folder, opener=opener, clock=clock) == Denied.code
    assert running.state() is State.STOPPED
    assert capsys.readouterr().err == "::error::no credentials\n"
