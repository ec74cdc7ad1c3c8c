"""A client of the fake clouds, for tests without an engine."""

from __future__ import annotations

from typing import Any, Final

from ops.fakes.aws import names as aws
from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.objects import Caller
from ops.fakes.cloud.request import Place
from ops.fakes.tables import kind_of

CLUSTER_ARN: Final = "arn:aws:eks:us-west-2:123456789012:cluster/ci"
INSIDE: Final = Caller(cluster=CLUSTER_ARN)
"""The Kubernetes provider of the cluster of these tests."""
CLUSTER_POLICY: Final = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
NODE_POLICY: Final = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
ADMIN_POLICY: Final = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
ADMIN: Final = "arn:aws:iam::123456789012:role/admin"


class Client:
    """Creates and deletes objects one by one."""

    def __init__(self) -> None:
        self.cloud = Cloud(kinds=kind_of, pace=0)

    def create(self, type_: str, name: str = "one", caller: Caller | None = None, /, **inputs: Any) -> str:
        """Create an object and return its id."""
        urn = f"urn:pulumi:small::gpu-ci::{type_}::{name}"
        id_, _ = self.cloud.create(type_, name, urn, inputs, caller or Caller(place=Place()))
        return id_

    def arn(self, type_: str, id_: str) -> str:
        """Return the ARN of an object."""
        obj = self.cloud.find(type_, id_)
        assert obj is not None
        return str(obj.at("arn"))

    def delete(self, type_: str, id_: str) -> None:
        """Delete an object."""
        self.cloud.delete(type_, id_)

    def network(self) -> tuple[str, str]:
        """Create a VPC and a subnet."""
        vpc = self.create(aws.VPC, cidrBlock="10.0.0.0/16")
        return vpc, self.create(aws.SUBNET, vpcId=vpc, cidrBlock="10.0.1.0/24", availabilityZone="us-west-2a")

    def role(self, name: str, *policies: str) -> str:
        """Create a role with policies and return its ARN."""
        id_ = self.create(aws.ROLE, name, name=name)
        for policy in policies:
            self.create(aws.ATTACHMENT, f"{name}-{policy.rpartition('/')[2]}", role=id_, policyArn=policy)
        return self.arn(aws.ROLE, id_)

    def cluster(self, **inputs: Any) -> str:
        """Create a cluster in two zones, without access and without nodes; return its first subnet."""
        vpc, subnet = self.network()
        second = self.create(aws.SUBNET, "second", vpcId=vpc, cidrBlock="10.0.2.0/24", availabilityZone="us-west-2b")
        role = self.role("cluster", CLUSTER_POLICY)
        stated = {
            "name": "ci",
            "roleArn": role,
            "vpcConfig": {"subnetIds": [subnet, second]},
            "accessConfig": {},
            **inputs,
        }
        self.create(aws.CLUSTER, "cluster", **stated)
        return subnet

    def grant_access(self) -> None:
        """Create an administrator of the cluster."""
        self.create(aws.ACCESS_ENTRY, clusterName="ci", principalArn=ADMIN, type="STANDARD")
        self.create(aws.ACCESS_POLICY, clusterName="ci", principalArn=ADMIN, policyArn=ADMIN_POLICY)

    def nodes(self, subnet: str, name: str = "system", **inputs: Any) -> str:
        """Create a node group and return its id."""
        created = self.cloud.find(aws.ROLE, "nodes")
        role = self.role("nodes", NODE_POLICY) if created is None else str(created.at("arn"))
        stated = {
            "clusterName": "ci",
            "nodeGroupName": name,
            "nodeRoleArn": role,
            "subnetIds": [subnet],
            "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
            **inputs,
        }
        return self.create(aws.NODE_GROUP, name, **stated)

    def ready_cluster(self) -> str:
        """Create a cluster with access and nodes; return its subnet."""
        subnet = self.cluster()
        self.grant_access()
        self.nodes(subnet)
        return subnet
