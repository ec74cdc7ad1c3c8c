"""What the jobs of a repository's workflows ask for, held to what a stack's runners serve.

Owns the judgement of one workflow that was read. A scale set is asked for by its one name, cirun by its label with
anything behind two hyphens; GitHub's own runners are left alone. A job that nothing serves waits for a day at GitHub,
and no run says why.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from config.cirun import cirun_label
from gpu.machines import GPU_MODELS
from gpu.verdict import Level, Verdict
from kit.cirun import ADDED_BY_CIRUN, LABEL_PREFIX
from kit.matrix import OPENS, UnresolvedError, combinations, replaced, resolved

if TYPE_CHECKING:
    from config.settings import Settings

CHECK: Final = "runs-on"
GITHUB_MINUTES: Final = 360
"""When GitHub ends a job that states no timeout-minutes (GitHub's workflow syntax, 2026)."""

_HOSTED: Final = ("ubuntu-", "windows-", "macos-")
_NEARLY: Final = 0.8
"""How alike two names are that one letter or a transposition parts (difflib's ratio)."""
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One runner of the stack, as a job asks for it."""

    runner: str
    """Its key in the stack file."""
    name: str
    """What `runs-on` says."""
    labels: frozenset[str]
    """What a job may ask for beside the name."""
    minutes: int
    """The longest job it is meant for."""
    scale_set: bool
    """Whether it is a scale set; cirun's otherwise."""
    job_container: bool | None
    """Whether a job must state `container`, or must not; None where it is free to."""


def served(settings: Settings) -> tuple[Served, ...]:
    """Every runner of a stack."""
    return tuple(
        Served(
            runner=name,
            name=name if runner.arc is not None else cirun_label(name),
            labels=frozenset(runner.arc.labels) if runner.arc is not None else ADDED_BY_CIRUN,
            minutes=runner.timeout_minutes,
            scale_set=runner.arc is not None,
            job_container=None if runner.arc is None else runner.arc.container_mode != "none",
        )
        for name, runner in settings.runners.items()
    )


def judge(file: str, document: object, runners: Sequence[Served]) -> tuple[Verdict, ...]:
    """What is to be said of each job of the workflow `file`; one verdict where all is well with it."""
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    if not isinstance(jobs, Mapping) or not jobs:
        return (
            _verdict(Level.ERROR, f"{file}: jobs", "it states no job, and GitHub runs none", "state a map of jobs"),
        )
    found: list[Verdict] = []
    for name, job in jobs.items():
        path = f"{file}: jobs.{shown(name)}"
        said = list(dict.fromkeys(_job(path, job, runners)))
        found += said or [_verdict(Level.OK, f"{path}.runs-on", "what it asks for is served")]
    return tuple(found)


def shown(value: object) -> str:
    """A value of a stranger's file for one line of a terminal."""
    text = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(value)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _job(path: str, job: object, runners: Sequence[Served]) -> Iterator[Verdict]:
    if not isinstance(job, Mapping):
        yield _verdict(Level.ERROR, path, "it is no map, and GitHub refuses the file", "state runs-on and steps")
        return
    if "uses" in job:
        return
    here = f"{path}.runs-on"
    if not job.get("runs-on"):
        yield _verdict(Level.ERROR, here, "the job asks for no runner, and GitHub refuses the file", _write(runners))
        return
    for combination in combinations(job):
        try:
            asked = _asked(job["runs-on"], combination)
        except UnresolvedError as error:
            reason = f"{shown(error)} is known only when the workflow runs, so that nobody can say what serves the job"
            yield _verdict(Level.WARNING, here, reason, "write the name, or a matrix that states it")
            continue
        if asked is None:
            yield _verdict(Level.ERROR, here, f"{shown(job['runs-on'])} is no name of a runner", _write(runners))
        elif not asked:
            reason = "it names a group alone, and any runner of that group may take the job"
            yield _verdict(Level.WARNING, here, reason, "state labels beside the group")
        else:
            yield from _labels(path, asked, job, combination, runners)


def _asked(stated: object, combination: Mapping[str, object]) -> tuple[str, ...] | None:
    """The labels that all have to fit; none for a group alone, and None for what is no label."""
    value = replaced(stated, combination)
    if isinstance(value, Mapping):
        if "labels" not in value:
            return () if value.get("group") else None
        value = replaced(value["labels"], combination)
    every = value if isinstance(value, list) else [value]
    labels = [_label(replaced(one, combination)) for one in every]
    return tuple(label for label in labels if label) if labels and all(labels) else None


def _label(value: object) -> str | None:
    """One label. What stands behind two hyphens need not be known: cirun drops it."""
    if not isinstance(value, str):
        return None
    if OPENS in value.partition("--")[0]:
        raise UnresolvedError(value)
    return value.strip()


def _labels(
    path: str,
    asked: Sequence[str],
    job: Mapping[object, object],
    combination: Mapping[str, object],
    runners: Sequence[Served],
) -> Iterator[Verdict]:
    matching = [one for one in runners if _serves(one, asked)]
    for one in matching:
        yield from _minutes(path, one, job, combination)
        yield from _container(path, one, job)
    if not matching:
        yield from _unserved(f"{path}.runs-on", asked, runners)


def _serves(runner: Served, asked: Sequence[str]) -> bool:
    """Whether each label is one of the runner's; GitHub takes upper and lower case for the same."""
    mine = {runner.name.casefold(), *(label.casefold() for label in runner.labels)}
    names = [(label if runner.scale_set else label.partition("--")[0]).casefold() for label in asked]
    # What cirun adds to every runner starts none: only its own label does.
    return set(names) <= mine and (runner.scale_set or runner.name.casefold() in names)


def _unserved(here: str, asked: Sequence[str], runners: Sequence[Served]) -> Iterator[Verdict]:
    """Why nothing serves what is asked for, each label by itself where that is known."""
    known = {one.name.casefold(): one for one in runners}
    bases = [label.partition("--")[0].casefold() for label in asked]
    meant = next((known[base] for base in bases if base in known), None)
    if meant is not None:
        beside = [label for label, base in zip(asked, bases, strict=True) if base != meant.name.casefold()]
        if beside:
            reason = (
                f"it asks for {shown(', '.join(beside))} beside {meant.name}, and no runner has all of these labels"
            )
        else:
            reason = f"{meant.name} is a scale set, known by this name alone; only cirun drops what follows two hyphens"
        yield _verdict(Level.ERROR, here, reason, f"write runs-on: {meant.name}")
        return
    keys = {one.runner.casefold(): one.name for one in runners}
    renamed = keys | {one.name.removeprefix(LABEL_PREFIX).casefold(): one.name for one in runners}
    unknown: list[str] = []
    for label, base in zip(asked, bases, strict=True):
        name = renamed.get(base) or _nearest(base, known)
        if name is not None:
            yield _verdict(Level.ERROR, here, f"no runner is called {shown(label)}", f"did you mean {name}?")
        elif not base.startswith(_HOSTED):
            unknown.append(label)
    if unknown:
        reason = f"{shown(', '.join(unknown))}: no runner of this stack, and none of GitHub's standard ones"
        fix = f"{_write(runners)}; leave it where it is another stack's, or a larger runner of GitHub's"
        yield _verdict(Level.WARNING, here, reason, fix)


def _nearest(name: str, known: Mapping[str, Served]) -> str | None:
    """The runner that was probably meant. Another GPU's name is not a slip of the pen: gpu-l4 is not gpu-t4."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=_NEARLY)
    if not close or (set(name.split("-")) - set(close[0].split("-"))) & GPU_MODELS.keys():
        return None
    return known[close[0]].name


def _minutes(
    path: str, runner: Served, job: Mapping[object, object], combination: Mapping[str, object]
) -> Iterator[Verdict]:
    here, right = f"{path}.timeout-minutes", f"write timeout-minutes: {runner.minutes}, or less"
    stated = job.get("timeout-minutes")
    if stated is None:
        if runner.minutes < GITHUB_MINUTES:
            reason = f"none is stated, GitHub's is {GITHUB_MINUTES}, and {runner.name} is ended after {runner.minutes}"
            yield _verdict(Level.WARNING, here, reason, right)
        return
    try:
        minutes = resolved(stated, combination)
    except UnresolvedError as error:
        yield _verdict(Level.WARNING, here, f"{shown(error)} is known only when the workflow runs", right)
        return
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):
        yield _verdict(Level.ERROR, here, f"{shown(minutes)} is no number", right)
    elif minutes > runner.minutes:
        reason = f"the job may take {shown(minutes)} minutes, and {runner.name} is ended after {runner.minutes}"
        yield _verdict(Level.ERROR, here, reason, right)


def _container(path: str, runner: Served, job: Mapping[object, object]) -> Iterator[Verdict]:
    """A scale set either runs a job's container as a pod of its own, or has no Docker to run one with."""
    if runner.job_container is False:
        for key in ("container", "services"):
            if job.get(key) and OPENS not in str(job[key]):
                reason = f"{runner.name} has no Docker: its steps run in the runner's own container"
                fix = f"leave {key} out, or state runners.{runner.runner}.arc.container-mode: kubernetes-novolume"
                yield _verdict(Level.ERROR, f"{path}.{key}", reason, fix)
    elif runner.job_container and not job.get("container"):
        reason = f"{runner.name} takes only jobs that state their container, which is where the GPU is"
        yield _verdict(Level.ERROR, f"{path}.container", reason, "state container: IMAGE")


def _write(runners: Sequence[Served]) -> str:
    names = ", ".join(one.name for one in runners)
    return f"this stack serves {names}" if names else "this stack serves no runner"


def _verdict(level: Level, subject: str, reason: str, fix: str = "") -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix)
