"""Sections of the services inside the cluster, and of GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gpu_ci.stack_file.sections.github_repository import GitHubRepositorySettings
from gpu_ci.stack_file.sections.machines import LabelKey, LabelValue
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Invalid, Name, Positive
from gpu_ci.stack_file.values.github import GitHubId, GitHubUrl, Repository, RunnerGroup
from gpu_ci.stack_file.values.mail import Email


class GitHubSettings(Section):
    """The organisation or repository whose jobs run, and the GitHub App that registers runners.

    The App's private key is the secret `github-app-private-key`, never part of a section.
    """

    url: GitHubUrl
    app_id: GitHubId
    installation_id: GitHubId
    set_variables: bool = False
    """Set variables of the repository in `url`, such as the switch of its GPU tests. `pulumi up` then needs a token in
    `GITHUB_TOKEN`. Otherwise an output has the commands."""
    repositories: Mapping[Repository, GitHubRepositorySettings] = Field(default_factory=dict)
    """Repositories of the owner in `url` whose variables, labels and required checks the stack sets, by name. For
    others, `make kit` prints the commands."""


class ArcSettings(Section):
    """The Actions Runner Controller."""

    NEEDS: ClassVar = ("cluster", "github")

    runner_group: RunnerGroup = "default"
    """The runner group at GitHub that the scale sets join. It must exist."""
    log_level: Literal["debug", "info", "warn", "error"] = "info"
    ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], Field(min_length=1)] = (443,)
    """TCP ports on which runners and jobs reach addresses outside the cluster. Add 80 for packages over HTTP."""


class DevicePluginSettings(Section):
    """NVIDIA's device plugin, which offers the GPUs of a node to pods."""

    NEEDS: ClassVar = ("cluster",)

    fail_on_init_error: bool = True
    """Let the plugin fail on a node without a GPU. It runs on GPU nodes only, where a missing GPU is a fault."""


class AutoscalerSettings(Section):
    """The Cluster Autoscaler. Without it an empty pool stays empty."""

    NEEDS: ClassVar = ("cluster",)

    scale_down_after_minutes: Positive = 5
    """Idle minutes before a GPU node is removed. A longer time costs more, and the next job starts faster."""
    provision_timeout_minutes: Annotated[int, Field(ge=1, le=1440)] = 10
    """Minutes to wait for a node of a group before the next group is tried."""
    expander: Annotated[
        tuple[Literal["priority", "least-waste", "least-nodes", "random", "most-pods"], ...], Field(min_length=1)
    ] = (
        "priority",
        "least-waste",
    )


class StorageSettings(Section):
    """Persistent volumes: the EBS driver and an encrypted gp3 StorageClass."""

    NEEDS: ClassVar = ("cluster",)

    default_class: bool = True
    """Use this class for claims that name no class. EKS has had no default class since 1.30."""


class DcgmSettings(Section):
    """NVIDIA's exporter of GPU metrics for Prometheus."""

    interval_seconds: Annotated[int, Field(ge=1, le=600)] = 30
    service_monitor: bool = False
    """Declare a ServiceMonitor. The chart then needs the definitions of the Prometheus operator."""
    alerts: bool = False
    """Declare alerts for lost, hot and idle GPUs, stalled runners and waiting jobs."""
    dashboard: bool = False
    """Declare a dashboard that Grafana of kube-prometheus-stack loads."""
    labels: Mapping[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the ServiceMonitor, the PodMonitor and the alerts. kube-prometheus-stack only reads objects with the
    label `release: NAME`, the name of its Helm release."""
    namespace_labels: Mapping[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the namespace, for a Prometheus that selects namespaces."""

    @model_validator(mode="after")
    def _parts_have_metrics(self) -> DcgmSettings:
        stated = [key for key in ("alerts", "dashboard", "labels") if getattr(self, key)]
        if stated and not self.service_monitor:
            raise Invalid(f"{stated[0]} needs metrics", "state service-monitor: true")
        return self


class CloudWatchSettings(Section):
    """Alarms about the machines of the GPU pools by e-mail, without software in the cluster. EC2 has no GPU metric."""

    email: Email
    """The address of the alarms. Confirm the message from AWS once."""
    idle_minutes: Annotated[int, Field(ge=15, le=1440, multiple_of=5)] = 60
    """Minutes after which machines without work are an alarm, where no machine may remain without a job."""


class MonitoringSettings(Section):
    """Metrics of the cluster."""

    NEEDS: ClassVar = ("cluster",)

    metrics_server: bool = True
    """CPU and memory of nodes and pods for `kubectl top`, without GPUs."""
    dcgm: DcgmSettings | None = None
    cloudwatch: CloudWatchSettings | None = None


class SmokeTestSettings(Section):
    """A test of the GPUs of each pool with `nvidia-smi` and PyTorch. `make smoke` runs it."""

    NEEDS: ClassVar = ("cluster", "gpu-pools", "images")

    image: Name
    """An image of `images` with Python and PyTorch."""
    on_up: bool = False
    """Also run the test in `pulumi up` when a pool's nodes or the image change, and wait for it. This starts a node of
    each pool and takes minutes."""
    timeout_minutes: Annotated[int, Field(ge=5, le=120)] = 30
    """Minutes for the start of a node, the pull of the image, and the test."""
