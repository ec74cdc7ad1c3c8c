"""What the stand-in AWS refuses, and in which words."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fakes.aws import names as aws
from fakes.kinds import RefusedError
from fakes.objects import Phase
from tests.engine.clouds import ADMIN, ADMIN_POLICY, CLUSTER_POLICY, Hand

pytestmark = pytest.mark.pure


@pytest.fixture
def hand() -> Hand:
    return Hand()


def test_a_network_with_a_subnet_in_it_is_not_deleted(hand: Hand) -> None:
    vpc, subnet = hand.network()
    with pytest.raises(RefusedError, match=f"The vpc '{vpc}' has dependencies and cannot be deleted"):
        hand.drop(aws.VPC, vpc)
    hand.drop(aws.SUBNET, subnet)
    hand.drop(aws.VPC, vpc)

    assert hand.cloud.left() == []


def test_a_subnet_of_no_network_is_refused(hand: Hand) -> None:
    with pytest.raises(RefusedError, match=r"InvalidVpcID.NotFound: The vpc ID 'vpc-0' does not exist"):
        hand.make(aws.SUBNET, vpcId="vpc-0", cidrBlock="10.0.1.0/24")


def test_two_subnets_do_not_share_a_range(hand: Hand) -> None:
    vpc, _ = hand.network()
    with pytest.raises(RefusedError, match=r"InvalidSubnet.Conflict"):
        hand.make(aws.SUBNET, "other", vpcId=vpc, cidrBlock="10.0.1.0/24")


def _gateway(hand: Hand) -> tuple[str, str, str]:
    """An internet gateway, and a NAT gateway in a subnet with a route to it."""
    vpc, subnet = hand.network()
    internet = hand.make(aws.INTERNET_GATEWAY, vpcId=vpc)
    table = hand.make(aws.ROUTE_TABLE, vpcId=vpc)
    hand.make(aws.ROUTE_TABLE_ASSOCIATION, subnetId=subnet, routeTableId=table)
    hand.make(aws.ROUTE, routeTableId=table, destinationCidrBlock="0.0.0.0/0", gatewayId=internet)
    address = hand.make(aws.ADDRESS, domain="vpc")
    return internet, address, hand.make(aws.NAT_GATEWAY, subnetId=subnet, allocationId=address)


def test_an_internet_gateway_stays_while_a_nat_gateway_of_its_network_lives(hand: Hand) -> None:
    internet, _, nat = _gateway(hand)
    with pytest.raises(RefusedError, match="has some mapped public address"):
        hand.drop(aws.INTERNET_GATEWAY, internet)
    hand.drop(aws.NAT_GATEWAY, nat)
    hand.drop(aws.INTERNET_GATEWAY, internet)

    assert hand.cloud.find(aws.INTERNET_GATEWAY, internet) is None


def test_an_address_in_use_is_not_released(hand: Hand) -> None:
    _, address, _ = _gateway(hand)
    with pytest.raises(RefusedError, match=f"InvalidIPAddress.InUse: Address with allocation id \\[{address}\\]"):
        hand.drop(aws.ADDRESS, address)


def test_a_nat_gateway_without_a_route_out_comes_up_failed(hand: Hand) -> None:
    vpc, subnet = hand.network()
    table = hand.make(aws.ROUTE_TABLE, vpcId=vpc)
    hand.make(aws.ROUTE_TABLE_ASSOCIATION, subnetId=subnet, routeTableId=table)
    with pytest.raises(RefusedError, match="has no internet gateway route"):
        hand.make(aws.NAT_GATEWAY, subnetId=subnet, allocationId=hand.make(aws.ADDRESS, domain="vpc"))


def test_a_role_with_a_policy_on_it_is_not_deleted(hand: Hand) -> None:
    hand.role("worker", CLUSTER_POLICY)
    with pytest.raises(RefusedError, match="DeleteConflict: Cannot delete entity, must detach all policies first"):
        hand.drop(aws.ROLE, "worker")


def test_a_role_in_an_instance_profile_is_not_deleted(hand: Hand) -> None:
    hand.role("worker")
    hand.make(aws.INSTANCE_PROFILE, name="worker", role="worker")
    with pytest.raises(RefusedError, match="must remove roles from instance profile first"):
        hand.drop(aws.ROLE, "worker")


def test_two_roles_do_not_share_a_name(hand: Hand) -> None:
    hand.role("worker")
    with pytest.raises(RefusedError, match="EntityAlreadyExists: Role with name worker already exists"):
        hand.make(aws.ROLE, "another", name="worker")


@pytest.mark.parametrize(
    ("type_", "inputs", "words"),
    [
        (aws.REPOSITORY, {"name": "ci/gpu"}, "RepositoryAlreadyExistsException: .*'ci/gpu'"),
        (aws.LOG_GROUP, {"name": "/ci"}, "ResourceAlreadyExistsException: .*/ci"),
        (aws.LAUNCH_TEMPLATE, {"name": "gpu"}, "Launch template name already in use"),
        (aws.BUCKET, {"bucket": "ci"}, "BucketAlreadyOwnedByYou"),
        (aws.INSTANCE_PROFILE, {"name": "vm"}, "Instance Profile vm already exists"),
        ("aws:kms/alias:Alias", {"name": "alias/ci"}, "An alias with the name alias/ci already exists"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("aws:") else "",
)
def test_a_second_thing_of_the_same_name_is_refused(hand: Hand, type_: str, inputs: dict[str, Any], words: str) -> None:
    hand.make(type_, "one", **inputs)
    with pytest.raises(RefusedError, match=words):
        hand.make(type_, "other", **inputs)


def test_a_cluster_has_its_name_alone_and_so_has_a_group_in_it(hand: Hand) -> None:
    subnet = hand.ready_cluster()
    with pytest.raises(RefusedError, match="NodeGroup already exists with name system and cluster name ci"):
        hand.nodes(subnet)
    with pytest.raises(RefusedError, match="Cluster already exists with name: ci"):
        hand.make(aws.CLUSTER, "other", name="ci", roleArn=hand.arn(aws.ROLE, "cluster"), vpcConfig={})


def test_a_name_is_free_again_after_a_delete(hand: Hand) -> None:
    hand.role("worker")
    hand.drop(aws.ROLE, "worker")

    assert hand.make(aws.ROLE, "another", name="worker") == "worker"


def test_a_key_goes_though_a_cluster_uses_it(hand: Hand) -> None:
    key = hand.make(aws.KEY)
    hand.cluster(encryptionConfig={"provider": {"keyArn": hand.arn(aws.KEY, key)}, "resources": ["secrets"]})
    hand.drop(aws.KEY, key)

    assert hand.cloud.find(aws.KEY, key) is None


def test_a_cluster_whose_role_has_no_policy_yet_is_refused(hand: Hand) -> None:
    _, subnet = hand.network()
    with pytest.raises(RefusedError, match="doesn't have the Amazon EKS Managed Policies"):
        hand.make(aws.CLUSTER, name="ci", roleArn=hand.role("cluster"), vpcConfig={"subnetIds": [subnet]})


def test_a_cluster_with_nodes_is_not_deleted(hand: Hand) -> None:
    hand.ready_cluster()
    with pytest.raises(RefusedError, match="ResourceInUseException: Cluster has nodegroups attached"):
        hand.drop(aws.CLUSTER, "ci")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (["10.0.1.0/24", "10.0.2.0/24"], None),
        (["10.0.1.0/24", "10.0.3.0/24"], None),
        (["10.0.1.0/24"], "the same set of availability zones"),
        (["10.0.1.0/24", "10.0.4.0/24"], "the same set of availability zones"),
    ],
)
def test_a_cluster_stays_in_its_zones(hand: Hand, other: list[str], words: str | None) -> None:
    vpc = hand.make(aws.VPC, cidrBlock="10.0.0.0/16")
    zones = {"10.0.1.0/24": "a", "10.0.2.0/24": "b", "10.0.3.0/24": "b", "10.0.4.0/24": "c"}
    subnets = {
        cidr: hand.make(aws.SUBNET, cidr, vpcId=vpc, cidrBlock=cidr, availabilityZone=f"us-west-2{letter}")
        for cidr, letter in zones.items()
    }
    stated = {"name": "ci", "roleArn": hand.role("cluster", CLUSTER_POLICY)}
    first = [subnets["10.0.1.0/24"], subnets["10.0.2.0/24"]]
    cluster = hand.make(aws.CLUSTER, "cluster", **stated, vpcConfig={"subnetIds": first})
    moved = {**stated, "vpcConfig": {"subnetIds": [subnets[cidr] for cidr in other]}}

    if words is None:
        hand.cloud.update(aws.CLUSTER, cluster, moved)
    else:
        with pytest.raises(RefusedError, match=words):
            hand.cloud.update(aws.CLUSTER, cluster, moved)


def test_a_cluster_stays_in_its_network(hand: Hand) -> None:
    hand.cluster()
    (cluster,) = hand.cloud.of(aws.CLUSTER)
    vpc = hand.make(aws.VPC, "other", cidrBlock="10.1.0.0/16")
    subnet = hand.make(aws.SUBNET, "other", vpcId=vpc, cidrBlock="10.1.1.0/24")

    with pytest.raises(RefusedError, match="in the same VPC"):
        hand.cloud.update(aws.CLUSTER, cluster.id, {**cluster.inputs, "vpcConfig": {"subnetIds": [subnet]}})


def test_a_guarded_cluster_is_not_deleted(hand: Hand) -> None:
    hand.cluster(deletionProtection=True)
    with pytest.raises(RefusedError, match="deletion protection"):
        hand.drop(aws.CLUSTER, "ci")


def test_what_is_part_of_a_cluster_goes_with_it(hand: Hand) -> None:
    hand.cluster()
    hand.let_in()
    hand.make(aws.ADD_ON, clusterName="ci", addonName="vpc-cni")
    hand.drop(aws.CLUSTER, "ci")

    assert {thing.type for thing in hand.cloud} == {aws.VPC, aws.SUBNET, aws.ROLE, aws.ATTACHMENT}


def test_a_cluster_without_its_log_group_makes_one_that_stays(hand: Hand) -> None:
    hand.cluster(enabledClusterLogTypes=["audit"])
    with pytest.raises(RefusedError, match="ResourceAlreadyExistsException"):
        hand.make(aws.LOG_GROUP, name="/aws/eks/ci/cluster")
    hand.drop(aws.CLUSTER, "ci")

    assert [thing.id for thing in hand.cloud.of(aws.LOG_GROUP)] == ["/aws/eks/ci/cluster"]


def test_a_log_group_taken_away_from_a_living_cluster_comes_back(hand: Hand) -> None:
    group = hand.make(aws.LOG_GROUP, name="/aws/eks/ci/cluster")
    hand.cluster(enabledClusterLogTypes=["audit"])
    hand.drop(aws.LOG_GROUP, group)

    assert [(thing.id, thing.urn) for thing in hand.cloud.of(aws.LOG_GROUP)] == [(group, "")]


def test_nodes_of_no_cluster_are_refused(hand: Hand) -> None:
    _, subnet = hand.network()
    with pytest.raises(RefusedError, match="ResourceNotFoundException: No cluster found for name: ci"):
        hand.nodes(subnet)


def test_nodes_without_a_network_add_on_never_join(hand: Hand) -> None:
    subnet = hand.cluster(bootstrapSelfManagedAddons=False)
    with pytest.raises(RefusedError, match=r"NodeCreationFailure: .* without vpc-cni"):
        hand.nodes(subnet)


def test_an_empty_group_shows_nothing_of_what_its_nodes_lack(hand: Hand) -> None:
    subnet = hand.cluster(bootstrapSelfManagedAddons=False)

    assert hand.nodes(subnet, scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 2}) == "ci:system"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (
            {"taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]},
            r"taints\[0\].effect to be one of .*got NoSchedule",
        ),
        ({"capacityType": "SPOTTY"}, "expected capacityType to be one of .*got SPOTTY"),
        ({"amiType": "AL2_x86_64_GPU"}, "expected amiType to be one of"),
        ({"nodeGroupName": "n" * 64}, "expected length of nodeGroupName"),
        ({"scalingConfig": {"minSize": 2, "desiredSize": 1, "maxSize": 3}}, "desired capacity 1 must lie between"),
        ({"subnetIds": ["subnet-0"]}, "The subnet ID 'subnet-0' does not exist"),
        ({"nodeRoleArn": "arn:aws:iam::123456789012:role/nobody"}, "could not be assumed because it does not exist"),
    ],
    ids=["taint", "capacity", "image", "name", "sizes", "subnet", "role"],
)
def test_a_node_group_that_cannot_be_is_refused(hand: Hand, inputs: dict[str, Any], words: str) -> None:
    subnet = hand.cluster()
    with pytest.raises(RefusedError, match=words):
        hand.nodes(subnet, **inputs)


@pytest.mark.parametrize(
    ("template", "group", "words"),
    [
        ({}, {"diskSize": 100}, "Disk size must be specified within the launch template"),
        ({"imageId": "ami-1"}, {"amiType": "AL2023_x86_64_NVIDIA"}, "cannot specify an AMI type other than CUSTOM"),
        ({"instanceType": "g4dn.xlarge"}, {"instanceTypes": ["g4dn.xlarge"]}, "not in both"),
        ({"iamInstanceProfile": {"name": "nodes"}}, {}, "must not specify an IAM instance profile"),
    ],
    ids=["disk", "image", "types", "profile"],
)
def test_what_a_launch_template_says_is_not_said_by_the_group_too(
    hand: Hand, template: dict[str, Any], group: dict[str, Any], words: str
) -> None:
    subnet = hand.cluster()
    made = hand.make(aws.LAUNCH_TEMPLATE, name="gpu", **template)
    with pytest.raises(RefusedError, match=words):
        hand.nodes(subnet, launchTemplate={"id": made, "version": "1"}, **group)


def test_dns_without_a_plain_node_never_becomes_active(hand: Hand) -> None:
    subnet = hand.cluster()
    hand.nodes(subnet, "gpu", taints=[{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}])
    with pytest.raises(RefusedError, match="last state: 'DEGRADED'"):
        hand.make(aws.ADD_ON, clusterName="ci", addonName="coredns")
    hand.nodes(subnet)

    assert hand.make(aws.ADD_ON, clusterName="ci", addonName="coredns") == "ci:coredns"


def test_nobody_is_let_in_without_an_entry(hand: Hand) -> None:
    hand.cluster()
    with pytest.raises(RefusedError, match="The specified principalArn could not be found"):
        hand.make(aws.ACCESS_POLICY, clusterName="ci", principalArn=ADMIN, policyArn=ADMIN_POLICY)


def test_the_entry_of_a_node_role_is_eks_own(hand: Hand) -> None:
    hand.ready_cluster()
    role = hand.arn(aws.ROLE, "nodes")
    with pytest.raises(RefusedError, match="already in use on this cluster"):
        hand.make(aws.ACCESS_ENTRY, "nodes", clusterName="ci", principalArn=role)


def test_one_service_account_has_one_role(hand: Hand) -> None:
    hand.cluster()
    role = hand.role("scaler")
    account = {"clusterName": "ci", "namespace": "kube-system", "serviceAccount": "scaler", "roleArn": role}
    hand.make(aws.POD_IDENTITY, **account)
    with pytest.raises(RefusedError, match="Association already exists"):
        hand.make(aws.POD_IDENTITY, "other", **account)


def test_an_updated_launch_template_has_a_new_version(hand: Hand) -> None:
    template = hand.make(aws.LAUNCH_TEMPLATE, name="gpu")
    before = hand.cloud.expected(aws.LAUNCH_TEMPLATE, template, {"name": "gpu", "userData": "x"})
    after = hand.cloud.update(aws.LAUNCH_TEMPLATE, template, {"name": "gpu", "userData": "x"})

    assert (before["latestVersion"], after["latestVersion"]) == ("[unknown]", 2)


def test_a_replacement_is_another_thing(hand: Hand) -> None:
    first = hand.make(aws.KEY)
    second = hand.make(aws.KEY)

    assert first != second


def test_what_is_not_made_yet_cannot_be_pointed_at(hand: Hand) -> None:
    vpc, _ = hand.network()
    made = hand.cloud.find(aws.VPC, vpc)
    assert made is not None
    for phase in (Phase.CREATING, Phase.DELETING):
        made.phase = phase
        with pytest.raises(RefusedError, match=f"The vpc ID '{vpc}' does not exist"):
            hand.make(aws.ROUTE_TABLE, vpcId=vpc)


def test_what_is_slow_is_not_there_at_once(hand: Hand) -> None:
    """A dependent that does not wait comes too early: this is how a missing edge shows."""
    subnet = hand.cluster()
    hand.cloud.pace = 0.2
    hand.role("nodes", "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")
    starting = threading.Thread(target=hand.nodes, args=(subnet,))
    starting.start()
    while hand.cloud.find(aws.NODE_GROUP, "ci:system") is None:
        pass
    with pytest.raises(RefusedError, match="DEGRADED"):
        hand.make(aws.ADD_ON, clusterName="ci", addonName="coredns")
    starting.join()

    assert hand.make(aws.ADD_ON, clusterName="ci", addonName="coredns") == "ci:coredns"
