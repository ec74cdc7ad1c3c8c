"""Worlds for the checks of the doctor: a stack file, and the recorded answers of the outside systems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack import Stack
from gpu_ci.stack_file.identity import PROJECT, Identity
from ops.doctor.finding import Finding
from ops.doctor.world.recording import Exchange, Recorded
from ops.doctor.world.world import SYSTEMS, World
from ops.plan import typed
from ops.plan.stack_file import read

ROOT: Final = Path(__file__).resolve().parents[2]
NOW: Final = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

CAPTURED: Final = ROOT / "tests" / "captured"
"""What real systems said; its README describes the files."""

Question = tuple[str, str, str]
"""A system, a call, and its arguments as JSON."""


def asked(system: str, call: str, **arguments: Any) -> Question:
    """Return a question as the key of an answer."""
    return system, call, json.dumps(arguments, sort_keys=True)


def world(file: str, answers: Mapping[Question, Any]) -> World:
    """Return a world with these answers; an exchange may have a reason instead of an answer."""
    exchanges: dict[str, list[Exchange]] = {system: [] for system in SYSTEMS}
    for (system, call, arguments), answer in answers.items():
        known = answer if isinstance(answer, Exchange) else Exchange(call=call, arguments={}, answer=answer)
        known = replace(known, call=call, arguments=json.loads(arguments))
        exchanges[system].append(known)
    sources = {system: Recorded(known) for system, known in exchanges.items()}
    return World(stack=_stack(file), now=NOW, repository="", **sources)


@cache
def _stack(file: str) -> Stack:
    stack_file = read(ROOT / file)
    settings = typed.settings(stack_file)
    return stack_of(settings, Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags))


@cache
def scheduler_messages() -> Mapping[str, str]:
    """Return the message of the real scheduler in each situation in which a pod waits."""
    found = json.loads((CAPTURED / "scheduler.json").read_text(encoding="utf-8"))["situations"]
    conditions = {one["situation"]: one.get("PodScheduled") or {} for one in found}
    return {name: str(one["message"]) for name, one in conditions.items() if one.get("message")}


def silent(call: str, reason: str, fix: str = "", **arguments: Any) -> Exchange:
    """Return a question without an answer."""
    return Exchange(call=call, arguments=arguments, unanswered=reason, fix=fix)


def lines(findings: list[Finding]) -> list[str]:
    """Return findings as text: level, subject, observation, meaning and fix."""
    return [
        " | ".join(part for part in (str(one.level), one.subject, one.seen, one.means, one.fix) if part)
        for one in findings
    ]
