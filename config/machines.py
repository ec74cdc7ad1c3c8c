"""What may be said of the cluster's machines: a small group for the cluster itself, and the GPU pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from config.section import Section
from config.values import Count, InstanceType, Positive, Size, TagKey, Taint, Wrong, Zone

Types = Annotated[tuple[InstanceType, ...], Field(min_length=1, max_length=20)]


class DiskSettings(Section):
    """A node's encrypted gp3 root volume."""

    size: Size = "200Gi"
    """CUDA images are large: the EKS image's own 20 GiB do not hold one."""
    iops: Annotated[int, Field(ge=3000, le=16000)] = 3000
    throughput: Annotated[int, Field(ge=125, le=1000)] = 125
    """MiB/s; gp3 gives at most a quarter of a MiB/s for each of its IOPS."""

    @model_validator(mode="after")
    def _within_gp3(self) -> DiskSettings:
        if self.throughput * 4 > self.iops:
            raise Wrong(
                f"{self.throughput} MiB/s needs {self.throughput * 4} IOPS, and {self.iops} are stated",
                f"state iops: {self.throughput * 4}, or throughput: {self.iops // 4}",
            )
        return self


class SystemNodesSettings(Section):
    """The on-demand nodes without a GPU, on which DNS, the autoscaler and the runner controller live."""

    instance_types: Types
    min: Positive
    max: Positive
    disk: DiskSettings = DiskSettings(size="50Gi")


class SharingSettings(Section):
    """One GPU for several jobs at a time."""

    mode: Literal["time-slicing", "mps"]
    """`time-slicing` takes turns without isolation; `mps` runs side by side and splits the memory."""
    replicas: Annotated[int, Field(ge=2, le=48)]
    """How many jobs share one GPU."""


class PoolSettings(Section):
    """GPU nodes of one kind: a managed node group that the autoscaler moves between `min` and `max`."""

    instance_types: Types
    """Interchangeable types, the one the autoscaler is to reckon with first."""
    capacity: Literal["spot", "on-demand"]
    min: Count
    max: Positive
    zones: tuple[Zone, ...] = ()
    """Zones to launch in; none means all of the network's."""
    disk: DiskSettings = DiskSettings()
    labels: Mapping[TagKey, Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$")]] = Field(
        default_factory=dict
    )
    """Labels beside those that every GPU node has."""
    taints: Mapping[TagKey, Taint] = Field(default_factory=dict)
    """Taints beside `nvidia.com/gpu=true:NoSchedule`, as `key: value:Effect`; runners tolerate them by themselves."""
    sharing: SharingSettings | None = None
    scale_down_after_minutes: Positive | None = None
    """Idle minutes before a node goes, where this pool differs from the autoscaler's own."""
    fast_image_pull: bool = False
    """Pull image layers in parallel through the SOCI snapshotter (experimental in nodeadm)."""
