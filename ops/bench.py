"""What people wait for, measured, and held to its bounds.

Each figure comes from a process of its own (`ops.bench_run`) and is a median of processor seconds, so that a busy
machine changes little; what is held to a bound is a ratio of two figures of one run, wherever a ratio says it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ops.options import ROOT

Say = Callable[[str], None]
POOLS: Final = (10, 100, 300)
_COMMAND_RUNS: Final = 3


class NotMeasuredError(Exception):
    """A measurement that did not come to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure, and what it must stay under."""

    what: str
    """What was measured, as one says it."""
    value: float
    """The figure."""
    unit: str
    """Its unit; empty for a ratio."""
    bound: float | None = None
    """The most it may be; None where it is only told."""

    @property
    def holds(self) -> bool:
        """Whether it keeps its bound."""
        return self.bound is None or self.value <= self.bound

    def to_data(self) -> dict[str, Any]:
        """The figure as plain data."""
        return {
            "what": self.what,
            "value": round(self.value, 4),
            "unit": self.unit,
            "bound": self.bound,
            "holds": self.holds,
        }


def measure(say: Say) -> tuple[Figure, ...]:
    """Measure everything; `say` is told what is being measured."""
    say("the plan command, from the shell")
    command = _command()
    say("recording the plan")
    recorded = _run("recorder", 0)
    say("the SDK alone, under a monitor that only counts")
    bare = _run("bare", 0)
    by_pools = {}
    for pools in POOLS:
        say(f"recording the plan with {pools} GPU pools")
        by_pools[pools] = _run("recorder", pools)
    return tuple(_figures(command, recorded, bare, by_pools))


def _figures(
    command: float, recorded: Mapping[str, float], bare: Mapping[str, float], pools: Mapping[int, Mapping[str, float]]
) -> list[Figure]:
    each = {count: run["seconds"] / run["resources"] * 1000 for count, run in pools.items()}
    fewest, most = min(each), max(each)
    return [
        Figure(what="`make plan` after its first run, processor time", value=command, unit="s", bound=3.0),
        Figure(what=f"recording the plan ({recorded['resources']} resources)", value=recorded["seconds"], unit="s"),
        Figure(what="the same under the SDK alone, only counted", value=bare["seconds"], unit="s"),
        Figure(
            what="recorder over the SDK alone",
            value=recorded["seconds"] / bare["seconds"],
            unit="",
            bound=1.5,
        ),
        Figure(what="peak memory of a plan", value=recorded["peak_mib"], unit="MiB", bound=400),
        *(
            Figure(
                what=f"a resource, with {count} GPU pools ({pools[count]['resources']})", value=each[count], unit="ms"
            )
            for count in sorted(each)
        ),
        Figure(
            what=f"a resource with {most} pools over one with {fewest}: 1 is linear",
            value=each[most] / each[fewest],
            unit="",
            bound=1.5,
        ),
    ]


def markdown(figures: tuple[Figure, ...]) -> str:
    """The figures as a table."""
    lines = ["| what | figure | at most | |", "| --- | ---: | ---: | --- |"]
    for figure in figures:
        bound = "" if figure.bound is None else f"{figure.bound:g} {figure.unit}".strip()
        kept = "" if figure.bound is None else "holds" if figure.holds else "**broken**"
        lines.append(f"| {figure.what} | {figure.value:.3g} {figure.unit} | {bound} | {kept} |")
    return "\n".join(lines) + "\n"


def _run(what: str, pools: int) -> dict[str, float]:
    """One measurement in its own process."""
    return dict(json.loads(_finished([sys.executable, "-m", "ops.bench_run", what, str(pools)])))


def _command() -> float:
    """The processor seconds of the plan command, its packages compiled: the median of some runs after a first."""
    line = [sys.executable, "-m", "ops", "plan", "--json", os.devnull]
    seconds = []
    for _ in range(1 + _COMMAND_RUNS):
        before = _children()
        _finished(line)
        seconds.append(_children() - before)
    return statistics.median(seconds[1:])


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _finished(line: list[str]) -> str:
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise NotMeasuredError(f"{' '.join(line[1:])} ended with {done.returncode}: {last[0]}")
    return done.stdout
