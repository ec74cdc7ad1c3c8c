"""The network of the cluster: a VPC of the stack, or one that exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.stack_file.sections.aws import AwsSettings, NetworkSettings

if TYPE_CHECKING:
    from pulumi import Input

    from gpu_ci.program.declared import Declared


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnets:
    """The subnets of the control plane and the nodes."""

    vpc_id: Input[str]
    control_plane: Mapping[str, Input[str]]
    """Zone to subnet."""
    nodes: Mapping[str, Input[str]]
    """Zone to subnet with its route to the internet."""


def network(*, context: ProgramContext, account: AwsSettings, stated: NetworkSettings) -> tuple[Subnets, Declared]:
    """Declare the VPC and its flow logs; declare nothing for a VPC that exists."""
    from components.aws.network.flow_logs import FlowLogs, FlowLogsArgs
    from components.aws.network.network import Network, NetworkArgs

    existing, identity = stated.existing, context.stack.identity
    if existing is not None:
        return Subnets(vpc_id=existing.vpc, control_plane=existing.subnets, nodes=existing.subnets), {}
    declared: Declared = {}
    vpc = Network(
        "network",
        NetworkArgs(
            name=identity.prefix,
            region=account.region,
            cidr=stated.cidr,
            zones=stated.zones,
            gateway_zones=stated.gateway_zones,
        ),
        context.aws,
    )
    declared["network"] = vpc
    if stated.flow_logs is not None:
        declared["network.flow-logs"] = FlowLogs(
            "flow-logs",
            FlowLogsArgs(
                vpc_id=vpc.vpc_id,
                title=identity.prefix,
                account=account.account,
                region=account.region,
                retention_days=stated.flow_logs.retention_days,
                protect=context.stack.settings.stack.protect,
            ),
            context.aws,
        )
    return Subnets(vpc_id=vpc.vpc_id, control_plane=vpc.private_subnet_ids, nodes=vpc.node_subnet_ids), declared
