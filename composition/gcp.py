"""The Google Cloud half: APIs, accounts, the host image and its builders' network, image repositories, ways in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pulumi_command as command
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from back_ends.cirun_gcp.permissions import ROLE_TITLE as GOOGLE_ROLE_TITLE
from back_ends.cirun_gcp.permissions import permissions as google_permissions
from components.gcp.apis import Apis
from components.gcp.cirun_access import CirunGoogleAccess, CirunGoogleArgs
from components.gcp.docker_repository import DockerRepository, DockerRepositoryArgs
from components.gcp.federation import Federation, FederationArgs
from components.gcp.runner_account import RunnerAccount
from components.gcp.runner_network import RunnerNetwork
from composition import exports, host_image
from composition import gcp_image as google_image

if TYPE_CHECKING:
    from pathlib import Path

    from config.gcp import DockerRepositorySettings, GoogleSettings, GpuTestImageSettings
    from config.identity import Identity
    from config.settings import Settings


def google(
    settings: Settings, stated: GoogleSettings, identity: Identity, installer: Path = host_image.INSTALLER
) -> dict[str, pulumi.Resource]:
    """Everything on Google Cloud; what was made, by the path in the stack file that asked for it."""
    provider = gcp.Provider(
        "gcp",
        project=stated.project,
        region=stated.region,
        default_labels=identity.labels,
        # Calls are charged to the runners' project, whoever's credentials make them.
        user_project_override=True,
        billing_project=stated.project,
    )
    here = ResourceOptions(providers=[provider, command.Provider("command")])
    apis = Apis("apis", project=stated.project, apis=_apis(settings), opts=here)
    # The engine sees no edge from a resource to the API that it is made through.
    ready = ResourceOptions.merge(here, ResourceOptions(depends_on=[apis]))
    made: dict[str, pulumi.Resource] = {"gcp": apis}
    account = RunnerAccount("runner-account", project=stated.project, account=f"{identity.prefix}-runner", opts=ready)
    made["gcp.runner-account"] = account
    pulumi.export("runner_service_account", account.email)
    federation = _federation(settings, stated, identity, ready)
    if federation is not None:
        made["github-federation"] = federation
        pulumi.export("workload_identity_provider", federation.provider_name)
    for name, repository in settings.artifact_registry.items():
        images = _repository(name, repository, settings, stated, account, federation, ready)
        made[f"artifact-registry.{name}"] = images
        if settings.test_image is not None and settings.test_image.repository == name:
            made |= {"test-image": images, **_test_image(settings.test_image, images, here)}
    if settings.host_image is not None:
        made["host-image"] = google_image.image(settings.host_image, stated, identity, installer, ready)
    host = host_image.name(settings.host_image, stated.region, installer) if settings.host_image is not None else None
    pulumi.export("storage_locations", exports.storage_locations(settings, host))
    if settings.cirun is not None and settings.cirun.gcp:
        access = _cirun(stated, identity, account, ready)
        made["cirun.network"] = RunnerNetwork(
            "runner-network", project=stated.project, title=exports.runner_network(identity), opts=ready
        )
        served = {f"runners.{name}" for name, runner in settings.runners.items() if runner.cirun_gcp is not None}
        made |= dict.fromkeys(("cirun", *sorted(served)), access)
    return made


def _apis(settings: Settings) -> list[str]:
    """What the stated sections are made through."""
    # A role on a project is given through the resource manager, and is refused where that is off.
    apis = ["cloudresourcemanager", "iam", "compute"]
    if settings.artifact_registry:
        apis.append("artifactregistry")
    if settings.github_federation is not None:
        apis += ["iamcredentials", "sts"]
    if settings.host_image is not None and settings.host_image.export is not None:
        # gcloud exports nothing where the logs are off.
        apis += ["cloudbuild", "logging", "storage"]
    return apis


def _federation(
    settings: Settings, stated: GoogleSettings, identity: Identity, opts: ResourceOptions
) -> Federation | None:
    if settings.github_federation is None:
        return None
    federated = settings.github_federation
    return Federation(
        "federation",
        FederationArgs(
            project=stated.project,
            pool=identity.prefix,
            owner_id=federated.owner_id,
            repositories=federated.repositories,
            branches=federated.branches,
        ),
        opts,
    )


def _repository(
    name: str,
    repository: DockerRepositorySettings,
    settings: Settings,
    stated: GoogleSettings,
    account: RunnerAccount,
    federation: Federation | None,
    opts: ResourceOptions,
) -> DockerRepository:
    """A repository that the runners pull from, and that the federated workflows push to from their branches."""
    pushing = {f"github-{who}": member for who, member in federation.trusted.items()} if federation else {}
    made = DockerRepository(
        f"repository-{name}",
        DockerRepositoryArgs(
            project=stated.project,
            region=repository.region or stated.region,
            repository=name,
            immutable_tags=repository.immutable_tags,
            keep=repository.keep,
            drop_after_days=repository.drop_after_days,
            dry_run=repository.cleanup == "dry-run",
            readers={"runners": account.member, **repository.readers},
            writers={**pushing, **repository.writers},
            protect=settings.stack.protect,
        ),
        opts,
    )
    region = repository.region or stated.region
    pulumi.export(f"repository_{name}", made.url)
    pulumi.export(f"repository_{name}_login", exports.artifact_registry_login(region))
    return made


def _test_image(
    settings: GpuTestImageSettings, images: DockerRepository, here: ResourceOptions
) -> dict[str, pulumi.Resource]:
    """The tests' container: built here where the stack file says so, by a workflow of the repository otherwise."""
    pulumi.export("test_image", Output.concat(images.url, "/gpu-tests:", settings.tag))
    if settings.built_by == "workflow":
        return {}
    # Here, so that a stack that leaves the build to others does not load the SDK for it.
    import pulumi_docker_build as docker_build  # noqa: PLC0415

    from components.gcp.gpu_test_image import GpuTestImage, GpuTestImageArgs  # noqa: PLC0415

    args = GpuTestImageArgs(repository_url=images.url, tag=settings.tag, cuda_image=settings.cuda_image)
    builder = ResourceOptions(providers=[docker_build.Provider("docker-build")], depends_on=[images])
    return {"test-image": GpuTestImage("test-image", args, ResourceOptions.merge(here, builder))}


def _cirun(
    stated: GoogleSettings, identity: Identity, account: RunnerAccount, opts: ResourceOptions
) -> CirunGoogleAccess:
    access = CirunGoogleAccess(
        "cirun-gcp",
        CirunGoogleArgs(
            project=stated.project,
            account=f"{identity.prefix}-cirun",
            # Letters, digits, dots and underscores are all that Google takes here.
            role=f"{identity.prefix}_cirun".replace("-", "_"),
            title=GOOGLE_ROLE_TITLE,
            permissions=google_permissions(),
            runs_as=account.account_id,
        ),
        opts,
    )
    pulumi.export("cirun_gcp", access.email.apply(exports.cirun_google))
    return access
