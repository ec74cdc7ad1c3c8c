"""The command `gpu-instance`: start, stop, status, sweep and guard.

Exit codes: 0 done, 1 another failure, 2 a wrong argument or file, 3 no such machine, 4 not allowed, 5 no capacity,
6 the runner failed, 7 not in time, 8 the cloud did not answer. A failure is reported in one line.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.back_ends.start_stop.gpu_instance.github_runners import GitHub
from gpu_ci.back_ends.start_stop.gpu_instance.guard import guard
from gpu_ci.back_ends.start_stop.gpu_instance.life import Life, SystemClock
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpu_ci.back_ends.start_stop.gpu_instance.instance import Instance
    from gpu_ci.back_ends.start_stop.gpu_instance.life import Clock

FILE: Final = "instances.json"
"""The machines by the name of their runner: the cloud, and the facts that its module needs."""
MODULES: Final = {"aws": "ec2", "gcp": "gce", "jarvis": "jarvis"}
"""A cloud to the module that defines `open_instance(facts)`. The kit copies only those that a stack uses."""


class Wrong(Problem):
    """An argument or the file of the machines is not usable."""

    code = 2


def open_instance(facts: Mapping[str, Any]) -> Instance:
    """Return the machine that an entry of the file describes."""
    module = importlib.import_module(f"{__package__}.{MODULES[facts['cloud']]}")
    opened: Instance = module.open_instance(facts)
    return opened


def main(
    words: Sequence[str] | None = None,
    *,
    folder: Path = Path(__file__).parent.parent,
    opener: Callable[[Mapping[str, Any]], Instance] = open_instance,
    clock: Clock | None = None,
) -> int:
    """Run one command and return its exit code."""
    asked, clock = _parser().parse_args(words), clock or SystemClock()
    try:
        if asked.command == "guard":
            _guard(asked, clock)
            return 0
        machines = _machines(folder / FILE, asked.runner)
    except Problem as problem:
        return _failed(problem)
    code = 0
    for name, facts in machines.items():
        try:
            _run(asked, name, facts, Life(instance=opener(facts), clock=clock, say=_say))
        except Problem as problem:
            code = max(code, _failed(problem))
    return code


def _failed(problem: Problem) -> int:
    """Report a problem in one line, as GitHub shows errors; return its exit code."""
    print(f"::error::{' '.join(str(problem).split())}", file=sys.stderr)  # noqa: T201 - the output of the command
    return problem.code


def _guard(asked: argparse.Namespace, clock: Clock) -> None:
    """Guard the run that this command is part of."""
    variables = ("GITHUB_TOKEN", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT")
    missing = [name for name in variables if not os.environ.get(name)]
    if missing:
        raise Wrong(f"{', '.join(missing)} is not set; guard is a step of a workflow")
    token, repository, run, attempt = (os.environ[name] for name in variables)
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    github = GitHub(token=token, owner=f"repos/{repository}", api=api)
    guard(github, run, attempt, asked.job, timedelta(minutes=asked.minutes), clock, _say)


def _run(asked: argparse.Namespace, name: str, facts: Mapping[str, Any], life: Life) -> None:
    limit = timedelta(minutes=asked.minutes)
    if asked.command == "start":
        life.start(limit)
    elif asked.command == "stop":
        life.stop(limit)
    elif asked.command == "sweep":
        life.sweep(timedelta(hours=facts["max_hours"]), limit)
    else:
        _say(f"{name}: {life.instance.state()}, runner {life.instance.runner()}")


def _machines(path: Path, runner: str | None) -> dict[str, Mapping[str, Any]]:
    try:
        machines: dict[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Wrong(f"{path.name} cannot be read: {error}; write it again with make kit") from None
    if runner is None:
        return machines
    if runner not in machines:
        raise Wrong(f"{path.name} has no runner {runner}; it has {', '.join(machines)}")
    return {runner: machines[runner]}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu-instance", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, minutes, text in (
        ("start", 20, "start the machine and wait until its runner is online"),
        ("stop", 10, "stop the machine and wait until it is stopped"),
        ("status", 1, "show the state of the machine and of its runner"),
        ("sweep", 10, "stop every machine that has run for longer than its bound"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("runner", nargs="?" if name == "sweep" else None, help="the runner in the stack file")
        command.add_argument("--minutes", type=int, default=minutes, help=f"the time limit, by default {minutes}")
    command = commands.add_parser("guard", help="cancel this run if no runner takes a job of it")
    command.add_argument("job", help="the name of the job")
    command.add_argument("--minutes", type=int, default=10, help="the time limit, by default 10")
    return parser


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the output of the command
