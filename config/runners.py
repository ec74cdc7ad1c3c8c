"""The heart of the stack file: what a job may ask for, said once, served by one named back end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from config.machines import Types
from config.section import Section
from config.values import Count, CudaVersion, GoogleZone, MachineType, Matching, Name, Positive, Region, Size, Version

SCALE_SET_NAME_LIMIT = 45
"""Longest name that the scale set chart renders."""

Ami = Annotated[
    str,
    Matching(
        r"ami-[0-9a-f]{8,17}",
        "an AMI's id",
        "write ami- and its hexadecimal digits, as in ami-0123456789abcdef0",
    ),
]
ImageParameter = Annotated[
    str,
    Matching(
        r"/aws/service/[a-zA-Z0-9/._-]+",
        "a public parameter of AWS",
        "write its whole path, as in /aws/service/…/latest/ami-id",
    ),
]
Markets = Annotated[tuple[bool, ...], Field(min_length=1, max_length=2)]
"""Spot or not, in the order in which a machine is asked for."""


class Needs(Section):
    """What one job may use."""

    gpu: Name
    """The GPU model, as in `t4`, `a10g`, `l4`."""
    gpus: Annotated[int, Field(ge=1, le=16)] = 1
    cpu: Annotated[int, Field(ge=1, le=192)]
    memory: Size
    cuda: CudaVersion
    disk: Size | None = None
    """Room for the job's files beside the image."""
    torch: Version | None = None
    """The PyTorch version that jobs install, in quotes, where it is to be judged with the rest."""
    onnxruntime: Version | None = None
    """The version of onnxruntime-gpu that jobs install, in quotes."""


class ArcBackEnd(Section):
    """Served by a scale set of the Actions Runner Controller on an EKS pool."""

    pool: Name
    """The GPU pool whose nodes run it."""
    fallback: Name | None = None
    """Another pool whose nodes may run it, tried where the first one's give nothing: on-demand behind spot."""
    min: Count = 0
    """Idle runners kept waiting. On a GPU pool each keeps a node alive."""
    max: Positive
    image: Name
    """The image, by its key in `images`."""
    container_mode: Literal["none", "kubernetes-novolume"] = "none"
    """`none` runs the job's steps in the runner's own container; `kubernetes-novolume` runs the workflow's
    `container:` as a pod of its own, which then has the GPU."""
    labels: tuple[Name, ...] = ()
    """Labels beside the name that a job may ask for. GitHub takes them only when the scale set is first made."""

    @property
    def min_on_gpu(self) -> int:
        """Idle runners that keep a GPU node alive: where the job has a pod of its own, the runner waits elsewhere."""
        return self.min if self.container_mode == "none" else 0


class CirunAmazonBackEnd(Section):
    """Served by cirun, which starts an EC2 instance for each job."""

    instance_types: Types
    regions: Annotated[tuple[Region, ...], Field(min_length=1)]
    """Regions to try in turn."""
    images: Annotated[Mapping[Region, Ami], Field(min_length=1)]
    """The AMI in each region: an image exists in one region alone."""
    image_parameter: ImageParameter | None = None
    """The SSM parameter by which the images were found; the stack says how to look again."""
    spot: Markets = (True,)
    """What to try in turn: `[true, false]` falls back to on-demand."""
    disk: Size = "100Gi"
    at_once: Positive = 1
    """Jobs at a time that quotas and money are reckoned for; cirun itself knows no limit."""


class CirunGoogleBackEnd(Section):
    """Served by cirun, which starts a GCE instance for each job."""

    machine_types: Annotated[tuple[MachineType, ...], Field(min_length=1)]
    zones: Annotated[tuple[GoogleZone, ...], Field(min_length=1)]
    """Zones to try in turn."""
    image_family: Name
    spot: Markets = (True,)
    """What to try in turn: `[true, false]` falls back to on-demand."""
    disk: Size = "100Gi"
    at_once: Positive = 1
    """Jobs at a time that quotas and money are reckoned for; cirun itself knows no limit."""


class Workload(Section):
    """What is known of the jobs, for the reckoning of money and waiting time."""

    jobs_per_month: Annotated[int, Field(ge=0, le=10_000_000)]
    minutes: Annotated[int, Field(ge=1, le=5760)]
    """How long a typical job takes."""
    p95_minutes: Annotated[int, Field(ge=1, le=5760)] | None = None
    """How long the longest twentieth of jobs takes at the least."""


class RunnerSettings(Section):
    """One thing that a workflow can say in `runs-on`."""

    needs: Needs
    timeout_minutes: Annotated[int, Field(ge=1, le=5760)]
    """The longest job this is meant for; a pod that is made for a job ends a start-up's time after it."""
    workload: Workload | None = None
    queue_target_minutes: Positive | None = None
    """How long a job should wait for its first step, at the 95th percentile."""
    arc: ArcBackEnd | None = None
    cirun_aws: CirunAmazonBackEnd | None = None
    cirun_gcp: CirunGoogleBackEnd | None = None


BACK_ENDS = ("arc", "cirun-aws", "cirun-gcp")
"""The back ends, as the stack file spells them."""
