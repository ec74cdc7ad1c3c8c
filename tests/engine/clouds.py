"""A stand-in cloud to make things in by hand, without an engine."""

from __future__ import annotations

from typing import Any, Final

from fakes.answers import Place
from fakes.aws import names as aws
from fakes.cloud import Cloud
from fakes.objects import Caller

CLUSTER_ARN: Final = "arn:aws:eks:us-west-2:123456789012:cluster/ci"
INSIDE: Final = Caller(cluster=CLUSTER_ARN)
"""A Kubernetes provider that speaks to the cluster of these tests."""
CLUSTER_POLICY: Final = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
NODE_POLICY: Final = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
ADMIN_POLICY: Final = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
ADMIN: Final = "arn:aws:iam::123456789012:role/admin"


class Hand:
    """Makes things in a cloud, one by one, and knows their ids."""

    def __init__(self) -> None:
        self.cloud = Cloud(pace=0)

    def make(self, type_: str, name: str = "one", caller: Caller | None = None, /, **inputs: Any) -> str:
        """Make a thing; returns its id."""
        urn = f"urn:pulumi:small::gpu-ci::{type_}::{name}"
        id_, _ = self.cloud.create(type_, name, urn, inputs, caller or Caller(place=Place()))
        return id_

    def arn(self, type_: str, id_: str) -> str:
        """The ARN of a thing."""
        thing = self.cloud.find(type_, id_)
        assert thing is not None
        return str(thing.at("arn"))

    def drop(self, type_: str, id_: str) -> None:
        """Take a thing away."""
        self.cloud.delete(type_, id_)

    def network(self) -> tuple[str, str]:
        """A VPC and a subnet."""
        vpc = self.make(aws.VPC, cidrBlock="10.0.0.0/16")
        return vpc, self.make(aws.SUBNET, vpcId=vpc, cidrBlock="10.0.1.0/24")

    def role(self, name: str, *policies: str) -> str:
        """A role with policies; returns its ARN."""
        id_ = self.make(aws.ROLE, name, name=name)
        for policy in policies:
            self.make(aws.ATTACHMENT, f"{name}-{policy.rpartition('/')[2]}", role=id_, policyArn=policy)
        return self.arn(aws.ROLE, id_)

    def cluster(self, **inputs: Any) -> str:
        """A cluster with nobody let in and without nodes; returns its subnet."""
        _, subnet = self.network()
        role = self.role("cluster", CLUSTER_POLICY)
        stated = {"name": "ci", "roleArn": role, "vpcConfig": {"subnetIds": [subnet]}, "accessConfig": {}, **inputs}
        self.make(aws.CLUSTER, "cluster", **stated)
        return subnet

    def let_in(self) -> None:
        """An administrator of the cluster."""
        self.make(aws.ACCESS_ENTRY, clusterName="ci", principalArn=ADMIN, type="STANDARD")
        self.make(aws.ACCESS_POLICY, clusterName="ci", principalArn=ADMIN, policyArn=ADMIN_POLICY)

    def nodes(self, subnet: str, name: str = "system", **inputs: Any) -> str:
        """A node group that is up; returns its id."""
        made = self.cloud.find(aws.ROLE, "nodes")
        role = self.role("nodes", NODE_POLICY) if made is None else str(made.at("arn"))
        stated = {
            "clusterName": "ci",
            "nodeGroupName": name,
            "nodeRoleArn": role,
            "subnetIds": [subnet],
            "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
            **inputs,
        }
        return self.make(aws.NODE_GROUP, name, **stated)

    def ready_cluster(self) -> str:
        """A cluster that somebody may use and something can run on; returns its subnet."""
        subnet = self.cluster()
        self.let_in()
        self.nodes(subnet)
        return subnet
