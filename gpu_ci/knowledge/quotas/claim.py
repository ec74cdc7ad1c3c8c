"""A quota, and the amount of it that a group of machines may use: the types that both clouds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_ci.knowledge.machines.groups import MachineGroup
from gpu_ci.knowledge.regions import Cloud

EVERYWHERE: Final = "global"
"""The region of a quota that covers all regions together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota of one account or project in one region."""

    cloud: Cloud
    region: str
    """The region, or `EVERYWHERE`."""
    name: str
    """The name in the cloud's error messages: `L-3819A6DF`, `NVIDIA_T4_GPUS`."""
    title: str
    unit: str
    default: int
    """The value in a new account."""
    command: str
    """The command that requests more, with `{value}` in place of the number."""

    @property
    def place(self) -> str:
        """The region as text."""
        return "all regions" if self.region == EVERYWHERE else self.region

    def request(self, value: int) -> str:
        """Return the command that requests `value`."""
        return self.command.replace("{value}", str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The amount of a quota that one group of machines may use in one placement."""

    quota: Quota
    group: MachineGroup
    spot: bool
    machine: str
    """The machine type that uses the most."""
    each: int
    """The amount that one such machine uses."""

    @property
    def amount(self) -> int:
        """The amount that all machines use together."""
        return self.each * (self.group.max + self.group.surge)

    @property
    def why(self) -> str:
        """The calculation as one line."""
        group = self.group
        market = "Spot" if self.spot else "on-demand"
        surge = f" and {group.surge} during an update" if group.surge else ""
        return (
            f"{group.path}: {group.max} {market} machines{surge}, {self.machine} at most, "
            f"with {self.each} {self.quota.unit} each: {self.amount}"
        )

    def lowered(self, excess: int) -> int | None:
        """Return the number of machines that uses `excess` less; none where that number is not valid."""
        left = self.group.max + (-excess // self.each if self.each else 0)
        return left if self.group.max_key and left >= self.group.least_max else None
