"""Verdicts that depend on machine types whose facts the stack file states: they say so, and list the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import build_groups, machine_groups
from gpu_ci.knowledge.kubernetes.quantities import MEMORY, MIB, describe
from gpu_ci.knowledge.machines import InstanceType, MachineType
from gpu_ci.knowledge.verdict import Verdict

_WHOLE_STACK: Final = ("stack", "runners")
_PARTS: Final = ("budget.", "quotas.", "images.")
"""Subjects of verdicts about several parts together: they depend on every stated type in use."""


def marked(verdict: Verdict, users: dict[str, dict[str, str]]) -> Verdict:
    """Return the verdict with the stated types that it depends on; `users` is the result of `stated_users`."""
    everything = verdict.subject in _WHOLE_STACK or verdict.subject.startswith(_PARTS)
    facts = {
        name: fact
        for path, types in users.items()
        if everything or verdict.subject == path or verdict.subject.startswith(f"{path}.")
        for name, fact in types.items()
    }
    if not facts:
        return verdict
    reason = f"{verdict.reason} ({' and '.join(sorted(facts))} as stated)"
    return replace(verdict, reason=reason, chain=(*verdict.chain, *(facts[name] for name in sorted(facts))))


def stated_users(stack: Stack) -> dict[str, dict[str, str]]:
    """Return the parts of the stack file that use stated types: their path, to the types and their facts."""
    users: dict[str, dict[str, str]] = {}
    for path, machine in _uses(stack):
        if machine.stated:
            users.setdefault(path, {})[machine.name] = _facts(machine)
    return users


def _uses(stack: Stack) -> Iterator[tuple[str, InstanceType | MachineType]]:
    for group in (*machine_groups(stack), *build_groups(stack.settings).values()):
        yield from ((group.path, group.catalogue.machine(group.cloud, name)) for name in group.types)
    for offer in stack.offers.values():
        yield from ((offer.path, machine.type) for machine in offer.machines)


def _facts(machine: InstanceType | MachineType) -> str:
    gpu = f", {machine.gpus} x {machine.gpu.slug}" if machine.gpu else ", no GPU"
    price = "no price" if machine.hour is None else f"{machine.hour} USD an hour"
    memory = describe(MEMORY, machine.memory_mib * MIB)
    return f"instance-types.{machine.name} states {machine.vcpus} vCPUs, {memory}{gpu}, {price}"
