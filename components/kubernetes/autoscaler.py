"""The Cluster Autoscaler and its role: it adds nodes to pools and removes idle ones."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi import Input, ResourceOptions

from components.aws.cluster.workload_role import WorkloadRole, WorkloadRoleArgs
from components.aws.documents import autoscaler_permissions
from components.kubernetes.autoscaler_values import NAMESPACE, SERVICE_ACCOUNT, AutoscalerValues, autoscaler_values
from components.kubernetes.chart import chart

REPOSITORY = "https://kubernetes.github.io/autoscaler"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerArgs:
    """A release of the autoscaler."""

    cluster_name: Input[str]
    """The name of the cluster in EKS."""
    known_cluster_name: str
    """The same name as plain text, for the permission document."""
    version: str
    """The version of the chart."""
    values: AutoscalerValues


class Autoscaler(pulumi.ComponentResource):
    """The autoscaler on the system nodes. It can change only the node groups of its cluster."""

    def __init__(self, name: str, args: AutoscalerArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:Autoscaler", name, None, opts)
        role = WorkloadRole(
            name,
            WorkloadRoleArgs(
                cluster_name=args.cluster_name,
                namespace=NAMESPACE,
                service_account=SERVICE_ACCOUNT,
                policy=autoscaler_permissions(args.known_cluster_name),
            ),
            ResourceOptions(parent=self),
        )
        chart(
            name,
            release="cluster-autoscaler",
            repository=REPOSITORY,
            chart_name="cluster-autoscaler",
            version=args.version,
            namespace=NAMESPACE,
            values=autoscaler_values(args.values, args.cluster_name),
            parent=self,
            # A pod that starts before the role is bound does not get the role.
            after=[role],
        )
        self.register_outputs({})
