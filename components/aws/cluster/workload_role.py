"""An IAM role for the pods of one service account, through EKS Pod Identity: a building block."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import pod_identity_trust


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRoleArgs:
    """A role and its service account."""

    cluster_name: Input[str]
    namespace: str
    """The namespace of the service account."""
    service_account: str
    """The service account of the pods."""
    policy: str | None = None
    """A permission document, as JSON."""
    managed_policy: str | None = None
    """The ARN of an AWS managed policy."""
    associate: bool = True
    """Whether to bind the role to the service account. An EKS add-on binds its own role."""


class WorkloadRole(pulumi.ComponentResource):
    """An IAM role bound to one service account. Only pods that start after the binding get the role."""

    role_arn: Output[str]
    ready: Output[str]
    """The ARN of the role, after its permissions are attached and it is bound."""

    def __init__(self, name: str, args: WorkloadRoleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:WorkloadRole", name, None, opts)
        child = ResourceOptions(parent=self)
        role = aws.iam.Role(
            name,
            assume_role_policy=pod_identity_trust(args.namespace, args.service_account),
            description=f"Pods of {args.namespace}/{args.service_account}",
            opts=child,
        )
        steps: list[Output[str]] = []
        if args.policy is not None:
            steps.append(aws.iam.RolePolicy(name, role=role.name, policy=args.policy, opts=child).id)
        if args.managed_policy is not None:
            attachment = aws.iam.RolePolicyAttachment(name, role=role.name, policy_arn=args.managed_policy, opts=child)
            steps.append(attachment.id)
        if args.associate:
            association = aws.eks.PodIdentityAssociation(
                name,
                cluster_name=args.cluster_name,
                namespace=args.namespace,
                service_account=args.service_account,
                role_arn=role.arn,
                opts=child,
            )
            steps.append(association.association_id)
        self.role_arn = role.arn
        self.ready = Output.all(role.arn, *steps).apply(lambda values: str(values[0]))
        self.register_outputs({"role_arn": self.role_arn, "ready": self.ready})
