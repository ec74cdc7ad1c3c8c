"""Check the jobs of a repository's workflows against the runners of a stack.

Each back end says how a job asks for its runners. Jobs for runners that GitHub hosts are not checked. A job that no
runner serves waits for a day at GitHub, and no log gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from back_ends.registry import BACK_ENDS
from gpu.machines import GPU_MODELS
from gpu.nearest import nearest, suggestion
from gpu.verdict import Verdict, error, ok, warning
from kit.matrix import OPENS, UnresolvedError, combinations, replaced, resolved

if TYPE_CHECKING:
    from back_ends.protocol import RunsOn
    from config.settings import Settings

CHECK: Final = "runs-on"
GITHUB_MINUTES: Final = 360
"""Minutes after which GitHub ends a job without timeout-minutes (GitHub, workflow syntax, 2026)."""

_HOSTED: Final = ("ubuntu-", "windows-", "macos-")
_NEARLY: Final = 0.8
"""The similarity of two names that differ in one letter or a transposition (difflib's ratio)."""
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One runner of the stack, and how a job asks for it."""

    runner: str
    """Its key in the stack file."""
    minutes: int
    """The longest job that it accepts."""
    asked: RunsOn


def served(settings: Settings) -> tuple[Served, ...]:
    """Return every runner of a stack."""
    return tuple(
        Served(
            runner=name,
            minutes=runner.timeout_minutes,
            asked=BACK_ENDS[runner.back_end].runs_on(name, runner),
        )
        for name, runner in settings.runners.items()
    )


def judge(file: str, document: object, runners: Sequence[Served]) -> tuple[Verdict, ...]:
    """Check each job of the workflow `file`; a job without a problem gets one verdict of level ok."""
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    if not isinstance(jobs, Mapping) or not jobs:
        return (error(CHECK, f"{file}: jobs", "the workflow has no jobs, so GitHub runs none", "add a map of jobs"),)
    found: list[Verdict] = []
    for name, job in jobs.items():
        path = f"{file}: jobs.{shown(name)}"
        verdicts = list(dict.fromkeys(_job(path, job, runners)))
        found += verdicts or [ok(CHECK, f"{path}.runs-on", "a runner serves the job")]
    return tuple(found)


def shown(value: object) -> str:
    """Return a value of a foreign file as printable text for one line of a terminal."""
    text = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(value)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _job(path: str, job: object, runners: Sequence[Served]) -> Iterator[Verdict]:
    if not isinstance(job, Mapping):
        yield error(CHECK, path, "the job is not a map; GitHub rejects the file", "add runs-on and steps")
        return
    if "uses" in job:
        return
    here = f"{path}.runs-on"
    if not job.get("runs-on"):
        yield error(CHECK, here, "the job has no runs-on; GitHub rejects the file", _write(runners))
        return
    for combination in combinations(job):
        try:
            asked = _asked(job["runs-on"], combination)
        except UnresolvedError as unresolved:
            reason = f"{shown(unresolved)} is only known when the workflow runs, so the runner cannot be checked"
            yield warning(CHECK, here, reason, "write the name of the runner, or a literal matrix")
            continue
        if asked is None:
            yield error(CHECK, here, f"{shown(job['runs-on'])} is not the name of a runner", _write(runners))
        elif not asked:
            reason = "only a group is stated, so any runner of that group may take the job"
            yield warning(CHECK, here, reason, "state labels in addition to the group")
        else:
            yield from _labels(path, asked, job, combination, runners)


def _asked(stated: object, combination: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the labels that must all match: an empty tuple for a group alone, None for a value that is no label."""
    value = replaced(stated, combination)
    if isinstance(value, Mapping):
        if "labels" not in value:
            return () if value.get("group") else None
        value = replaced(value["labels"], combination)
    every = value if isinstance(value, list) else [value]
    labels = [_label(replaced(one, combination)) for one in every]
    return tuple(label for label in labels if label) if labels and all(labels) else None


def _label(value: object) -> str | None:
    """Return one label. Text after two hyphens may be unknown: it only identifies the run."""
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
    """Return True if the runner has every label. GitHub ignores upper and lower case."""
    asked_for = runner.asked
    mine = {label.casefold() for label in (asked_for.label, *asked_for.more)}
    names = [(_base(label) if asked_for.suffix else label).casefold() for label in asked]
    return set(names) <= mine and (not asked_for.named or asked_for.label.casefold() in names)


def _base(label: str) -> str:
    """Return a label without the text that identifies the run."""
    return label.partition("--")[0]


def _unserved(here: str, asked: Sequence[str], runners: Sequence[Served]) -> Iterator[Verdict]:
    """Explain why no runner matches, for each label on its own where that is possible."""
    known = {one.asked.label.casefold(): one.asked.label for one in runners}
    bases = [_base(label).casefold() for label in asked]
    meant = next((known[base] for base in bases if base in known), None)
    if meant is not None:
        others = [label for label, base in zip(asked, bases, strict=True) if base != meant.casefold()]
        reason = f"no runner has {shown(', '.join(others))} in addition to {meant}"
        if not others:
            reason = f"{meant} accepts no text after two hyphens"
        yield error(CHECK, here, reason, f"write runs-on: {meant}")
        return
    by_key = {one.runner.casefold(): one.asked.label for one in runners}
    unknown: list[str] = []
    for label, base in zip(asked, bases, strict=True):
        name = by_key.get(base) or _near(base, known)
        if name is not None:
            yield error(CHECK, here, f"no runner has the label {shown(label)}", suggestion(name, ()))
        elif not base.startswith(_HOSTED):
            unknown.append(label)
    if unknown:
        reason = f"no runner of this stack and no standard runner of GitHub has {shown(', '.join(unknown))}"
        fix = f"{_write(runners)}; ignore this for a runner of another stack or a larger runner of GitHub"
        yield warning(CHECK, here, reason, fix)


def _near(name: str, known: Mapping[str, str]) -> str | None:
    """Return the runner that was probably meant. Another GPU is not a typing error: gpu-l4 is not gpu-t4."""
    longer = next((label for key, label in known.items() if "-" in name and key.endswith(f"-{name}")), None)
    if longer is not None:
        return longer
    close = nearest(name, known, cutoff=_NEARLY)
    if close is None or (set(name.split("-")) - set(close.split("-"))) & GPU_MODELS.keys():
        return None
    return known[close]


def _minutes(
    path: str, runner: Served, job: Mapping[object, object], combination: Mapping[str, object]
) -> Iterator[Verdict]:
    here, fix = f"{path}.timeout-minutes", f"write timeout-minutes: {runner.minutes} or less"
    stated = job.get("timeout-minutes")
    if stated is None:
        if runner.minutes < GITHUB_MINUTES:
            reason = f"GitHub's default is {GITHUB_MINUTES}; {runner.asked.label} ends after {runner.minutes}"
            yield warning(CHECK, here, reason, fix)
        return
    try:
        minutes = resolved(stated, combination)
    except UnresolvedError as unresolved:
        yield warning(CHECK, here, f"{shown(unresolved)} is only known when the workflow runs", fix)
        return
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):
        yield error(CHECK, here, f"{shown(minutes)} is not a number", fix)
    elif minutes > runner.minutes:
        reason = f"the job may take {shown(minutes)} minutes; {runner.asked.label} ends after {runner.minutes}"
        yield error(CHECK, here, reason, fix)


def _container(path: str, runner: Served, job: Mapping[object, object]) -> Iterator[Verdict]:
    """Check `container`: some runners need it, and others have no Docker to run it with."""
    if runner.asked.job_container is False:
        for key in ("container", "services"):
            if job.get(key) and OPENS not in str(job[key]):
                reason = f"{runner.asked.label} has no Docker: its steps run in the container of the runner"
                fix = f"remove {key}, or state {runner.asked.container_fix}"
                yield error(CHECK, f"{path}.{key}", reason, fix)
    elif runner.asked.job_container and not job.get("container"):
        reason = f"{runner.asked.label} only accepts jobs with a container, which gets the GPU"
        yield error(CHECK, f"{path}.container", reason, "add container: IMAGE")


def _write(runners: Sequence[Served]) -> str:
    names = ", ".join(one.asked.label for one in runners)
    return f"this stack has the runners {names}" if names else "this stack has no runners"
