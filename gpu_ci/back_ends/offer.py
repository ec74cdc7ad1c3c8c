"""The offer of a back end to one runner: on which machines, where, how many at once, and how a job starts.

Checks, costs, quotas, outputs and the files of a repository read offers. None of them knows which back end made one.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.knowledge.kubernetes.pods import Pod
from gpu_ci.knowledge.machines import InstanceType, MachineType
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.running import RunningTime
from gpu_ci.knowledge.machines.start_up import Step
from gpu_ci.knowledge.regions import Cloud


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine type that may run the job, with its GPU and its root disk."""

    type: InstanceType | MachineType
    """The machine as the job finds it: a GPU that the cloud attaches is included."""
    disk_gib: int
    """The size of the root disk; 0 where it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One machine that exists between jobs: what starts and stops it, and how it registers its runner at GitHub.

    The keys are paths in the stack file; a key is empty where the stack file cannot change the fact.
    """

    time: RunningTime
    hours: Hours | None = None
    """The hours of its schedule; None without one."""
    schedule_key: str = ""
    idle_key: str
    """The path of the minutes without a job after which it stops."""
    most_hours_key: str
    """The path of the hours after a start at which it is stopped in any case."""
    runner: str
    """The release of GitHub's runner that it installs."""
    runner_key: str
    group: str = "default"
    """The runner group at GitHub."""
    group_key: str
    keeps_files: bool = False
    """Whether files of one job are there for the next one."""
    files_key: str = ""
    """The path of the choice between keeping and deleting them."""
    forks: bool = False
    """Whether it accepts jobs of pull requests from forks. Otherwise it fails them before their first step."""
    forks_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMachines:
    """Machines that run one job at a time and serve no other runner."""

    cloud: Cloud
    types: tuple[str, ...]
    """Machine types as the stack file names them, in the order in which they are tried."""
    placements: tuple[Placement, ...]
    """Regions and markets, in the order in which they are tried."""
    at_once: int
    """The largest number of machines at the same time."""
    at_once_key: str = ""
    """The path in the stack file that states it, for example `runners.gpu.cirun-aws.at-once`; empty where it is 1."""
    places_key: str
    """The path of the regions or zones."""
    spot_key: str = ""
    """The path of the markets; empty where all machines are on-demand."""
    disk_gib: int
    """The size of the root disk; 0 where it is unknown, which is allowed if `created` is False."""
    disk_key: str = ""
    """The path of the root disk's size; empty where it is unknown."""
    disk_kind: str = ""
    """The cloud's name of the disk type, for example `gp3` or `pd-balanced`; empty where it is unknown."""
    attached_gpu: str | None = None
    """The GPU model that the cloud attaches, by slug; none where the machine types bring their own."""
    attached_gpus: int = 0
    network_key: str = ""
    """The path of the key that keeps the machines in a network of their own; empty where they always are in one."""
    in_own_network: bool = True
    """False while they start in a network that they share with others."""
    image_gib: int = 0
    """The size of the machine image that the disk is created from; 0 where it is unknown."""
    standing: Standing | None = None
    """One machine that exists between jobs; None where each job gets a new machine, and where `created` is False."""
    created: bool = True
    """False for machines that the stack does not create: they cost it nothing, and count against none of its quotas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNodes:
    """Kubernetes node groups that the runner shares with others."""

    pools: tuple[str, ...]
    """Keys of `gpu-pools`, in the order in which they are tried."""
    pod: Pod
    """The pod on the GPU node: the runner's own, or the job's where it has one."""
    waiting_pod: Pod | None = None
    """The runner's pod on a system node, where the job has a pod of its own."""
    listener: Pod | None = None
    """The pod on a system node that asks GitHub for jobs."""
    idle: int = 0
    """Idle runners that are kept."""
    most: int
    """The largest number of runners at the same time."""
    most_key: str
    """The path in the stack file that states it, for example `runners.gpu.arc.max`."""
    idle_key: str
    """The path of the number of idle runners."""
    pool_key: str
    """The path of the first pool."""
    fallback_key: str
    """The path of the pool that is tried when the first one gets no node."""
    image: str
    """The key in `images` that the runner's container starts from."""
    group: str = "default"
    """The runner group at GitHub."""

    @property
    def idle_on_gpu(self) -> int:
        """Idle runners that keep a GPU node running."""
        return self.idle if self.waiting_pod is None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSoftware:
    """The software of the machines, below the container of the job."""

    image: str | None = None
    """The machine image, as `gpu_ci.knowledge.software.machine_images` names it; None if its software is unknown."""
    image_key: str = ""
    """The path in the stack file that names it, or states its driver; empty where the program chooses."""
    builds_image: bool = False
    """Whether machines boot the image that `host-image` builds, so that its driver counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The offer of a back end to one runner. Exactly one of `own` and `shared` is set."""

    path: str
    """The runner's path in the stack file, for example `runners.gpu-t4`."""
    section: str
    """The path of the back end's section, for example `runners.gpu-t4.arc`."""
    machines: tuple[Machine, ...]
    """Every machine that the job may get."""
    host: HostSoftware
    steps: tuple[Step, ...]
    """The steps from the dispatched job to its first command, where nothing is running yet; from the start of a machine
    that a schedule or a person starts."""
    first_steps: tuple[Step, ...] = ()
    """Additional steps of the first start, on a machine that exists between jobs."""
    own: OwnMachines | None = None
    shared: SharedNodes | None = None
