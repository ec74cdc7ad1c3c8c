"""What is demanded, which quota that counts against, and how much of it: the shapes that both clouds share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cloud(StrEnum):
    """Whose machines."""

    AWS = "aws"
    GCP = "gcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Machines that can run at the same time."""

    path: str
    """Where they are stated, as in `gpu-pools.t4-spot`."""
    cloud: Cloud
    region: str
    machines: tuple[str, ...]
    """EC2 instance types or GCE machine types, any of which may be taken; the most expensive one is reckoned."""
    spot: bool
    max_count: int
    """Machines at once."""
    headroom: int = 0
    """Machines beyond that, for a while (`EKS_UPDATE_HEADROOM` for a managed node group)."""
    gpu: str | None = None
    """The GPU model attached to each machine, by slug, where the machine type brings none."""
    gpus: int = 0
    """How many of it are attached to each."""
    project: str = "PROJECT"
    """The Google project, for the command that asks for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota of one account or project, in one region."""

    cloud: Cloud
    region: str
    """The region, or `global`."""
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
        return "all regions" if self.region == "global" else self.region

    def request(self, value: int) -> str:
        """The command that asks for `value`."""
        return self.command.replace("{value}", str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How much of a quota one demand could use."""

    quota: Quota
    path: str
    amount: int
    why: str
    """The reckoning, in one line."""
