"""Flow logs: a record of every connection that a VPC accepts or rejects."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, ResourceOptions

from components.aws.documents import allow, document, key_policy, service_trust


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLogsArgs:
    """The record of one VPC."""

    vpc_id: Input[str]
    """The VPC."""
    title: str
    """The name of the VPC, which the name of the log group contains."""
    account: str
    region: str
    retention_days: int
    """Days after which CloudWatch deletes a record."""
    protect: bool
    """Whether the key is protected from deletion."""


class FlowLogs(pulumi.ComponentResource):
    """An encrypted log group, the role that writes to it, and the flow log of the VPC."""

    def __init__(self, name: str, args: FlowLogsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:FlowLogs", name, None, opts)
        child = ResourceOptions(parent=self)
        group = f"/aws/vpc/{args.title}/flow-logs"
        arn = f"arn:aws:logs:{args.region}:{args.account}:log-group:{group}"
        key = aws.kms.Key(
            name,
            description=f"Flow logs of {args.title}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if args.protect else 7,
            policy=key_policy(args.account, arn, args.region),
            opts=ResourceOptions.merge(child, ResourceOptions(protect=args.protect)),
        )
        logs = aws.cloudwatch.LogGroup(
            name,
            name=group,
            retention_in_days=args.retention_days,
            kms_key_id=key.arn,
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        role = aws.iam.Role(name, assume_role_policy=service_trust("vpc-flow-logs.amazonaws.com"), opts=child)
        # The group exists, so `logs:CreateLogGroup` is not needed (AWS, "IAM role for publishing flow logs", 2026).
        writes = aws.iam.RolePolicy(
            name,
            role=role.name,
            policy=document(
                allow(
                    ["logs:CreateLogStream", "logs:DescribeLogGroups", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                    [arn, f"{arn}:*"],
                )
            ),
            opts=child,
        )
        aws.ec2.FlowLog(
            name,
            vpc_id=args.vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=logs.arn,
            iam_role_arn=role.arn,
            opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[writes])),
        )
        self.register_outputs({})
