"""Resources on AWS that no single back end owns: provider, image repositories, machine images, network, cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pulumi
from pulumi import Output, ResourceOptions

from components.aws.images.image_push import role_name
from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.derived import aws_images, outputs
from gpu_ci.program.cluster import eks_cluster
from gpu_ci.program.declared import Declared
from gpu_ci.program.network import network
from gpu_ci.stack_file.sections.aws import AwsSettings


def aws(*, context: ProgramContext, account: AwsSettings) -> tuple[ProgramContext, Declared]:
    """Declare the provider and the image repositories; and the network and the cluster where they are stated."""
    import pulumi_aws

    from components.aws.images.registry import Registry, RegistryArgs, RepositoryArgs

    settings, identity = context.stack.settings, context.stack.identity
    declared: Declared = {}

    provider = pulumi_aws.Provider(
        "aws",
        region=account.region,
        # Refuse the credentials of another account before anything is created.
        allowed_account_ids=[account.account],
        default_tags={"tags": identity.tags},
    )
    context = replace(context, aws=ResourceOptions(providers=[provider]))

    if settings.ecr:
        registry = Registry(
            "registry",
            RegistryArgs(
                prefix=identity.prefix,
                protect=settings.stack.protect,
                repositories={
                    name: RepositoryArgs(
                        keep=repository.keep,
                        untagged_days=repository.untagged_days,
                        pull_request_days=repository.pull_request_days,
                        mutable_tags=repository.mutable_tags,
                        force_delete=repository.force_delete,
                    )
                    for name, repository in settings.ecr.items()
                },
            ),
            context.aws,
        )
        declared["ecr"] = registry
        context = replace(context, repositories=registry.urls)
        pulumi.export("repositories", dict(registry.urls))
        pulumi.export("registry_login", outputs.ecr_login(account.account, account.region))
        declared |= _push_roles(context=context, account=account)

    images, built = _machine_images(context=context, account=account)
    declared |= built
    context = replace(context, images=images.get("ec2-image", {}))

    if settings.network is None:
        return context, declared
    subnets, inside = network(context=context, account=account, stated=settings.network)
    declared |= inside

    if settings.cluster is None:
        return context, declared
    context, inside = eks_cluster(
        context=context, account=account, stated=settings.cluster, nodes=settings.system_nodes, subnets=subnets,
        own_images=images.get("eks-image", {}),
    )  # fmt: skip
    return context, {**declared, **inside}


def _push_roles(*, context: ProgramContext, account: AwsSettings) -> Declared:
    """Declare a role for each image repository that the workflows of a GitHub repository push to."""
    from components.aws.images.push_role import PushRole, PushRoleArgs
    from components.aws.job_role import TrustedJobs

    prefix, declared = context.stack.identity.prefix, Declared()
    for name, repository in context.stack.settings.ecr.items():
        if (pusher := repository.pushed_by) is None:
            continue
        declared[f"ecr.{name}.pushed-by"] = PushRole(
            f"push-{name}",
            PushRoleArgs(
                role=role_name(prefix, name),
                account=account.account,
                region=account.region,
                target=f"{prefix}/{name}",
                jobs=TrustedJobs(
                    repository=pusher.repository,
                    repository_id=pusher.repository_id,
                    owner_id=pusher.owner_id,
                    ref=f"refs/heads/{pusher.branch}",
                ),
            ),
            context.aws,
        )
    return declared


def _machine_images(
    *, context: ProgramContext, account: AwsSettings
) -> tuple[dict[str, Mapping[str, Output[str]]], Declared]:
    """Declare the machine images and their networks; return the AMIs by section and region."""
    import pulumi_command as command

    from components.aws.images.image_factory import ImageFactory, ImageFactoryArgs
    from components.aws.images.pinned_images import PinnedImages, PinnedImagesArgs
    from components.aws.network.runner_network import RunnerNetwork, RunnerNetworkArgs

    settings, identity = context.stack.settings, context.stack.identity
    images: dict[str, Mapping[str, Output[str]]] = {}
    declared: Declared = {}
    contents = aws_images.contents(settings, account.region)
    commands = ResourceOptions(providers=[command.Provider("image-commands")]) if contents else None
    for path, (stated, content) in contents.items():
        title = f"{identity.prefix}-{path}"
        network = RunnerNetwork(
            f"{path}-network", RunnerNetworkArgs(title=title, zones={account.region: [stated.zone]}), context.aws
        )
        factory = ImageFactory(
            path,
            ImageFactoryArgs(
                title=title,
                region=account.region,
                content=content,
                instance_types=stated.instance_types,
                subnet_id=network.subnet_ids[stated.zone],
                group_id=network.group_ids[account.region],
                keep=stated.keep,
                tags=identity.tags,
            ),
            ResourceOptions.merge(context.aws, commands),
        )
        images[path], declared[path] = factory.amis, factory
        pulumi.export(path.replace("-", "_"), {"base": content.parent, "content": content.hash, "amis": factory.amis})
    if pinned := aws_images.pinned(settings):
        PinnedImages("pinned-images", PinnedImagesArgs(amis=pinned), context.aws)
    return images, declared
