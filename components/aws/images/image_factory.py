"""A machine image by EC2 Image Builder: built and tested on a GPU, copied to regions, and cleaned up later.

`Image` fails if its tests fail, but its AMI then exists, and the next refresh reads the image without the error. So a
command asks Image Builder for the state of the image, and nothing gets the AMI before.

The old images stay at Image Builder, and its lifecycle policy deletes them with their AMIs: deleting an `Image` alone
leaves the AMI and its snapshots without an owner (AWS, DeleteImage, 2026). AWS refuses to delete a recipe that an image
names, and a component that a recipe names (hashicorp/terraform-provider-aws#40037, #40128, #22127;
pulumi/pulumi#6919), so that recipes and components stay, too; they cost nothing. Infrastructure and distribution
configurations do not stay: only a pipeline keeps AWS from deleting them, and there is none
(https://docs.aws.amazon.com/imagebuilder/latest/userguide/delete-infra-config.html, 2026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws
import pulumi_command as command
from pulumi import CustomTimeouts, Input, Output, ResourceOptions

from components.aws.documents import service_trust
from components.aws.images.image_content import IN_USE_TAG, STATE, ImageContent

BUILDER_POLICIES: Final = {
    "builder": "arn:aws:iam::aws:policy/EC2InstanceProfileForImageBuilder",
    "session": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    "images": "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
}
"""The permissions of the machine that builds and tests."""
LIFECYCLE_POLICY: Final = "arn:aws:iam::aws:policy/service-role/EC2ImageBuilderLifecycleExecutionPolicy"
OWNER_TAG: Final = "gpu-ci-image"
"""The tag by which the lifecycle policy finds the images of one factory."""
LAUNCHED_DAYS: Final = 90
"""An AMI from which a machine was started in this time is not deleted. Other stacks may use it."""
BUILD_LIMIT: Final = "4h"
"""A build with two machines, snapshots and copies takes 25 to 60 minutes, and the default of the provider is 60."""
LOG_DAYS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFactoryArgs:
    """An image and the machine that builds it."""

    title: str
    """The name of the recipe, and the start of the AMI's name."""
    region: str
    content: ImageContent
    """The documents, the base image and the options."""
    instance_types: Sequence[str]
    """GPU types of the builder, in order of preference."""
    subnet_id: Input[str]
    """A subnet with a route to the internet."""
    group_id: Input[str]
    """A security group that accepts no connection."""
    keep: int
    """The number of images that are kept, besides those in use."""
    tags: Mapping[str, str]
    """Tags of machines and AMIs, which the provider's default tags do not reach."""


class ImageFactory(pulumi.ComponentResource):
    """An image that is used only after its tests passed."""

    amis: Mapping[str, Output[str]]
    """Region to AMI."""

    def __init__(self, name: str, args: ImageFactoryArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:ImageFactory", name, None, opts)
        child = ResourceOptions(parent=self)
        log = aws.cloudwatch.LogGroup(
            name,
            name=f"/aws/imagebuilder/{args.title}",
            retention_in_days=LOG_DAYS,
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        image = aws.imagebuilder.Image(
            name,
            image_recipe_arn=_recipe(name, args, child).arn,
            infrastructure_configuration_arn=_infrastructure(name, args, child).arn,
            distribution_configuration_arn=_distribution(name, args, child).arn,
            image_tests_configuration={"image_tests_enabled": True, "timeout_minutes": 120},
            logging_configuration={"log_group_name": log.name},
            tags={OWNER_TAG: args.title},
            opts=ResourceOptions.merge(
                child, ResourceOptions(retain_on_delete=True, custom_timeouts=CustomTimeouts(create=BUILD_LIMIT))
            ),
        )
        passed = command.local.Command(
            f"{name}-passed",
            create=STATE,
            environment={"IMAGE": image.arn, "REGION": args.region, "SECTION": name},
            interpreter=["/bin/sh", "-c"],
            triggers=[image.arn],
            opts=child,
        )
        self.amis = {region: _ami(image, passed, region) for region in args.content.regions}
        for region, ami in self.amis.items():
            aws.ec2.Tag(
                f"{name}-in-use-{region}", region=region, resource_id=ami, key=IN_USE_TAG, value="true", opts=child
            )
        _lifecycle(name, args, child)
        self.register_outputs({"amis": self.amis})


def _ami(image: aws.imagebuilder.Image, passed: command.local.Command, region: str) -> Output[str]:
    """Return the AMI of a region, after the tests passed. A failed build may have none, and nothing gets it."""

    def find(outputs: Sequence[Any]) -> str:
        return next((str(ami.image) for output in outputs for ami in output.amis if ami.region == region), "")

    found = image.output_resources.apply(find)
    return Output.all(found, passed.stdout).apply(lambda known: str(known[0]))


def _recipe(name: str, args: ImageFactoryArgs, child: ResourceOptions) -> aws.imagebuilder.ImageRecipe:
    """Declare the documents and the recipe. Each change is a new version, because none can be changed."""
    content, kept = args.content, ResourceOptions.merge(child, ResourceOptions(retain_on_delete=True))
    components = [
        aws.imagebuilder.Component(
            f"{name}-{purpose}",
            name=f"{args.title}-{purpose}",
            version=content.version,
            platform="Linux",
            supported_os_versions=[content.system],
            data=text,
            opts=kept,
        )
        for purpose, text in (("build", content.build), ("test", content.test))
    ]
    return aws.imagebuilder.ImageRecipe(
        name,
        name=args.title,
        version=content.version,
        parent_image=content.parent,
        components=[{"component_arn": component.arn} for component in components],
        block_device_mappings=[
            {
                "device_name": content.device,
                "ebs": {
                    "volume_type": "gp3",
                    "volume_size": content.disk_gib,
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        opts=kept,
    )


def _infrastructure(
    name: str, args: ImageFactoryArgs, child: ResourceOptions
) -> aws.imagebuilder.InfrastructureConfiguration:
    """Declare the machine that builds and tests, with its role."""
    role = aws.iam.Role(f"{name}-builder", assume_role_policy=service_trust("ec2.amazonaws.com"), opts=child)
    attached = [
        aws.iam.RolePolicyAttachment(f"{name}-{purpose}", role=role.name, policy_arn=policy, opts=child)
        for purpose, policy in BUILDER_POLICIES.items()
    ]
    profile = aws.iam.InstanceProfile(name, role=role.name, opts=child)
    return aws.imagebuilder.InfrastructureConfiguration(
        name,
        name=args.title,
        instance_profile_name=profile.name,
        instance_types=list(args.instance_types),
        subnet_id=args.subnet_id,
        security_group_ids=[args.group_id],
        instance_metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
        # A machine that stays for an inspection costs money until someone remembers it.
        terminate_instance_on_failure=True,
        resource_tags=dict(args.tags),
        opts=ResourceOptions.merge(child, ResourceOptions(depends_on=attached)),
    )


def _distribution(
    name: str, args: ImageFactoryArgs, child: ResourceOptions
) -> aws.imagebuilder.DistributionConfiguration:
    """Declare the copies. The date makes the name unique, because a failed build can leave an AMI."""
    return aws.imagebuilder.DistributionConfiguration(
        name,
        name=args.title,
        distributions=[
            {
                "region": region,
                "ami_distribution_configuration": {
                    "name": f"{args.title}-{args.content.hash[:8]}-{{{{ imagebuilder:buildDate }}}}",
                    "ami_tags": dict(args.tags),
                },
            }
            for region in sorted(args.content.regions)
        ],
        opts=child,
    )


def _lifecycle(name: str, args: ImageFactoryArgs, child: ResourceOptions) -> None:
    """Declare the policy that deletes old images with their AMIs and snapshots, except those in use."""
    role = aws.iam.Role(f"{name}-lifecycle", assume_role_policy=service_trust("imagebuilder.amazonaws.com"), opts=child)
    attached = aws.iam.RolePolicyAttachment(
        f"{name}-lifecycle", role=role.name, policy_arn=LIFECYCLE_POLICY, opts=child
    )
    aws.imagebuilder.LifecyclePolicy(
        name,
        name=args.title,
        description=f"Deletes all but the newest {args.keep} images and those in use",
        execution_role=role.arn,
        resource_type="AMI_IMAGE",
        policy_details=[
            {
                "action": {"type": "DELETE", "include_resources": {"amis": True, "snapshots": True}},
                "filter": {"type": "COUNT", "value": args.keep},
                "exclusion_rules": {
                    "amis": {
                        "last_launched": {"unit": "DAYS", "value": LAUNCHED_DAYS},
                        "tag_map": {IN_USE_TAG: "true"},
                    }
                },
            }
        ],
        resource_selection={"tag_map": {OWNER_TAG: args.title}},
        opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[attached])),
    )
