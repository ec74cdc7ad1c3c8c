"""A check of one link of the chain, and the chapter that registers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_ci.stack_file.sections.settings import Settings
from ops.doctor.finding import Finding
from ops.doctor.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of one link between a job and its GPU."""

    name: str
    """The name in kebab case; also the anchor of its entry in the runbook."""
    needs: tuple[str, ...]
    """The checks that must work before this one has a meaning."""
    applies: Callable[[Settings], bool]
    """Return whether the stack has the link."""
    check: Callable[[World], Iterator[Finding]]
    """Yield faults, warnings, and a finding for each part that works. The docstring is the entry in the runbook."""


class Chapter:
    """The checks of one part of the chain, in the order of their definitions."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def check(
        self, *, applies: Callable[[Settings], bool], needs: tuple[str, ...] = ()
    ) -> Callable[[Callable[[World], Iterator[Finding]]], Check]:
        """Add a function to the chapter, as the check with its name in kebab case."""

        def add(check: Callable[[World], Iterator[Finding]]) -> Check:
            made = Check(name=check.__name__.replace("_", "-"), needs=needs, applies=applies, check=check)
            self.checks.append(made)
            return made

        return add
