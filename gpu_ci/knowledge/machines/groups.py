"""A group of machines of one kind: the unit that prices and quotas are computed for."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_ci.knowledge.machines.catalogue import TABLES, Catalogue
from gpu_ci.knowledge.machines.running import RunningTime
from gpu_ci.knowledge.regions import Cloud


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The root disk of a machine."""

    gib: int
    kind: str = "gp3"
    """The cloud's name of the disk type, for example `gp3` or `pd-balanced`."""
    iops: int = 3000
    mibps: int = 125


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One region and market in which a machine is requested."""

    region: str
    zones: tuple[str, ...] = ()
    """The zones that are tried, in order; empty where the cloud chooses."""
    spot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineGroup:
    """A node group, the machines of one runner, or a machine that builds an image."""

    path: str
    """The path in the stack file, for example `gpu-pools.t4-spot`."""
    cloud: Cloud
    types: tuple[str, ...]
    """Machine types, any of which may run. Estimates expect the first."""
    catalogue: Catalogue = field(default=TABLES, compare=False, repr=False)
    """The catalogue that has their facts."""
    placements: tuple[Placement, ...]
    """Regions and markets, in the order in which they are tried."""
    min: int = 0
    """Machines that always run."""
    max: int
    """The largest number of machines at the same time."""
    max_key: str = ""
    """The path of `max` in the stack file; empty where it is not a setting."""
    least_max: int = 1
    """The smallest valid value of `max`."""
    surge: int = 0
    """Machines above `max` while the group is updated."""
    disk: Disk
    attached_gpu: str | None = None
    """The GPU model that the cloud attaches, by slug; none where the machine types bring their own."""
    attached_gpus: int = 0
    jobs_per_machine: int = 1
    """Idle runners that fit on one machine."""
    idle_minutes: int = 0
    """Minutes from the last job to the removal of the machine."""
    minutes_after_loss: int = 0
    """Minutes for which another machine runs without a job after one is lost with its job."""
    interruptions_per_hour: float = 0.0
    """The rate at which the cloud takes a spot machine of the group away."""
    running: RunningTime | None = None
    """The running time of one machine that exists between jobs; None where machines come and go with jobs."""

    @property
    def expected(self) -> Placement:
        """The placement that is tried first."""
        return self.placements[0]

    @property
    def expected_rate(self) -> float:
        """The interruptions in an hour of a machine in that placement."""
        return self.interruptions_per_hour if self.expected.spot else 0.0
