"""What may be said of the services inside the cluster, and of GitHub, whom they serve."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from config.section import Section
from config.values import (
    CudaVersion,
    Digest,
    GitHubUrl,
    Invalid,
    Matching,
    Name,
    Positive,
    Size,
    Tag,
    Version,
    mebibytes,
)
from gpu.machines.start_up import USUAL_IMAGE_GIB

Reference = Annotated[
    str,
    Matching(
        r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)+",
        "an image without its tag",
        "write registry/repository, as in ghcr.io/example-org/runner; the tag or digest is stated beside it",
    ),
]


class GitHubSettings(Section):
    """Whose jobs are run, and the GitHub App by which runners register.

    The App's private key is the secret `github-app-private-key`, never part of a section.
    """

    url: GitHubUrl
    app_id: Annotated[int, Field(ge=1)]
    installation_id: Annotated[int, Field(ge=1)]


class ArcSettings(Section):
    """The Actions Runner Controller."""

    NEEDS: ClassVar = ("cluster", "github")

    runner_group: str = "default"
    """The runner group at GitHub that the scale sets join; it must exist there."""
    log_level: Literal["debug", "info", "warn", "error"] = "info"


class DevicePluginSettings(Section):
    """NVIDIA's device plugin, which makes a node's GPUs something that a pod can ask for."""

    NEEDS: ClassVar = ("cluster",)

    fail_on_init_error: bool = True
    """Whether the plugin ends where it finds no GPU; on nodes that are all GPU nodes, silence would hide a fault."""


class AutoscalerSettings(Section):
    """The Cluster Autoscaler, without which an empty pool stays empty."""

    NEEDS: ClassVar = ("cluster",)

    scale_down_after_minutes: Positive = 5
    """Idle minutes before a GPU node goes: money against the next job's wait."""
    provision_timeout_minutes: Positive = 10
    """Minutes until a group that gives no node is held to be empty and the next one is tried."""
    expander: tuple[Literal["priority", "least-waste", "random", "most-pods"], ...] = (
        "priority",
        "least-waste",
    )


class StorageSettings(Section):
    """Persistent volumes: the EBS driver and an encrypted gp3 StorageClass."""

    NEEDS: ClassVar = ("cluster",)

    default_class: bool = True
    """Whether claims that name no class get this one. EKS has had no default class since 1.30."""


class DcgmSettings(Section):
    """NVIDIA's GPU metrics, for Prometheus to fetch."""

    interval_seconds: Annotated[int, Field(ge=1, le=600)] = 30
    service_monitor: bool = False
    """Whether to declare a ServiceMonitor. Without the Prometheus operator's definitions the chart then fails."""
    alerts: bool = False
    """Whether Prometheus is to tell of lost and hot GPUs, of runners that stall and of jobs that wait."""

    @model_validator(mode="after")
    def _alerts_have_figures(self) -> DcgmSettings:
        if self.alerts and not self.service_monitor:
            raise Invalid("alerts needs metrics", "state service-monitor: true")
        return self


class MonitoringSettings(Section):
    """What can be measured."""

    NEEDS: ClassVar = ("cluster",)

    metrics_server: bool = True
    """CPU and memory of nodes and pods, for `kubectl top`; it shows no GPU."""
    dcgm: DcgmSettings | None = None


class ImageSettings(Section):
    """An image that runners run on, pinned so that the same stack file means the same image."""

    repository: Name | None = None
    """The ECR repository of this stack that holds it."""
    reference: Reference | None = None
    """A registry and repository elsewhere, without a tag."""
    tag: Tag | None = None
    digest: Digest | None = None
    cuda: CudaVersion
    """The CUDA version inside; judged against the nodes' driver."""
    runner: Version | None = None
    """The version of GitHub's runner inside, in quotes: GitHub gives no jobs to old ones."""
    compressed: Size | None = None
    """The size of the layers that a node pulls; estimates of waiting time and cost use it."""

    @model_validator(mode="after")
    def _one_place_and_a_pin(self) -> ImageSettings:
        if (self.repository is None) == (self.reference is None):
            raise Invalid(
                "exactly one of repository and reference is needed",
                "state either repository (in this stack's ECR) or reference (elsewhere)",
            )
        if self.tag is None and self.digest is None:
            raise Invalid("the image is not pinned", "state digest: sha256:… or an exact tag")
        return self

    @property
    def pulled_gib(self) -> float:
        """The size of the layers that a node pulls, in GiB; an estimate where `compressed` is not stated."""
        return mebibytes(self.compressed) / 1024 if self.compressed else USUAL_IMAGE_GIB
