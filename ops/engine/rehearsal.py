"""The whole life of a stack on the real engine and the fake clouds.

The first life is preview, up, preview, a change, an addition and destroy; each must show what the plan says. Before a
change, the autoscaler starts nodes, and the change must not end them. In the
second life a create fails half way, and the next update must finish. A protected stack must first refuse to be
destroyed; then it is unprotected in its state, as an operator does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ops.engine import plan_differences, rehearsal_change
from ops.engine.engine import Engine
from ops.engine.events import Outcome, Step
from ops.engine.pulumi_cli import Found
from ops.engine.rehearsal_change import Change
from ops.fakes.aws.eks_nodes import autoscale
from ops.fakes.aws.names import NODE_GROUP
from ops.fakes.protocol.faults import Fault
from ops.plan import recorder
from ops.plan.model import Plan
from ops.plan.stack_file import StackFile
from ops.progress import Progress

_MAX_FINDINGS: Final = 25
"""The findings of one phase that are shown; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One part of a rehearsal, and its result."""

    name: str
    ok: bool
    summary: str
    """The result in one line."""
    seconds: float
    findings: tuple[str, ...] = ()
    """The differences from what the plan says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """All phases in order. After a failed one there are no others."""

    stack: str
    phases: tuple[Phase, ...]

    @property
    def ok(self) -> bool:
        """Return True if every phase is as planned."""
        return all(phase.ok for phase in self.phases)

    @property
    def seconds(self) -> float:
        """The duration of all phases."""
        return sum(phase.seconds for phase in self.phases)

    def to_data(self) -> dict[str, Any]:
        """Return the rehearsal as plain data."""
        return {
            "stack": self.stack,
            "ok": self.ok,
            "seconds": round(self.seconds, 1),
            "phases": [
                {
                    "name": phase.name,
                    "ok": phase.ok,
                    "summary": phase.summary,
                    "seconds": round(phase.seconds, 1),
                    "findings": list(phase.findings),
                }
                for phase in self.phases
            ],
        }


class _FailedError(Exception):
    """A phase failed, and the phases after it would be meaningless."""


_Work: TypeAlias = Callable[[], tuple[str, list[str]]]
"""The work of one phase; returns a summary and the findings."""


@dataclass(slots=True, kw_only=True)
class _Life:
    """One life on one engine."""

    engine: Engine
    stack_file: StackFile
    plan: Plan
    program: Callable[[], None] | None
    progress: Progress | None
    phases: list[Phase] = field(default_factory=list)

    def phase(self, name: str, work: _Work, *, if_ok: str = "") -> None:
        """Run one phase; add `if_ok` to the summary if there are no findings."""
        if self.progress is not None:
            self.progress.stage(name)
        started = time.monotonic()
        summary, findings = work()
        seconds = time.monotonic() - started
        more = len(findings) - _MAX_FINDINGS
        shown = (*findings[:_MAX_FINDINGS], *([f"… and {more} more"] if more > 0 else []))
        summary = summary if findings else f"{summary}{if_ok}"
        self.phases.append(Phase(name=name, ok=not findings, summary=summary, seconds=seconds, findings=shown))
        if findings:
            raise _FailedError


def rehearse(
    cli: Found,
    stack_file: StackFile,
    *,
    program: Callable[[], None] | None = None,
    progress: Progress | None = None,
    faults: bool = True,
) -> Rehearsal:
    """Run both lives of a stack; without `faults`, or without a resource whose create could fail, only the first.

    Raises:
        EngineNotReadyError: the engine could not be set up.

    """
    plan = recorder.record(stack_file, program=program)
    phases: list[Phase] = []

    def on_step(step: Step) -> None:
        if progress is not None:
            progress.step(str(step))

    for run in (_first_life, _second_life) if faults and _creates(plan) else (_first_life,):
        with Engine(cli, stack_file, program, on_step=on_step) as engine:
            life = _Life(engine=engine, stack_file=stack_file, plan=plan, program=program, progress=progress)
            try:
                run(life)
            except _FailedError:
                return Rehearsal(stack=stack_file.name, phases=(*phases, *life.phases))
            phases += life.phases
    return Rehearsal(stack=stack_file.name, phases=tuple(phases))


def _first_life(life: _Life) -> None:
    engine, stack_file, plan = life.engine, life.stack_file, life.plan

    def preview() -> tuple[str, list[str]]:
        outcome = engine.preview(goals=True)
        expected = recorder.record(stack_file, program=life.program, preview=True)
        findings = _errors(outcome) or [str(one) for one in plan_differences.from_preview(expected, outcome.goals)]
        return f"{len(outcome.changes)} to create", findings

    def up() -> tuple[str, list[str]]:
        outcome = engine.up()
        return f"{len(outcome.changes)} created", _differences(outcome, plan, engine)

    life.phase("preview", preview, if_ok=", as planned")
    life.phase("up", up, if_ok=", as planned")
    life.phase("preview again", lambda: _preview_without_changes(engine))
    for name, choose in (("change", rehearsal_change.changed_value), ("addition", rehearsal_change.added_element)):
        change = choose(stack_file, plan, life.program)
        if change is not None:
            _apply(life, name, change)
            stack_file, plan = change.stack_file, change.plan
    life.phase("destroy", lambda: _destroy(engine), if_ok=", nothing remains")


def _second_life(life: _Life) -> None:
    engine, plan = life.engine, life.plan
    half = max(1, _creates(plan) // 2)

    def fail() -> tuple[str, list[str]]:
        engine.faults.arm(Fault(operation="create", nth=half))
        outcome = engine.up()
        engine.faults.disarm()
        findings = [f"create {half} was refused, and the update did not report it"] if outcome.ok else []
        return f"create {half} refused, {len(outcome.changes)} created", findings

    def finish() -> tuple[str, list[str]]:
        outcome = engine.up()
        return f"the other {len(outcome.changes)} created", _differences(outcome, plan, engine)

    life.phase("up with a fault", fail)
    life.phase("up after the fault", finish, if_ok=", as planned")
    life.phase("destroy", lambda: _destroy(engine), if_ok=", nothing remains")


def _creates(plan: Plan) -> int:
    """Return the number of resources that a cloud creates."""
    return sum(resource.custom and not resource.is_provider for resource in plan)


def _apply(life: _Life, name: str, change: Change) -> None:
    """Update to a changed stack file while every node runs, and check that nothing else changes."""
    engine = life.engine

    def update() -> tuple[str, list[str]]:
        _fill_nodes(engine, change.plan)
        engine.configure(change.stack_file)
        outcome = engine.up()
        changed = {step.urn for step in outcome.changes}
        findings = _errors(outcome)
        findings += [
            f"{step} is not in the plan of the change" for step in outcome.changes if step.urn not in change.touched
        ]
        findings += [f"{urn} did not change" for urn in sorted(change.touched - changed)]
        findings += [f"jobs are lost: EKS drains {nodes}" for nodes in engine.cloud.drained]
        return f"{change.summary}: {len(changed)} changed", findings

    life.phase(name, update, if_ok=", as planned")
    life.phase(f"preview after the {name}", lambda: _preview_without_changes(engine))


def _fill_nodes(engine: Engine, plan: Plan) -> None:
    """Let the autoscaler start as many nodes of each group as the next update allows."""
    for group in engine.cloud.of(NODE_GROUP):
        limits = (group.inputs, plan.one(NODE_GROUP, group.name).inputs)
        autoscale(engine.cloud, group.id, min(int(inputs["scalingConfig"]["maxSize"]) for inputs in limits))


def _preview_without_changes(engine: Engine) -> tuple[str, list[str]]:
    outcome = engine.preview()
    findings = _errors(outcome)
    findings += [f"{step} ({', '.join(step.changed) or 'no property named'})" for step in outcome.changes]
    return f"{len(outcome.changes) or 'no'} changes", findings


def _destroy(engine: Engine) -> tuple[str, list[str]]:
    before = engine.state()
    protected = sum(resource.protect for resource in before.resources.values())
    summary = ""
    if protected:
        if engine.preview_destroy().ok:
            return "not refused", [f"{protected} resources are protected, and the destroy was not refused"]
        engine.unprotect()
        summary = f"refused for {protected} protected, then unprotected; "
    outcome = engine.destroy()
    after = engine.state()
    retained = {before.ids[urn] for urn, resource in before.resources.items() if resource.retain_on_delete}
    findings = _errors(outcome)
    findings += [f"{obj} is still in the cloud" for obj in engine.cloud.remaining() if obj.id not in retained]
    findings += [f"{urn} is still in the state" for urn in after.resources]
    return f"{summary}{len(outcome.changes)} deleted", findings


def _differences(outcome: Outcome, plan: Plan, engine: Engine) -> list[str]:
    return _errors(outcome) or [str(one) for one in plan_differences.from_state(plan, engine.state())]


def _errors(outcome: Outcome) -> list[str]:
    return [] if outcome.ok else outcome.fault.splitlines()
