"""Small programs for the engine, without the provider packages, which are slow to import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi import ResourceOptions

from ops.fakes.aws import names as aws
from ops.plan.stack_file import StackFile
from tests.ops.small import Box

SECRET_KEY: Final = "gpu-ci:password"
SECRET: Final = "a-secret-of-the-tests"


def stack_file(config: Mapping[str, str] | None = None) -> StackFile:
    """A stack called `small`, with one secret and without default providers."""
    stated = {"pulumi:disable-default-providers": '["*"]', SECRET_KEY: SECRET, **(config or {})}
    return StackFile(name="small", path=Path("Pulumi.small.yaml"), config=stated, secret_keys=frozenset({SECRET_KEY}))


class Made(pulumi.CustomResource):
    """Any resource, with the one output that these programs use."""

    arn: pulumi.Output[str]

    def __init__(self, type_: str, name: str, props: Mapping[str, Any], opts: ResourceOptions) -> None:
        super().__init__(type_, name, {"arn": None, **props}, opts)


def aws_provider() -> ResourceOptions:
    """An explicit provider, as an option."""
    return ResourceOptions(provider=pulumi.ProviderResource("aws", "aws", {"region": "us-west-2"}))


def network() -> None:
    """A network in a component, with a subnet; a secret as a tag; three outputs."""
    config = pulumi.Config()
    tags = config.get_object("tags") or {}
    vpc_range = config.get("range") or "10.0.0.0/16"
    box = Box("network", aws_provider())
    child = ResourceOptions(parent=box)
    provider = ResourceOptions.merge(child, ResourceOptions(provider=box._providers["aws"]))
    vpc = Made(aws.VPC, "vpc", {"cidrBlock": vpc_range, "tags": {**tags, "Owner": "ci"}}, provider)
    Made(aws.SUBNET, "subnet", {"vpcId": vpc.id, "cidrBlock": "10.0.1.0/24", "mapPublicIpOnLaunch": True}, provider)
    secret = {"name": "worker", "description": config.require_secret("password"), "assumeRolePolicy": "{}"}
    Made(aws.ROLE, "worker", secret, provider)
    pulumi.export("vpc", vpc.id)
    pulumi.export("password", config.require_secret("password"))


def pools() -> None:
    """A cluster with an empty node group for each entry of `pools`."""
    opts = aws_provider()
    vpc = Made(aws.VPC, "vpc", {"cidrBlock": "10.0.0.0/16"}, opts)
    ranges = {"us-west-2a": "10.0.1.0/24", "us-west-2b": "10.0.2.0/24"}
    subnet, second = (
        Made(aws.SUBNET, zone, {"vpcId": vpc.id, "cidrBlock": cidr, "availabilityZone": zone}, opts)
        for zone, cidr in ranges.items()
    )
    role = Made(aws.ROLE, "role", {"name": "cluster", "assumeRolePolicy": "{}"}, opts)
    policy = {"role": role.id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}
    attached = Made(aws.ATTACHMENT, "policy", policy, opts)
    control = {"name": "ci", "roleArn": role.arn, "vpcConfig": {"subnetIds": [subnet.id, second.id]}}
    after = ResourceOptions.merge(opts, ResourceOptions(depends_on=[attached]))
    cluster = Made(aws.CLUSTER, "cluster", control, after)
    unscaled = ResourceOptions(ignore_changes=["scalingConfig.desiredSize"])
    for name, pool in pulumi.Config().require_object("pools").items():
        scaling = {"minSize": 0, "desiredSize": 0, "maxSize": pool["max"]}
        stated = {"clusterName": cluster.id, "nodeRoleArn": role.arn, "subnetIds": [subnet.id]}
        Made(aws.NODE_GROUP, name, {**stated, "scalingConfig": scaling}, ResourceOptions.merge(opts, unscaled))


def worker() -> None:
    """A role with a secret."""
    secret = {"name": "worker", "description": pulumi.Config().require_secret("password"), "assumeRolePolicy": "{}"}
    provider = pulumi.ProviderResource("aws", "of-worker", {"region": "us-west-2"})
    Made(aws.ROLE, "worker", secret, ResourceOptions(provider=provider))


def life() -> None:
    """Resources with and without a name of their own; each value of the configuration changes some of them."""
    config = pulumi.Config()
    opts = aws_provider()
    vpc = Made(aws.VPC, "vpc", {"cidrBlock": config.get("range") or "10.0.0.0/16"}, opts)
    Made(aws.SUBNET, "subnet", {"vpcId": vpc.id, "cidrBlock": "10.0.1.0/24"}, opts)
    described = {"name": "worker", "description": config.get("description") or "one", "assumeRolePolicy": "{}"}
    role = Made(aws.ROLE, "worker", described, opts)
    policy = config.get("policy") or "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    Made(aws.ATTACHMENT, "policy", {"role": role.id, "policyArn": policy}, opts)
    for name in (config.get("keys") or "first").split(","):
        Made(aws.KEY, name, {"description": name}, opts)
    # A repository has a fixed name, so a replacement deletes the old one first.
    encryption = [{"encryptionType": config.get("encryption") or "AES256"}]
    Made(aws.REPOSITORY, "images", {"name": "images", "encryptionConfigurations": encryption}, opts)


LATER: Final = {
    "gpu-ci:range": "10.0.0.0/8",
    "gpu-ci:description": "two",
    "gpu-ci:policy": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
    "gpu-ci:keys": "second",
    "gpu-ci:encryption": "KMS",
}
"""Another configuration of `life`: it creates, updates, replaces in both orders, and deletes."""


def keys(count: int) -> None:
    """Independent keys."""
    opts = aws_provider()
    for index in range(count):
        Made(aws.KEY, f"key-{index}", {"description": f"key {index}"}, opts)
