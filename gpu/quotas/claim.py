"""What is demanded, which quota that counts against, and how much of it: the shapes that both clouds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu.regions import Cloud

EVERYWHERE = "global"
"""The region of a quota that holds for all of them together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Machines that can run at the same time.

    Demands of one path are ways to the same machines (another market, another region), or come one after another: of
    what they claim of a quota the largest counts, and not the sum.
    """

    path: str
    """Where they are stated, as in `gpu-pools.t4-spot`."""
    cloud: Cloud
    region: str
    machines: tuple[str, ...]
    """EC2 instance types or GCE machine types, any of which may be taken; the most expensive one is reckoned."""
    spot: bool
    max_count: int
    """Machines at once."""
    limit: str = ""
    """Where their number is stated, as in `gpu-pools.t4-spot.max`; empty where it is nobody's choice."""
    least: int = 1
    """What their number can be lowered to."""
    headroom: int = 0
    """Machines beyond that, for a while (`EKS_UPDATE_HEADROOM` for a managed node group)."""
    gpu: str | None = None
    """The GPU model attached to each machine, by slug, where the machine type brings none."""
    gpus: int = 0
    """How many of it are attached to each."""
    plain: bool = False
    """Whether they are machines without a GPU by intention."""
    project: str = "PROJECT"
    """The Google project, for the command that asks for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota of one account or project, in one region."""

    cloud: Cloud
    region: str
    """The region, or `EVERYWHERE`."""
    name: str
    """How the cloud names it in an error: `L-3819A6DF`, `NVIDIA_T4_GPUS`."""
    title: str
    """What it is, in words."""
    unit: str
    default: int
    """What a new account has."""
    command: str
    """The command that asks for more, with `{value}` where the number goes."""

    @property
    def place(self) -> str:
        """Where it holds, in a sentence."""
        return "all regions" if self.region == EVERYWHERE else self.region

    def request(self, value: int) -> str:
        """The command that asks for `value`."""
        return self.command.replace("{value}", str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How much of a quota one demand could use."""

    quota: Quota
    demand: Demand
    machine: str
    """The type of which one uses most of it."""
    each: int
    """How much one machine uses."""

    @property
    def path(self) -> str:
        """Whose claim it is."""
        return self.demand.path

    @property
    def amount(self) -> int:
        """What all machines use together."""
        return self.each * (self.demand.max_count + self.demand.headroom)

    @property
    def why(self) -> str:
        """The reckoning, in one line."""
        demand = self.demand
        market = "Spot" if demand.spot else "on-demand"
        beyond = f" and {demand.headroom} while updating" if demand.headroom else ""
        return (
            f"{demand.path}: {demand.max_count} {market} machines{beyond}, at worst {self.machine} "
            f"with {self.each} {self.quota.unit} each: {self.amount}"
        )

    def lowered(self, excess: int) -> int | None:
        """The number of machines that uses less by at least `excess`; none where that would be too few."""
        left = self.demand.max_count + (-excess // self.each if self.each else 0)
        return left if self.demand.limit and left >= self.demand.least else None
