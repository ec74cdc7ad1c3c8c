"""Which steps a job goes through until its first command, by how its machines are made.

Owns what is to be known of a runner for that, and the condition under which parallel pulling works at all: from
4 vCPU and 7 GiB (nodeadm, 2026: below, it is left out without a word), and to some gain only on a disk that can take
it, about 600 MiB/s (AWS, SOCI documentation). The figures of each step are in `gpu.machines.start_up`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gpu.machines import start_up
from gpu.machines.start_up import USUAL_IMAGE_GIB, Step, Wait

if TYPE_CHECKING:
    from decimal import Decimal

FAST_PULL_VCPUS = 4
FAST_PULL_MEMORY_MIB = 7 * 1024
FAST_PULL_DISK_MIBPS = 600


class BackEnd(StrEnum):
    """What starts a machine for a job."""

    ARC = "arc"
    CIRUN = "cirun"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFacts:
    """A runner, and what it takes to have one."""

    path: str
    """Where the stack file states it, as in `runners.gpu-t4`."""
    back_end: BackEnd = BackEnd.ARC
    pool: str = ""
    """Where the stack file states its pool, as in `gpu-pools.t4-spot`."""
    target_minutes: int | None = None
    """How long a job should wait at the 95th percentile."""
    image_gib: float | None = USUAL_IMAGE_GIB
    """What a node has to pull, compressed; none where a machine of its own boots with everything."""
    min_runners: int = 0
    max_runners: int = 1
    min_nodes: int = 0
    fast_image_pull: bool = False
    vcpus: int = 4
    memory_mib: int = 16384
    """The least that any instance type of the pool is sold with."""
    nvme: bool = False
    """Whether all of them have an instance store, which is what parallel pulling unpacks to."""
    disk_mibps: int = 125
    node_month: Decimal | None = None
    """What one node kept for a whole month costs, its disk included; none where no price is known."""
    jobs_per_month: int | None = None
    minutes: float = 0.0
    """How long a typical job takes."""


def stages(facts: QueueFacts) -> tuple[Step, ...]:
    """The steps, in order."""
    if facts.back_end is BackEnd.CIRUN or facts.image_gib is None:
        return start_up.own_machine_steps()
    return start_up.shared_node_steps(
        image_gib=facts.image_gib,
        idle_on_gpu=facts.min_runners,
        min_nodes=facts.min_nodes,
        fast_pull=facts.fast_image_pull and not no_fast_image_pull(facts),
    )


def queue_wait(facts: QueueFacts) -> Wait:
    """How long a job waits for its first command when nothing is running."""
    return start_up.total(stages(facts))


def no_fast_image_pull(facts: QueueFacts) -> str:
    """Why parallel pulling is no help on these nodes; empty where it is."""
    if facts.vcpus < FAST_PULL_VCPUS or facts.memory_mib < FAST_PULL_MEMORY_MIB:
        return f"it needs {FAST_PULL_VCPUS} vCPU and {FAST_PULL_MEMORY_MIB // 1024} GiB of memory"
    if not facts.nvme and facts.disk_mibps < FAST_PULL_DISK_MIBPS:
        return f"it needs a disk of {FAST_PULL_DISK_MIBPS} MiB/s, and this one has {facts.disk_mibps}"
    return ""
