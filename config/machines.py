"""What may be said of the cluster's machines: a small group for the cluster itself, and the GPU pools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from config.section import Section
from config.values import Count, InstanceType, Invalid, Matching, Positive, Size, Zone, gibibytes
from gpu.kubernetes.taints import API_EFFECTS

Types = Annotated[tuple[InstanceType, ...], Field(min_length=1, max_length=20)]


def _taint(value: str) -> str:
    """Accept `value:Effect` as Kubernetes and the autoscaler's tags spell it.

    The EKS API's own spelling (`NO_SCHEDULE`) is derived from it. Written into a tag it would be dropped
    without a word by the autoscaler, which then believes that the pool has no taint.
    """
    content, _, effect = value.rpartition(":")
    if effect.replace("_", "").lower() in (known.lower() for known in API_EFFECTS) and effect not in API_EFFECTS:
        right = next(known for known in API_EFFECTS if known.lower() == effect.replace("_", "").lower())
        raise Invalid(
            f"{effect} is the spelling of the EKS API, not of Kubernetes",
            f"write {content or 'true'}:{right}",
        )
    if effect not in API_EFFECTS:
        raise Invalid(f'"{value}" is not a taint', f"write value:Effect with one of {', '.join(API_EFFECTS)}")
    if not content:
        raise Invalid(f'"{value}" has no value, and the autoscaler ignores such a taint', f"write true:{effect}")
    if not re.fullmatch(_LABEL_VALUE, content):
        raise Invalid(f'"{content}" is not a taint\'s value', _LABEL_VALUE_RIGHT)
    return value


_LABEL_VALUE = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_LABEL_VALUE_RIGHT = "use at most 63 letters, digits, dots, hyphens and underscores, a letter or digit at both ends"


LabelKey = Annotated[
    str,
    Matching(
        r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
        "the key of a Kubernetes label",
        "write name or domain/name: letters, digits, dots, hyphens and underscores",
    ),
]
LabelValue = Annotated[str, Matching(_LABEL_VALUE, "the value of a Kubernetes label", _LABEL_VALUE_RIGHT)]
Taint = Annotated[
    str,
    AfterValidator(_taint),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_LABEL_VALUE}:({'|'.join(API_EFFECTS)})$", "examples": ["true:NoSchedule"]}
    ),
]


IMAGE_ROOT_GIB = 20
"""The root disk of EKS's own AL2023 images (EKS user guide, 2026): EC2 makes no volume smaller than its snapshot."""
GP3_MOST_IOPS_PER_GIB = 500
"""What EC2 gives a gp3 volume for each GiB (EBS user guide, 2026)."""


class DiskSettings(Section):
    """A node's encrypted gp3 root volume."""

    size: Size = "200Gi"
    """CUDA images are large: the EKS image's own 20 GiB do not hold one."""
    iops: Annotated[int, Field(ge=3000, le=16000)] = 3000
    throughput: Annotated[int, Field(ge=125, le=1000)] = 125
    """MiB/s; gp3 gives at most a quarter of a MiB/s for each of its IOPS."""

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
    """The on-demand nodes without a GPU, on which DNS, the autoscaler and the runner controller live."""

    NEEDS: ClassVar = ("cluster",)

    instance_types: Types
    min: Positive
    max: Positive
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones to stand in. Stated, because a node group whose zones change, even by one more, is made anew."""
    disk: DiskSettings = DiskSettings(size="50Gi")


def _mode(value: object) -> object:
    """Say why there is no third mode: whoever knows it from an A100 looks for it here."""
    if value == "mig":
        raise Invalid(
            '"mig" is not supported: a T4, an L4 or an A10G cannot be split in hardware',
            "write time-slicing or mps",
        )
    return value


class SharingSettings(Section):
    """One GPU for several jobs at a time."""

    mode: Annotated[Literal["time-slicing", "mps"], BeforeValidator(_mode)]
    """`time-slicing` takes turns without isolation; `mps` runs side by side and splits the memory."""
    replicas: Annotated[int, Field(ge=2, le=48)]
    """How many jobs share one GPU."""


class PoolSettings(Section):
    """GPU nodes of one kind: a managed node group that the autoscaler moves between `min` and `max`."""

    NEEDS: ClassVar = ("cluster", "device-plugin")

    instance_types: Types
    """Interchangeable types, the one the autoscaler is to reckon with first."""
    capacity: Literal["spot", "on-demand"]
    min: Count
    max: Positive
    zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones to launch in. Stated, because a node group whose zones change, even by one more, is made anew."""
    disk: DiskSettings = DiskSettings()
    labels: Mapping[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels beside those that every GPU node has."""
    taints: Mapping[LabelKey, Taint] = Field(default_factory=dict)
    """Taints beside `nvidia.com/gpu=true:NoSchedule`, as `key: value:Effect`; runners tolerate them by themselves."""
    sharing: SharingSettings | None = None
    scale_down_after_minutes: Positive | None = None
    """Idle minutes before a node goes, where this pool differs from the autoscaler's own."""
    interruptions_per_hour: Annotated[float, Field(ge=0, le=10)] | None = None
    """How often in an hour a spot machine is taken away, where it was measured; else what AWS publishes is taken."""
    fast_image_pull: bool = False
    """Pull image layers in parallel through the SOCI snapshotter (experimental in nodeadm)."""
