"""The violations that the program needs: each by its rule, its type and its name, with the reason.

A name is a regular expression that must match the whole logical name. Keep it exact, so that no other resource matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A violation that is allowed."""

    rule: str
    """The name of the rule."""
    type: str
    """The type token of the resource."""
    name: str
    """The logical name, as a regular expression that matches all of it."""
    reason: str
    """The reason."""


NEEDED: Final = (
    Needed(
        rule="no-cluster-administrator",
        type="aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        name=r"cluster-.+",
        reason="the stack file lists the administrators of the cluster; without one, no deployment can reach it",
    ),
    Needed(
        rule="machines-have-no-public-address",
        type="aws:ec2/subnet:Subnet",
        name=r"cirun-network-[a-z0-9-]+",
        reason="cirun's machines reach GitHub without a NAT gateway; their security group accepts no connection",
    ),
    Needed(
        rule="machines-have-no-public-address",
        type="aws:ec2/subnet:Subnet",
        name=r"(vm|start)-[a-z0-9-]+",
        reason="a machine with a runner reaches GitHub without a NAT gateway; its security group has no incoming rule",
    ),
    Needed(
        rule="machines-have-no-public-address",
        type="aws:ec2/subnet:Subnet",
        name=r"(eks|ec2)-image-network-[a-z0-9-]+",
        reason="the builder of an image needs no NAT gateway; its security group accepts no connection",
    ),
    Needed(
        rule="data-is-encrypted",
        type="aws:cloudwatch/logGroup:LogGroup",
        name=r"(eks|ec2)-image",
        reason="the log of an image's build has no secret, and CloudWatch encrypts it with a key of its own",
    ),
    Needed(
        rule="data-is-encrypted",
        type="aws:cloudwatch/logGroup:LogGroup",
        name=r"(vm|start)-[a-z0-9-]+-limit",
        reason="its lines contain only the id and the age of a machine, and CloudWatch encrypts them with its own key",
    ),
    Needed(
        rule="data-is-encrypted",
        type="aws:sns/topic:Topic",
        name=r"(vm|start)-[a-z0-9-]+-alarms|pool-alarms",
        reason="its messages leave as plain e-mail, and CloudWatch cannot send to a topic with the key of AWS",
    ),
    Needed(
        rule="no-broad-role",
        type="gcp:projects/iAMMember:IAMMember",
        name=r"host-image-archive-(build|machine)-.+",
        reason="gcloud checks these roles before it exports an image, and grants missing ones outside of any state",
    ),
    Needed(
        rule="namespaces-enforce-pod-security",
        type="kubernetes:core/v1:Namespace",
        name="gpu-metrics",
        reason="the exporter of GPU metrics mounts the socket of the kubelet, which names the pod of each GPU",
    ),
    Needed(
        rule="no-broad-role",
        type="gcp:projects/iAMMember:IAMMember",
        name=r"deploy-[a-zA-Z]+(\.[a-zA-Z]+)+",
        reason="the account that deploys creates the resources of every section; one environment of GitHub can use it",
    ),
    Needed(
        rule="no-unbounded-permission",
        type="aws:iam/policy:Policy",
        name="deploy-keys",
        reason="a KMS key has no name; the statements are limited to keys with the tags of the stack",
    ),
)


def is_needed(rule: str, type_: str, name: str) -> bool:
    """Return True if the program needs this violation."""
    return any((one.rule, one.type) == (rule, type_) and re.fullmatch(one.name, name) is not None for one in NEEDED)
