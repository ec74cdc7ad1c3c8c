"""What a stack has that costs money, as plain data: from the stack file or from a recorded plan alike.

Owns the description; what it costs in a month is `gpu.cost.month`, what is said of it `checks.money`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from gpu.regions import Cloud

CONTROL_PLANE_LOGS_GB = Decimal(10)
"""What a small cluster writes to its control-plane logs in a month. An estimate: nobody publishes one, the audit log is
most of it, and it grows with what the cluster does."""

HOST_IMAGE_GB = Decimal(10)
"""What a machine's image takes as Google stores it, compressed. An estimate: a system, a driver and Docker."""
BUILDS_A_MONTH = 1
"""How often an image is expected to be built anew: its base and its driver get a release about that often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A machine's root disk."""

    gib: int
    iops: int = 3000
    mibps: int = 125
    kind: str = "gp3"
    """On AWS always that; on Google as in `pd-balanced`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where and how a machine is asked for."""

    region: str
    spot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Machines of one kind, from none to many: a node group, a runner's machines, or one that stays."""

    path: str
    """Where the stack file states them, as in `gpu-pools.t4-spot`."""
    cloud: Cloud = Cloud.AWS
    region: str
    machines: tuple[str, ...]
    """Machine types, any of which may be taken: the first is expected, and the dearest is the worst."""
    spot: bool = False
    others: tuple[Way, ...] = ()
    """What is tried where nothing is to be had as stated before: any of it may be the worst."""
    min_size: int = 0
    max_size: int | None
    """Machines at once; none where nothing limits them, so that only the jobs do."""
    limit: str = ""
    """Where that is stated, as in `gpu-pools.t4-spot.max`."""
    disk: Disk
    gpu: str | None = None
    """The GPU model attached to each, where the machine type brings none."""
    gpus: int = 0
    jobs_per_node: int = 1
    """How many waiting runners find room on one machine."""
    start_minutes: float = 3.0
    """Paid for before a job runs on a new machine."""
    tail_minutes: float = 0.0
    """Paid for after a job, until an idle machine goes."""
    interruptions: float = 0.0
    """How often in an hour a spot machine is taken away (`gpu.cost.interruptions`)."""

    def by(self, way: Way) -> Fleet:
        """The same machines, asked for in another way."""
        return replace(self, region=way.region, spot=way.spot, others=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The jobs of one runner."""

    path: str
    """Where the stack file states them, as in `runners.gpu-t4`."""
    fleet: str
    """The path of the machines that they run on."""
    jobs_per_month: int = 0
    minutes: int = 0
    """How long a typical job takes."""
    p95_minutes: int | None = None
    """How long the longest twentieth takes at the least, where that is known."""
    limit_minutes: int = 0
    """The timeout, which bounds a job where nothing bounds the machines."""
    min_runners: int = 0
    """Runners that are kept waiting, and machines with them."""
    awaited: bool = False
    """Whether it is stated how long its jobs may wait, which is what kept machines are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """An EKS cluster without its nodes."""

    path: str
    region: str
    extended: bool = False
    """Whether its version is in extended support."""
    may_extend: bool = False
    """Whether it stays on its version when standard support of that ends: then its worst month is of the extended."""
    logs_gb: Decimal = CONTROL_PLANE_LOGS_GB
    """What it logs in a month; 0 where it logs nothing."""
    retention_days: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A VPC's ways out."""

    path: str
    region: str
    gateways: int
    """NAT gateways, each with a public address."""
    traffic_gb: Decimal = Decimal(0)
    """What goes through them in a month of jobs. Image layers from ECR do not, where S3 has a gateway endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """A repository of container images."""

    path: str
    cloud: Cloud = Cloud.AWS
    region: str
    gb: Decimal
    """What lies in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostImages:
    """Images of machines that are kept."""

    path: str
    gb: Decimal
    """What is stored of them, compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A machine that makes or tries an image now and then."""

    path: str
    what: str
    """What it is there for."""
    machine: Fleet
    minutes: int
    """After which it is gone, whatever has become of it."""
    attempts: int = 1
    """How often it is made at the most until it succeeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Encryption keys of one's own."""

    path: str
    region: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """Everything."""

    control_planes: tuple[ControlPlane, ...] = ()
    networks: tuple[Network, ...] = ()
    fleets: tuple[Fleet, ...] = ()
    loads: tuple[Load, ...] = ()
    registries: tuple[Registry, ...] = ()
    host_images: tuple[HostImages, ...] = ()
    builds: tuple[Build, ...] = ()
    keys: tuple[Keys, ...] = ()
