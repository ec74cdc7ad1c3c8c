"""The checks of a stack: one module each, listed once.

A check is a module with `CHECK`, the name that its verdicts carry, and `check(stack)`. Its page in
`docs/explanation/checks` and its entries in the catalogue of mistakes have the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks import exceptions, gpu_tests, plausibility, untrusted_jobs
from gpu_ci.checks.capacity import counts, gpu_zones, queue_time, quota, running_hours
from gpu_ci.checks.cost import money, spot_plan
from gpu_ci.checks.images import compatibility, image_pin, image_proof, image_region, runner_version
from gpu_ci.checks.nodes import fit, floor, machine_fit, pool_shape, scale_from_zero, system_room
from gpu_ci.checks.stated_types import marked, stated_users
from gpu_ci.knowledge.verdict import Verdict


class Check(Protocol):
    """A module of this package."""

    @property
    def CHECK(self) -> str:  # noqa: N802  # a constant of the module
        """The name of the check, in kebab case."""
        ...

    def check(self, stack: Stack) -> Iterator[Verdict]:
        """Yield the verdicts on a stack: errors, warnings, and one that explains why a part passed."""
        ...


CHECKS: Final[tuple[Check, ...]] = (
    plausibility,
    counts,
    pool_shape,
    fit,
    scale_from_zero,
    system_room,
    compatibility,
    machine_fit,
    floor,
    image_region,
    runner_version,
    image_pin,
    gpu_zones,
    image_proof,
    money,
    spot_plan,
    queue_time,
    running_hours,
    quota,
    untrusted_jobs,
    gpu_tests,
    exceptions,
)
"""Every check, in the order in which the plan prints their verdicts."""


_WITHOUT_MACHINES: Final = frozenset(
    one.CHECK for one in (image_region, runner_version, gpu_zones, image_proof, running_hours, exceptions)
)
"""Checks that read no facts of machine types."""


def verdicts(stack: Stack) -> list[Verdict]:
    """Return the verdicts of all checks, each once: two runners that share a pool get the same verdict on it.

    Errors and warnings with an exception are `allowed`.
    """
    users = stated_users(stack)
    found = dict.fromkeys(verdict for module in CHECKS for verdict in module.check(stack))
    named = [one if one.check in _WITHOUT_MACHINES else marked(one, users) for one in found]
    return exceptions.applied(stack, named, {module.CHECK for module in CHECKS})
