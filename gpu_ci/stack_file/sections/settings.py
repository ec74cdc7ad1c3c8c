"""The whole stack file: its sections and its secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Final, TypeVar

from pydantic import Field, model_validator

from gpu_ci.knowledge.machines import Catalogue
from gpu_ci.stack_file.sections.aws import (
    AwsSettings,
    ClusterSettings,
    NetworkSettings,
    RepositoryName,
    RepositorySettings,
)
from gpu_ci.stack_file.sections.cirun import CirunSettings
from gpu_ci.stack_file.sections.exceptions import ExceptionSettings
from gpu_ci.stack_file.sections.gcp import (
    DockerRepositorySettings,
    FederationSettings,
    GcpSettings,
    GpuTestImageSettings,
    HostImageSettings,
)
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.images import ImageSettings, PytorchImagesSettings
from gpu_ci.stack_file.sections.instance_types import InstanceTypeSettings, TypeName, catalogue
from gpu_ci.stack_file.sections.machine_images import Ec2ImageSettings, EksImageSettings
from gpu_ci.stack_file.sections.machines import CpuPoolSettings, NodePool, PoolSettings, SystemNodesSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.sections.services import (
    ArcSettings,
    AutoscalerSettings,
    DevicePluginSettings,
    GitHubSettings,
    MonitoringSettings,
    SmokeTestSettings,
    StorageSettings,
)
from gpu_ci.stack_file.values.gcp import DockerRepositoryName
from gpu_ci.stack_file.values.general import Invalid, Matching, Name, RunnerName, TagKey
from gpu_ci.stack_file.values.github import Repository

_S = TypeVar("_S", bound=Section)

GITHUB_APP_PRIVATE_KEY: Final = "github-app-private-key"
SECRETS: Final = (GITHUB_APP_PRIVATE_KEY,)
"""Keys of secrets. They are set with `pulumi config set --secret` and are not part of a section."""


class StackSettings(Section):
    """Options of the whole stack."""

    protect: bool
    """Protect resources with data or identity from deletion."""
    tags: Mapping[TagKey, Annotated[str, Field(max_length=256)]] = Field(default_factory=dict)
    """Tags of every resource that supports them, in addition to project, stack and manager."""


Dollars = Annotated[int, Field(ge=1, le=10**9)]
QuotaKey = Annotated[
    str,
    Matching(
        r"([a-z]+(-[a-z]+)+-?\d+/)?(L-[0-9A-Z]{8}|(?!L-)[A-Z][A-Z0-9_]+)",
        "the code of a quota",
        "write it as L-3819A6DF or NVIDIA_T4_GPUS, or REGION/CODE for one region",
    ),
]


class BudgetSettings(Section):
    """The largest cost of the stack in US dollars a month. A plan with a higher cost fails."""

    expected: Dollars | None = None
    """The limit for the jobs that the runners' workloads state."""
    worst: Dollars | None = None
    """The limit with every maximum reached all month."""

    @model_validator(mode="after")
    def _states_a_limit(self) -> BudgetSettings:
        if self.expected is None and self.worst is None:
            raise Invalid("states no limit", "state expected or worst")
        return self


class Settings(Section):
    """A whole stack file. An absent section switches its part off."""

    stack: StackSettings
    aws: AwsSettings | None = None
    network: NetworkSettings | None = None
    cluster: ClusterSettings | None = None
    system_nodes: SystemNodesSettings | None = None
    gpu_pools: Mapping[Name, PoolSettings] = Field(default_factory=dict)
    cpu_pools: Mapping[Name, CpuPoolSettings] = Field(default_factory=dict)
    eks_image: EksImageSettings | None = None
    ec2_image: Ec2ImageSettings | None = None
    device_plugin: DevicePluginSettings | None = None
    autoscaler: AutoscalerSettings | None = None
    storage: StorageSettings | None = None
    monitoring: MonitoringSettings | None = None
    smoke_test: SmokeTestSettings | None = None
    ecr: Mapping[RepositoryName, RepositorySettings] = Field(default_factory=dict)
    images: Mapping[Name, ImageSettings] = Field(default_factory=dict)
    pytorch_images: PytorchImagesSettings | None = None
    github: GitHubSettings | None = None
    arc: ArcSettings | None = None
    gcp: GcpSettings | None = None
    host_image: HostImageSettings | None = None
    artifact_registry: Mapping[DockerRepositoryName, DockerRepositorySettings] = Field(default_factory=dict)
    test_image: GpuTestImageSettings | None = None
    github_federation: FederationSettings | None = None
    cirun: CirunSettings | None = None
    gpu_tests: Mapping[Repository, GpuTestsSettings] = Field(default_factory=dict)
    runners: Mapping[RunnerName, RunnerSettings] = Field(default_factory=dict)
    quotas: Mapping[QuotaKey, Annotated[int, Field(ge=0, le=10**9)]] = Field(default_factory=dict)
    """The quotas of the account, by their code. The checks compare them with the largest use of the stack."""
    budget: BudgetSettings | None = None
    instance_types: Mapping[TypeName, InstanceTypeSettings] = Field(default_factory=dict)
    """Machine types that gpu-ci does not know, with the facts that its checks need."""
    exceptions: Mapping[Name, ExceptionSettings] = Field(default_factory=dict)
    """Findings of checks and policy rules that are allowed until a day, each with a reason."""

    @cached_property
    def machines(self) -> Catalogue:
        """The machine types that the stack can use: the tables, and the stated ones."""
        return catalogue(self.instance_types)

    @property
    def pools(self) -> Mapping[str, NodePool]:
        """All pools of nodes for jobs, by name. A rule reports a name that both sections have."""
        return {**self.gpu_pools, **self.cpu_pools}

    @property
    def pools_by_path(self) -> Mapping[str, NodePool]:
        """All pools of nodes for jobs, by their path in the stack file."""
        named = (*self.gpu_pools.items(), *self.cpu_pools.items())
        return {f"{pool.SECTION}.{name}": pool for name, pool in named}

    def pool_path(self, name: str) -> str:
        """Return the path of a pool in the stack file."""
        return f"{self.pools[name].SECTION}.{name}"

    def served(self, kind: type[_S]) -> Iterator[tuple[str, RunnerSettings, _S]]:
        """Yield the name, the runner and its section, for each runner with a back end's section of this kind."""
        for name, runner in self.runners.items():
            for section in runner.stated.values():
                if isinstance(section, kind):
                    yield name, runner, section
