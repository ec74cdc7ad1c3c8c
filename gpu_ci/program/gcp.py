"""Resources on Google Cloud that no single back end owns: provider, accounts, image repositories, host image."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi
from pulumi import Output, ResourceOptions

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.derived import host_image, outputs
from gpu_ci.knowledge.quotas.gcp import METRICS
from gpu_ci.knowledge.regions import region_of
from gpu_ci.knowledge.software.image_tags import cuda_base
from gpu_ci.stack_file.sections.gcp import GcpSettings, GpuTestImageSettings, HostImageSettings

if TYPE_CHECKING:
    from components.gcp.images.controlled_image import ControlledImage
    from components.gcp.images.declared_image import DeclaredImage
    from components.gcp.images.docker_repository import DockerRepository
    from gpu_ci.program.declared import Declared


def gcp(
    *, context: ProgramContext, account: GcpSettings, installer: Path = host_image.INSTALLER
) -> tuple[ProgramContext, Declared]:
    """Declare everything on Google Cloud that no single back end owns.

    Args:
        context: what is declared already.
        account: the section `gcp`.
        installer: the folder of the host image's installer.

    """
    import pulumi_command as command

    from components.gcp.apis import Apis, ApisArgs
    from components.gcp.federation import Federation, FederationArgs
    from components.gcp.images.docker_repository import DockerRepository, DockerRepositoryArgs
    from components.gcp.provider import gcp_provider
    from components.gcp.runner_account import RunnerAccount, RunnerAccountArgs

    settings, identity = context.stack.settings, context.stack.identity

    provider = gcp_provider(project=account.project, region=account.region, labels=identity.labels)
    providers = ResourceOptions(providers=[provider, command.Provider("command")])

    apis = Apis("apis", ApisArgs(project=account.project, apis=host_image.apis(context.stack)), providers)
    # The engine sees no edge from a resource to the API that creates it.
    context = replace(context, gcp=ResourceOptions.merge(providers, ResourceOptions(depends_on=[apis])))
    declared: Declared = {"gcp": apis}

    runner = RunnerAccount(
        "runner-account", RunnerAccountArgs(project=account.project, account=f"{identity.prefix}-runner"), context.gcp
    )
    declared["gcp.runner-account"] = runner
    context = replace(context, runner_account=runner.account_id)
    pulumi.export("runner_service_account", runner.email)

    pushing: dict[str, Output[str]] = {}
    if settings.github_federation is not None:
        federation = Federation(
            "federation",
            FederationArgs(
                project=account.project,
                pool=identity.prefix,
                owner_id=settings.github_federation.owner_id,
                repositories=settings.github_federation.repositories,
                branches=settings.github_federation.branches,
            ),
            context.gcp,
        )
        pushing = {f"github-{name}": member for name, member in federation.trusted.items()}
        context = replace(context, identity_pool=federation.pool_name)
        declared["github-federation"] = federation
        pulumi.export("workload_identity_provider", federation.provider_name)

    for name, repository in settings.artifact_registry.items():
        region = repository.region or account.region
        images = DockerRepository(
            f"repository-{name}",
            DockerRepositoryArgs(
                project=account.project,
                region=region,
                repository=name,
                immutable_tags=repository.immutable_tags,
                keep=repository.keep,
                drop_after_days=repository.drop_after_days,
                dry_run=repository.cleanup == "dry-run",
                readers={"runners": runner.member, **repository.readers},
                writers={**pushing, **repository.writers},
                force_delete=repository.force_delete,
                protect=settings.stack.protect,
            ),
            context.gcp,
        )
        declared[f"artifact-registry.{name}"] = images
        pulumi.export(f"repository_{name}", images.url)
        pulumi.export(f"repository_{name}_login", outputs.artifact_registry_login(region))
        if settings.test_image is not None and settings.test_image.repository == name:
            declared["test-image"] = _test_image(stated=settings.test_image, images=images, opts=providers)

    image = None
    if settings.host_image is not None:
        image = host_image.name(settings.host_image, account.region, installer)
        built = _host_image(context=context, stated=settings.host_image, account=account, installer=installer)
        declared["host-image"] = built
        context = replace(context, host_image=built.name)
    pulumi.export("storage_locations", outputs.storage_locations(settings, image))
    return context, declared


def _test_image(*, stated: GpuTestImageSettings, images: DockerRepository, opts: ResourceOptions) -> pulumi.Resource:
    """Build the container of the GPU tests, or leave that to a workflow of the repository."""
    pulumi.export("test_image", Output.concat(images.url, f"/{stated.name}:", stated.tag))
    if stated.built_by == "workflow":
        return images
    import pulumi_docker_build as docker_build

    from components.gcp.images.gpu_test_image import GpuTestImage, GpuTestImageArgs

    builder = ResourceOptions(providers=[docker_build.Provider("docker-build")], depends_on=[images])
    return GpuTestImage(
        "test-image",
        GpuTestImageArgs(
            repository_url=images.url,
            tag=stated.tag,
            base_image=cuda_base(stated.cuda_image),
            name=stated.name,
            arguments=stated.arguments,
        ),
        ResourceOptions.merge(opts, builder),
    )


def _host_image(
    *, context: ProgramContext, stated: HostImageSettings, account: GcpSettings, installer: Path
) -> ControlledImage | DeclaredImage:
    """Declare the network of the image's builders, its archive, and the image in the stated mode."""
    from components.gcp.build_network import BuildNetwork, BuildNetworkArgs
    from components.gcp.images.controlled_image import ArchiveArgs, ControlledImage, ControlledImageArgs
    from components.gcp.images.declared_image import DeclaredImage, DeclaredImageArgs
    from components.gcp.images.host_image import HostImageArgs
    from components.gcp.images.image_archive import ImageArchive, ImageArchiveArgs

    prefix, machines = context.stack.identity.prefix, context.stack.settings.machines

    network = BuildNetwork(
        "build-network",
        BuildNetworkArgs(
            project=account.project,
            title=f"{prefix}-build",
            regions={region_of(zone) for zone in stated.zones},
            nat=not account.public_addresses,
        ),
        context.gcp,
    )

    host = HostImageArgs(
        project=account.project,
        family=stated.family,
        content=host_image.content(stated, account.region, installer),
        zones=stated.zones,
        machine_type=stated.builder.machine_type,
        gvnic=machines.gce(stated.builder.machine_type).gvnic,
        private=not account.public_addresses,
        spot=stated.builder.spot,
        build_minutes=stated.builder.max_minutes,
        subnetwork=network.subnetwork,
        share_with=stated.share_with,
    )
    pulumi.export("host_image", host_image.facts(host.image, stated, account.project))
    if stated.mode == "declared":
        return DeclaredImage(
            "host-image",
            DeclaredImageArgs(host=host, phase=stated.phase, keep_on_destroy=stated.keep_on_destroy),
            context.gcp,
        )

    archive = None
    if stated.export is not None:
        bucket = ImageArchive(
            "host-image-archive",
            ImageArchiveArgs(
                project=account.project,
                region=account.region,
                bucket=stated.export.bucket,
                keep_days=stated.export.keep_days,
                keep_on_destroy=stated.keep_on_destroy,
                prefix=prefix,
            ),
            context.gcp,
        )
        archive = ArchiveArgs(
            bucket=bucket.bucket, build_account=bucket.build_account, machine_account=bucket.machine_account
        )

    return ControlledImage(
        "host-image",
        ControlledImageArgs(
            host=host,
            owner=prefix,
            attempts=stated.builder.attempts,
            verify_machine_type=stated.verifier.machine_type,
            verify_gvnic=machines.gce(stated.verifier.machine_type).gvnic,
            verify_accelerator=host_image.accelerator(stated.verifier, machines),
            verify_gpus=stated.verifier.gpus,
            verify_quota=METRICS[stated.verifier.gpu],
            verify_minutes=stated.verifier.max_minutes,
            verify_options=host_image.verify_options(stated),
            keep=stated.keep - 1,
            keep_on_destroy=stated.keep_on_destroy,
            archive=archive,
            folder=host_image.folder(installer),
        ),
        context.gcp,
    )
