"""The whole life of a stack on the real engine and stand-in clouds: made, looked at again, changed, taken down; and a
second life in which something goes wrong half way.

Owns the phases and what each must show. The engine is `ops.engine.engine`, the law of the first phase `ops.engine.agreement`, and
what is changed `ops.engine.rehearsal_change`. Protection is honoured: a protected stack must first refuse to be destroyed, and
is then unprotected in its state, as a person would who means it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fakes.faults import Fault
from ops.engine import agreement, rehearsal_change
from ops.engine.engine import Engine
from ops.engine.rehearsal_report import Count, Phase, Rehearsal, Watch
from ops.plan import recorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.engine.events import Outcome, Step
    from ops.engine.pulumi_cli import Found
    from ops.engine.rehearsal_change import Change
    from ops.plan.model import Plan
    from ops.plan.stack_file import StackFile


_MOST: Final = 25
"""How many findings of one phase are told; the others are counted."""


class _FailedError(Exception):
    """A phase failed: nothing after it would mean anything."""


@dataclass(slots=True, kw_only=True)
class _Life:
    """One life on one engine, as it is being lived."""

    engine: Engine
    stack_file: StackFile
    plan: Plan
    """What the stack file leads to."""
    program: Callable[[], None] | None
    count: Count
    phases: list[Phase] = field(default_factory=list)

    def phase(self, name: str, work: Callable[[], tuple[str, list[str]]], *, well: str = "") -> None:
        """Live one phase: `work` gives what happened and what should not have; `well` is said where all is well."""
        self.count.begin(name)
        started = time.monotonic()
        said, findings = work()
        seconds = time.monotonic() - started
        told = findings[:_MOST] + ([f"… and {len(findings) - _MOST} more"] if len(findings) > _MOST else [])
        phase = Phase(
            name=name,
            ok=not findings,
            said=said if findings else f"{said}{well}",
            seconds=seconds,
            findings=tuple(told),
        )
        self.phases.append(phase)
        if findings:
            raise _FailedError


def rehearse(
    cli: Found,
    stack_file: StackFile,
    *,
    program: Callable[[], None] | None = None,
    watch: Watch | None = None,
    faults: bool = True,
) -> Rehearsal:
    """Live a stack's whole life; without `faults`, only the good one."""
    plan = recorder.record(stack_file, program=program)
    lives = [_good_life, _hard_life] if faults else [_good_life]
    phases: list[Phase] = []
    for life in lives:
        count = Count(watch)
        with Engine(cli, stack_file, program, heard=count.step) as engine:
            living = _Life(engine=engine, stack_file=stack_file, plan=plan, program=program, count=count)
            try:
                life(living)
            except _FailedError:
                return Rehearsal(stack=stack_file.name, phases=(*phases, *living.phases))
            phases += living.phases
    return Rehearsal(stack=stack_file.name, phases=tuple(phases))


def _good_life(life: _Life) -> None:
    """Looked at, made, looked at again, changed, taken down."""
    engine, stack_file, plan = life.engine, life.stack_file, life.plan

    def seen() -> tuple[str, list[str]]:
        outcome = engine.preview(goals=True)
        expected = recorder.record(stack_file, program=life.program, preview=True)
        findings = _faults(outcome) or [str(one) for one in agreement.with_preview(expected, outcome.goals)]
        return f"{len(outcome.changes)} to create", findings

    def made() -> tuple[str, list[str]]:
        outcome = engine.up()
        findings = _faults(outcome) or [str(one) for one in agreement.with_state(plan, engine.state())]
        return f"{len(outcome.changes)} created", findings

    life.phase("preview", seen, well=", each as planned")
    life.phase("up", made, well=", each as planned")
    life.phase("preview again", lambda: _nothing_to_do(engine))
    for name, choose in (("change", rehearsal_change.one_more), ("addition", rehearsal_change.one_added)):
        change = choose(stack_file, plan, life.program)
        if change is not None:
            _live_a_change(life, name, change)
            stack_file, plan = change.stack_file, change.plan
    life.phase("destroy", lambda: _gone(engine), well=", nothing left")


def _hard_life(life: _Life) -> None:
    """Something fails half way; the next update finishes what was begun."""
    engine, plan = life.engine, life.plan
    half = max(1, sum(resource.custom and not resource.is_provider for resource in plan) // 2)

    def broken() -> tuple[str, list[str]]:
        engine.faults.arm(Fault(operation="create", nth=half))
        outcome = engine.up()
        engine.faults.disarm()
        findings = [f"create number {half} was refused, and the update did not say so"] if outcome.ok else []
        return f"create number {half} refused, {len(outcome.changes)} made", findings

    def finished() -> tuple[str, list[str]]:
        outcome = engine.up()
        findings = _faults(outcome) or [str(one) for one in agreement.with_state(plan, engine.state())]
        return f"the other {len(outcome.changes)} made", findings

    life.phase("up with a fault", broken)
    life.phase("up to the end", finished, well="; all as planned")
    life.phase("destroy", lambda: _gone(engine), well=", nothing left")


def _live_a_change(life: _Life, name: str, change: Change) -> None:
    engine = life.engine

    def changed() -> tuple[str, list[str]]:
        engine.configure(change.stack_file)
        outcome = engine.up()
        touched = {step.urn for step in outcome.changes}
        findings = _faults(outcome)
        findings += [f"{step} is touched, though its plan is the same" for step in _beyond(outcome, change)]
        findings += [f"{urn} should have changed, and did not" for urn in sorted(change.touched - touched)]
        return f"{change.said}: {len(touched)} touched", findings

    life.phase(name, changed, well=", as planned")
    life.phase(f"preview after the {name}", lambda: _nothing_to_do(engine))


def _beyond(outcome: Outcome, change: Change) -> list[Step]:
    return [step for step in outcome.changes if step.urn not in change.touched]


def _nothing_to_do(engine: Engine) -> tuple[str, list[str]]:
    outcome = engine.preview()
    findings = _faults(outcome)
    findings += [f"{step} ({', '.join(step.changed) or 'no property named'})" for step in outcome.changes]
    return f"{len(outcome.changes) or 'nothing'} to do", findings


def _gone(engine: Engine) -> tuple[str, list[str]]:
    """Taken down, after protection was seen to hold; nothing may be left but what is meant to stay."""
    before = engine.state()
    guarded = [resource for resource in before.resources.values() if resource.protect]
    said = ""
    if guarded:
        if engine.preview_destroy().ok:
            return "not refused", [f"protected: {len(guarded)}, and yet the destroy was not refused"]
        engine.unprotect()
        said = f"refused for {len(guarded)} protected, then unprotected; "
    outcome = engine.destroy()
    after = engine.state()
    kept = {before.ids[urn] for urn, resource in before.resources.items() if resource.retain_on_delete}
    findings = _faults(outcome)
    findings += [f"{thing} is still in the cloud" for thing in engine.cloud.remaining() if thing.id not in kept]
    findings += [f"{urn} is still in the state" for urn in after.resources]
    return f"{said}{len(outcome.changes)} deleted", findings


def _faults(outcome: Outcome) -> list[str]:
    return [] if outcome.ok else outcome.fault.splitlines()
