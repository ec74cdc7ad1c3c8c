"""The protocol of a back end: what every package in `back_ends` provides, and what it receives.

A package has these modules:

- `section.py`: the typed section of a runner. It imports nothing above `gpu_ci.stack_file.sections`.
- `rules.py`: `RULES`, the rules of that section over `Settings`, and `REFERENCES`, the rules that also need the names
  that the file states (`gpu_ci/stack_file/rules/stated.py`). Either may be empty.
- `back_end.py`: `BACK_END`, an object with the methods of `BackEnd`.

Nothing outside the package names it, except `stack_file.py` (section and rules) and `registry.py` (the back end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gpu_ci.back_ends.offer import Offer
from gpu_ci.back_ends.stack import Stack
from gpu_ci.stack_file.sections.images import ImageSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings

if TYPE_CHECKING:
    import pulumi

    from gpu_ci.stack_file.reading.load import Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOn:
    """The labels by which a workflow requests a runner."""

    line: str
    """The line of a workflow, for example `runs-on: gpu-t4`."""
    label: str
    """The label that identifies the runner."""
    more: frozenset[str] = frozenset()
    """Labels that a job may add."""
    labels_key: str = ""
    """The key in the stack file that adds labels to `more`; empty where the labels are fixed."""
    suffix: bool = False
    """Whether the label may continue after `--` with text that identifies the run."""
    named: bool = False
    """Whether a job must state `label`; without it, any of the labels is enough."""
    job_container: bool | None = None
    """Whether a job must (True) or must not (False) state `container`; None where it may do either."""
    container_fix: str = ""
    """What allows a job to state `container`, as in `state docker: true in runners.gpu.vm`; empty where it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramContext:
    """The resources and options that exist before the back ends declare theirs."""

    stack: Stack
    secrets: Secrets
    aws: pulumi.ResourceOptions | None = None
    """Options with the AWS provider; none without the section `aws`."""
    gcp: pulumi.ResourceOptions | None = None
    """Options with the Google Cloud provider and the enabled APIs; none without the section `gcp`."""
    cluster: pulumi.ResourceOptions | None = None
    """Options with the Kubernetes provider of the ready cluster; none without the section `cluster`."""
    kubeconfig: pulumi.Input[str] = ""
    """A kubeconfig of the cluster; empty without the section `cluster`."""
    repositories: Mapping[str, pulumi.Output[str]]
    """ECR repository to its address."""
    images: Mapping[str, pulumi.Output[str]] = field(default_factory=dict)
    """Region to the AMI of `ec2-image`, which exists after its tests passed; empty without that section."""
    host_image: pulumi.Output[str] | None = None
    """The name of the image that `host-image` builds, after its tests passed; none without it."""
    identity_pool: pulumi.Input[str] = ""
    """The resource name of the pool of `github-federation`; empty without that section."""
    runner_account: pulumi.Input[str] = ""
    """The resource name of the service account that machines on Google Cloud run as."""

    def image(self, stated: ImageSettings) -> pulumi.Input[str]:
        """Return an image as a pod names it."""
        if stated.repository is None:
            return f"{stated.reference}{stated.pin}"
        # Imported here: a plan of another cloud does not load the SDK.
        from pulumi import Output  # noqa: PLC0415

        return Output.concat(self.repositories[stated.repository], stated.pin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository that uses the runners of a stack."""

    stack: Stack
    back_ends: Mapping[str, BackEnd]
    """Runner name to its back end."""
    name: str | None = None
    """Its name at GitHub, without its owner; none where it is not stated."""
    machine_image: str | None = None
    """The name of the image that `host-image` builds; none without that section."""


class BackEnd(Protocol):
    """A back end."""

    title: str
    """The name that people use, for example `cirun on AWS`."""

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        ...

    def runs_on(self, name: str, runner: RunnerSettings) -> RunsOn:
        """Return how a workflow asks for one runner."""
        ...

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare the resources of all its runners; return them by the path in the stack file that asked for them."""
        ...

    def files(self, repository: Repository) -> Mapping[str, str]:
        """Return the files that a repository needs, by path. Back ends that share a file return the same text."""
        ...
