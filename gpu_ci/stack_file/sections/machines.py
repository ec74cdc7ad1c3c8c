"""Sections of the cluster's machines: the system nodes and the GPU pools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from components.aws.nodes.taints import API_EFFECTS
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Count, InstanceType, Invalid, Matching, Positive, Size, Zone, gibibytes

Types = Annotated[tuple[InstanceType, ...], Field(min_length=1, max_length=20)]


def _taint(value: str) -> str:
    """Accept `value:Effect` in the spelling of Kubernetes and of the autoscaler's tags.

    The spelling of the EKS API (`NO_SCHEDULE`) is derived from it. The autoscaler silently ignores that spelling in a
    tag, and then assumes that the pool has no taint.
    """
    content, _, effect = value.rpartition(":")
    if effect.replace("_", "").lower() in (known.lower() for known in API_EFFECTS) and effect not in API_EFFECTS:
        known = next(known for known in API_EFFECTS if known.lower() == effect.replace("_", "").lower())
        raise Invalid(
            f"{effect} is the spelling of the EKS API, not of Kubernetes",
            f"write {content or 'true'}:{known}",
        )
    if effect not in API_EFFECTS:
        raise Invalid(f'"{value}" is not a taint', f"write value:Effect with one of {', '.join(API_EFFECTS)}")
    if not content:
        raise Invalid(f'"{value}" has no value, and the autoscaler ignores such a taint', f"write true:{effect}")
    if not re.fullmatch(_LABEL_VALUE, content):
        raise Invalid(f'"{content}" is not a taint\'s value', _LABEL_VALUE_FIX)
    return value


_LABEL_VALUE = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_LABEL_VALUE_FIX = "use at most 63 letters, digits, dots, hyphens and underscores, a letter or digit at both ends"


LabelKey = Annotated[
    str,
    Matching(
        r"([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?"
        r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
        "the key of a Kubernetes label",
        "write name or domain/name: letters, digits, dots, hyphens and underscores",
    ),
]
LabelValue = Annotated[str, Matching(f"({_LABEL_VALUE})?", "the value of a Kubernetes label", _LABEL_VALUE_FIX)]
Taint = Annotated[
    str,
    AfterValidator(_taint),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_LABEL_VALUE}:({'|'.join(API_EFFECTS)})$", "examples": ["true:NoSchedule"]}
    ),
]


IMAGE_ROOT_GIB = 20
"""The root disk of the AL2023 images of EKS (EKS user guide, 2026). A volume cannot be smaller."""
GP3_MOST_IOPS = 80_000
GP3_MOST_MIBPS = 2_000
"""The largest IOPS and throughput of a gp3 volume (EC2 API, CreateVolume, 2026)."""
GP3_MOST_IOPS_PER_GIB = 500
"""The largest IOPS of a gp3 volume for each GiB (EBS user guide, 2026)."""


class DiskSettings(Section):
    """A node's encrypted gp3 root volume."""

    size: Size = "200Gi"
    """CUDA images are large: the default of EKS, 20 GiB, is too small for one."""
    iops: Annotated[int, Field(ge=3000, le=GP3_MOST_IOPS)] = 3000
    throughput: Annotated[int, Field(ge=125, le=GP3_MOST_MIBPS)] = 125
    """Throughput in MiB/s, at most a quarter of the IOPS."""

    @model_validator(mode="after")
    def _can_be_made(self) -> DiskSettings:
        gib = gibibytes(self.size)
        if gib < IMAGE_ROOT_GIB:
            raise Invalid(
                f"{self.size} is smaller than the node image of {IMAGE_ROOT_GIB} GiB",
                f"state size: {IMAGE_ROOT_GIB}Gi or more",
            )
        if self.iops > gib * GP3_MOST_IOPS_PER_GIB:
            raise Invalid(
                f"{self.iops} IOPS need {-(-self.iops // GP3_MOST_IOPS_PER_GIB)} GiB, but size is {self.size}",
                f"state size: {-(-self.iops // GP3_MOST_IOPS_PER_GIB)}Gi, or iops: {gib * GP3_MOST_IOPS_PER_GIB}",
            )
        if self.throughput * 4 > self.iops:
            raise Invalid(
                f"{self.throughput} MiB/s needs {self.throughput * 4} IOPS, but iops is {self.iops}",
                f"state iops: {self.throughput * 4}, or throughput: {self.iops // 4}",
            )
        return self


class SystemNodesSettings(Section):
    """On-demand nodes without a GPU for DNS, the autoscaler and the runner controller."""

    NEEDS: ClassVar = ("cluster",)

    instance_types: Types
    min: Positive
    max: Positive
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones of the nodes. Adding or removing a zone replaces the node group."""
    disk: DiskSettings = DiskSettings(size="50Gi")


_OTHER_MODES: Final = {
    "mig": "a T4, an L4 or an A10G cannot be split in hardware",
    "mps": "its shared memory and that of a job need the same mount, /dev/shm",
}
"""Modes of the device plugin that this program does not offer, with the reason."""


def _mode(value: object) -> object:
    """Refuse the other modes with their reason."""
    if isinstance(value, str) and value in _OTHER_MODES:
        raise Invalid(f'"{value}" is not supported: {_OTHER_MODES[value]}', "write time-slicing, or remove sharing")
    return value


class SharingSettings(Section):
    """One GPU for several jobs at the same time."""

    mode: Annotated[Literal["time-slicing"], BeforeValidator(_mode)]
    """`time-slicing` runs jobs in turns. It isolates neither their memory nor their faults."""
    replicas: Annotated[int, Field(ge=2, le=48)]
    """The number of jobs that share one GPU."""


STOCK: Final = "stock"
OWN: Final = "own"
NodeImage = Annotated[
    str,
    Matching(
        r"stock|own|ami-([0-9a-f]{8}|[0-9a-f]{17})",
        "an image of nodes",
        "write stock, own, or an AMI's id, as in ami-0123456789abcdef0",
    ),
]


class NodePool(Section):
    """A managed node group for jobs, which the autoscaler scales between `min` and `max`."""

    SECTION: ClassVar[str]
    """The section of the stack file that has the pool."""

    instance_types: Types
    """Interchangeable types. The autoscaler sizes new nodes from the first one, so list the smallest first."""
    capacity: Literal["spot", "on-demand"]
    min: Count
    max: Positive
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones of the nodes. Adding or removing a zone replaces the node group."""
    disk: DiskSettings = DiskSettings()
    labels: Mapping[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels in addition to those that gpu-ci sets."""
    taints: Mapping[LabelKey, Taint] = Field(default_factory=dict)
    """Taints in addition to the one that gpu-ci sets, as `key: value:Effect`. Runners tolerate them."""
    scale_down_after_minutes: Positive | None = None
    """Idle minutes before a node is removed, where this pool differs from `autoscaler`."""
    interruptions_per_hour: Annotated[float, Field(ge=0, le=10)] | None = None
    """Measured interruptions of a spot machine in an hour. The default is the figure that AWS publishes."""


class CpuPoolSettings(NodePool):
    """A managed node group without GPUs. Its taint `gpu-ci/cpu=true:NoSchedule` keeps pods other than CPU jobs away."""

    NEEDS: ClassVar = ("cluster",)
    SECTION: ClassVar = "cpu-pools"


class PoolSettings(NodePool):
    """A managed node group of GPU nodes. Its taint `nvidia.com/gpu=true:NoSchedule` keeps other pods away."""

    NEEDS: ClassVar = ("cluster", "device-plugin")
    SECTION: ClassVar = "gpu-pools"

    sharing: SharingSettings | None = None
    fast_image_pull: bool = False
    """Pull image layers in parallel through the SOCI snapshotter (experimental in nodeadm)."""
    image: NodeImage = STOCK
    """`stock` is the image of EKS; `own` is the image of `eks-image`, after its tests passed; `ami-…` is an exact image
    for nodes of EKS. A change from or to `stock` replaces the node group."""
