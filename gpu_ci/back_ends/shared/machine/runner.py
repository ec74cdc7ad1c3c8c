"""A runner and its machine, as the stack file states them and as every cloud declares them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.back_ends.shared.machine.section import MachineSection
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.runners import RunnerSettings

_LONGEST: Final = 50
"""Leaves room for a suffix in the 63 characters of a name on Google Cloud and the 64 of a schedule on AWS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRunner:
    """A runner and its machine."""

    runner: RunnerSettings
    section: MachineSection
    user_data: str
    """The boot configuration of the machine."""
    hours: Hours | None = None
    """The hours of the schedule; none without one."""


def machine_title(identity: Identity, runner: str) -> str:
    """Return the name of a runner's machine, in its cloud and at GitHub; a long one ends with a hash."""
    title = f"{identity.prefix}-{runner}"
    if len(title) <= _LONGEST:
        return title
    return f"{title[: _LONGEST - 9]}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"
