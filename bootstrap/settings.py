"""The settings of `bootstrap/Pulumi.<stack>.yaml`: clouds, accounts, and the jobs that get access."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import ValidationError

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.reading.stack_name import stack_name_faults
from gpu_ci.stack_file.reading.translate import faults
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Account, GcpProject, GcpRegion, Region
from gpu_ci.stack_file.values.github import Branch, EnvironmentName, FullName, GitHubId

PROJECT: Final = "gpu-ci-bootstrap"
"""The name of the Pulumi project, which is also the namespace of its configuration."""


class JobSettings(Section):
    """The jobs of one repository that get access."""

    repository: FullName
    """The owner and the name, as GitHub spells them."""
    owner_id: GitHubId
    """The number of the owner: `gh api repos/OWNER/NAME --jq .owner.id`."""
    repository_id: GitHubId
    """The number of the repository: `gh api repos/OWNER/NAME --jq .id`."""
    branch: Branch = "main"
    """The only branch whose jobs get access."""


class DeploySettings(JobSettings):
    """The jobs that deploy the stack."""

    environment: EnvironmentName
    """The environment of the jobs. Its reviewers approve each deployment."""


class PreviewSettings(Section):
    """Jobs that preview the stack, in the repository that deploys it. They can change nothing."""

    environment: EnvironmentName
    """The environment of the jobs, which no other jobs have."""


class PushSettings(JobSettings):
    """The jobs that push container images."""

    environment: EnvironmentName | None = None
    """The environment of the jobs. Without one, jobs with an environment get no access."""


class AwsSettings(Section):
    """The account and the region of AWS."""

    account: Account
    region: Region
    oidc_provider: Literal["create", "existing"] = "create"
    """An account has one provider for GitHub. State `existing` if another stack or team has created it."""


class GcpSettings(Section):
    """The project and the region of Google Cloud."""

    project: GcpProject
    region: GcpRegion


class BootstrapSettings(Section):
    """All settings of one stack."""

    deploy: DeploySettings
    preview: PreviewSettings | None = None
    """The jobs that preview pull requests of branches of the repository, not of forks."""
    plan: PreviewSettings | None = None
    """The jobs on the branch of the deployment that save its plan for approval and look for drift."""
    images: PushSettings | None = None
    """The jobs that push container images to the repositories of the stack in ECR."""
    aws: AwsSettings | None = None
    gcp: GcpSettings | None = None


def settings_of(config: Mapping[str, str], stack: str, source: str) -> BootstrapSettings:
    """Return the settings in `config`: keys with their namespace, values as JSON, as Pulumi hands them over.

    Raises:
        StackFileError: with every fault of the file.

    """
    prefix = f"{PROJECT}:"
    sections = {key.removeprefix(prefix): _value(text) for key, text in config.items() if key.startswith(prefix)}
    found = stack_name_faults(stack, gcp="gcp" in sections)
    if not {"aws", "gcp"} & sections.keys():
        found.append(Fault("aws", "missing", "state aws, gcp or both: the clouds of the stack"))
    if "images" in sections and "aws" not in sections:
        problem = "is for repositories on AWS, and there is no section aws"
        found.append(Fault("images", problem, "remove it; Google Cloud has gpu-ci:github-federation"))
    try:
        settings = BootstrapSettings.model_validate(sections)
    except ValidationError as error:
        raise StackFileError([*found, *faults(error, BootstrapSettings)], source) from None
    found += _shared_environments(settings)
    if found:
        raise StackFileError(found, source)
    return settings


def _shared_environments(settings: BootstrapSettings) -> Iterator[Fault]:
    """Yield a fault for each environment that two kinds of jobs have: its role would have to serve both."""
    owners = {settings.deploy.environment: "deploy"}
    for kind, jobs in (("preview", settings.preview), ("plan", settings.plan)):
        if jobs is None:
            continue
        if (owner := owners.setdefault(jobs.environment, kind)) != kind:
            problem = f'"{jobs.environment}" is also the environment of {owner}'
            yield Fault(f"{kind}.environment", problem, f"use another, as in {settings.deploy.environment}-{kind}")


def _value(text: str) -> Any:
    """Return the value in `text`. Pulumi hands over a key without a value as an empty text."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
