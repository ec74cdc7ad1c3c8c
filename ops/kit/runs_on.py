"""Check the jobs of a repository's workflows against the runners of a stack.

Each back end says how a job asks for its runners. Jobs for runners that GitHub hosts are not checked. A job that no
runner serves waits for a day at GitHub, and no log gives the reason. Workflows that a job calls are checked with its
inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning
from gpu_ci.repository.documents import FileError
from gpu_ci.repository.matrix import OPENS, UnresolvedError, combinations, replaced, resolved
from ops.kit.called import LOCAL, REMOTE, inputs_of, only_called, targets, with_inputs
from ops.kit.served import CHECK, Served, group_without, is_in, named, serves, shown, unserved

GITHUB_MINUTES: Final = 360
"""Minutes after which GitHub ends a job without timeout-minutes (GitHub, workflow syntax, 2026)."""

_NONE: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Everything that a job may ask for."""

    runners: Sequence[Served]
    workflows: Mapping[str, object]
    """Path to the document of each workflow, or to the reason why it cannot be read."""
    also: frozenset[str]
    """Other labels and groups that exist, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The requests of a job."""

    labels: tuple[str, ...]
    """Labels that must all match; empty for a group alone."""
    group: str | None = None


def judge_all(
    workflows: Mapping[str, object], runners: Sequence[Served], also: Iterable[str] = ()
) -> tuple[Verdict, ...]:
    """Check all workflows of a repository, by path. A workflow that only others call is checked through their jobs."""
    called = {target for document in workflows.values() for target in targets(document)}
    return tuple(
        verdict
        for file, document in workflows.items()
        if file not in called or not only_called(document)
        for verdict in judge(file, document, runners, workflows=workflows, also=also)
    )


def judge(
    file: str,
    document: object,
    runners: Sequence[Served],
    *,
    workflows: Mapping[str, object] = _NONE,
    also: Iterable[str] = (),
) -> tuple[Verdict, ...]:
    """Check each job of a workflow; a job without a problem gets one verdict of level ok.

    Args:
        file: the path of the workflow.
        document: its document, or the reason why it cannot be read.
        runners: the runners of the stack.
        workflows: all workflows of the repository by path, for the calls of this one.
        also: labels and groups of other runners, for example those of another stack.

    """
    known = _Known(runners=runners, workflows=workflows, also=frozenset(one.casefold() for one in also))
    return tuple(_workflow(shown(file), with_inputs(document, {}), known, (file,)))


def _workflow(path: str, document: object, known: _Known, chain: tuple[str, ...]) -> Iterator[Verdict]:
    """Check a workflow; `chain` has the files that called each other, and its own."""
    if isinstance(document, FileError):
        for one in document.faults:
            yield error(CHECK, f"{path}: {one.path}" if one.path else path, shown(one.problem), one.fix)
        return
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    if not isinstance(jobs, Mapping) or not jobs:
        yield error(CHECK, f"{path}: jobs", "the workflow has no jobs, so GitHub runs none", "add a map of jobs")
        return
    for name, job in jobs.items():
        here = f"{path}: jobs.{shown(name)}"
        verdicts = dict.fromkeys(_job(here, job, known, chain))
        yield from verdicts or [ok(CHECK, f"{here}.runs-on", "a runner serves the job")]


def _job(path: str, job: object, known: _Known, chain: tuple[str, ...]) -> Iterator[Verdict]:
    if not isinstance(job, Mapping):
        yield error(CHECK, path, "the job is not a map; GitHub rejects the file", "add runs-on and steps")
        return
    if "uses" in job:
        yield from _call(path, job, known, chain)
        return
    here = f"{path}.runs-on"
    if not job.get("runs-on"):
        yield error(CHECK, here, "the job has no runs-on; GitHub rejects the file", named(known.runners))
        return
    for combination in combinations(job):
        try:
            asked = _asked(job["runs-on"], combination)
        except UnresolvedError as unresolved:
            reason = f"{shown(unresolved)} is only known when the workflow runs, so the runner cannot be checked"
            yield warning(CHECK, here, reason, "write the name of the runner, or a literal matrix")
            continue
        if asked is None:
            yield error(CHECK, here, f"{shown(job['runs-on'])} is not the name of a runner", named(known.runners))
        else:
            yield from _served(path, asked, job, combination, known)


def _call(path: str, job: Mapping[object, object], known: _Known, chain: tuple[str, ...]) -> Iterator[Verdict]:
    """Check the workflow that a job calls, once for each different set of inputs."""
    here, stated = f"{path}.uses", str(job["uses"])
    local = LOCAL.fullmatch(stated)
    if REMOTE.fullmatch(stated):
        reason = f"{shown(stated)} is in another repository, so its jobs are not checked"
        yield warning(CHECK, here, reason, "run make workflows in a checkout of that repository")
    elif local is None:
        reason = f"{shown(stated)} is not the path of a workflow; GitHub rejects the file"
        yield error(CHECK, here, reason, "write ./.github/workflows/FILE.yml, or OWNER/REPOSITORY/… with @COMMIT")
    elif local[1] in chain:
        yield error(CHECK, here, f"{shown(stated)} calls itself; GitHub rejects the file", "call another workflow")
    elif local[1] not in known.workflows:
        fix = did_you_mean(stated, [f"./{one}" for one in known.workflows])
        yield error(CHECK, here, f"there is no workflow {shown(stated)}", shown(fix))
    elif not isinstance(document := known.workflows[local[1]], FileError):
        for inputs in inputs_of(job):
            called = with_inputs(document, inputs)
            yield from _workflow(f"{path} → {shown(local[1])}", called, known, (*chain, local[1]))


def _asked(stated: object, combination: Mapping[str, object]) -> _Asked | None:
    """Return the labels and the group, or None for a value that is neither."""
    value = replaced(stated, combination)
    group: str | None = None
    if isinstance(value, Mapping):
        stated_group = replaced(value.get("group"), combination)
        if not isinstance(stated_group, str | None):
            return None
        group = stated_group
        if group is not None and OPENS in group:
            raise UnresolvedError(group)
        if "labels" not in value:
            return _Asked(labels=(), group=group) if group else None
        value = replaced(value["labels"], combination)
    every = value if isinstance(value, list) else [value]
    labels = [_label(replaced(one, combination)) for one in every]
    return _Asked(labels=tuple(one for one in labels if one), group=group) if labels and all(labels) else None


def _label(value: object) -> str | None:
    """Return one label. Text after two hyphens may be unknown: it only identifies the run."""
    if not isinstance(value, str):
        return None
    if OPENS in value.partition("--")[0]:
        raise UnresolvedError(value)
    return value.strip()


def _served(
    path: str,
    asked: _Asked,
    job: Mapping[object, object],
    combination: Mapping[str, object],
    known: _Known,
) -> Iterator[Verdict]:
    here = f"{path}.runs-on"
    matching = [one for one in known.runners if asked.labels and serves(one, asked.labels)]
    inside = [one for one in matching if asked.group is None or is_in(one, asked.group)]
    for one in inside:
        yield from _minutes(path, one, job, combination)
        yield from _container(path, one, job)
    if inside or (asked.group is not None and asked.group.casefold() in known.also):
        return
    if asked.group is not None and (matching or not any(is_in(one, asked.group) for one in known.runners)):
        yield group_without(f"{here}.group", asked.group, matching or known.runners)
    elif asked.labels:
        yield from unserved(here, asked.labels, known.runners, known.also)
    else:
        reason = "only a group is stated, so any runner of that group may take the job"
        yield warning(CHECK, here, reason, "state labels in addition to the group")


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
                fix = f"remove {key}, or {runner.asked.container_fix}"
                yield error(CHECK, f"{path}.{key}", reason, fix)
    elif runner.asked.job_container and not job.get("container"):
        reason = f"{runner.asked.label} only accepts jobs with a container, which gets the GPU"
        yield error(CHECK, f"{path}.container", reason, "add container: IMAGE")
    elif runner.asked.job_container is None and runner.gpu and (container := job.get("container")):
        options = container.get("options") if isinstance(container, Mapping) else None
        if "--gpus" not in str(options) and OPENS not in f"{container}{options}":
            reason = "Docker gives a container no GPU without an option, unless its image sets NVIDIA_VISIBLE_DEVICES"
            yield warning(CHECK, f"{path}.container", reason, "add options: --gpus all")
