"""The refusals and the side effects of the fake AWS."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ops.fakes.aws import names as aws
from ops.fakes.aws.eks_nodes import BUDGET, autoscale
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.cloud.objects import Phase
from tests.engine.clouds import CLUSTER_POLICY, INSIDE, Client

pytestmark = pytest.mark.pure


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_network_with_a_subnet_cannot_be_deleted(client: Client) -> None:
    vpc, subnet = client.network()
    with pytest.raises(RefusedError, match=f"The vpc '{vpc}' has dependencies and cannot be deleted"):
        client.delete(aws.VPC, vpc)
    client.delete(aws.SUBNET, subnet)
    client.delete(aws.VPC, vpc)

    assert client.cloud.remaining() == []


def test_a_subnet_in_a_missing_network_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match=r"InvalidVpcID.NotFound: The vpc ID 'vpc-0' does not exist"):
        client.create(aws.SUBNET, vpcId="vpc-0", cidrBlock="10.0.1.0/24")


def test_two_subnets_cannot_have_the_same_range(client: Client) -> None:
    vpc, _ = client.network()
    with pytest.raises(RefusedError, match=r"InvalidSubnet.Conflict"):
        client.create(aws.SUBNET, "other", vpcId=vpc, cidrBlock="10.0.1.0/24")


def _gateway(client: Client) -> tuple[str, str, str]:
    """Create an internet gateway, and a NAT gateway in a subnet with a route to it."""
    vpc, subnet = client.network()
    internet = client.create(aws.INTERNET_GATEWAY, vpcId=vpc)
    table = client.create(aws.ROUTE_TABLE, vpcId=vpc)
    client.create(aws.ROUTE_TABLE_ASSOCIATION, subnetId=subnet, routeTableId=table)
    client.create(aws.ROUTE, routeTableId=table, destinationCidrBlock="0.0.0.0/0", gatewayId=internet)
    address = client.create(aws.ADDRESS, domain="vpc")
    return internet, address, client.create(aws.NAT_GATEWAY, subnetId=subnet, allocationId=address)


def test_a_nat_gateway_blocks_deleting_the_internet_gateway_and_its_address(client: Client) -> None:
    internet, address, nat = _gateway(client)
    with pytest.raises(RefusedError, match="has some mapped public address"):
        client.delete(aws.INTERNET_GATEWAY, internet)
    with pytest.raises(RefusedError, match=f"InvalidIPAddress.InUse: Address with allocation id \\[{address}\\]"):
        client.delete(aws.ADDRESS, address)
    client.delete(aws.NAT_GATEWAY, nat)
    client.delete(aws.INTERNET_GATEWAY, internet)

    assert client.cloud.find(aws.INTERNET_GATEWAY, internet) is None


def _machine(client: Client, *, route: bool = True, template: str = "", **inputs: Any) -> str:
    """Create an instance from an AMI, or from that of a template, with a role and a route to the internet."""
    vpc, subnet = client.network()
    if template:
        inputs |= {"launchTemplate": {"id": client.create(aws.LAUNCH_TEMPLATE, imageId=template)}, "ami": None}
    if route:
        table = client.create(aws.ROUTE_TABLE, vpcId=vpc)
        client.create(aws.ROUTE_TABLE_ASSOCIATION, subnetId=subnet, routeTableId=table)
        gateway = client.create(aws.INTERNET_GATEWAY, vpcId=vpc)
        client.create(aws.ROUTE, routeTableId=table, destinationCidrBlock="0.0.0.0/0", gatewayId=gateway)
    client.create(aws.ROLE, name="machine")
    client.create(aws.INSTANCE_PROFILE, name="machine", role="machine")
    own = {"ami": "ami-0123456789abcdef0", "rootBlockDevice": {"volumeSize": 9}, "iamInstanceProfile": "machine"}
    stated = {**own, "subnetId": subnet, **inputs}
    return client.create(aws.INSTANCE, **{key: value for key, value in stated.items() if value is not None})


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (
            {"ami": "ami-00000000000000000"},
            r"InvalidAMIID.NotFound: The image id '\[ami-00000000000000000\]' does not exist",
        ),
        ({"ami": None}, "MissingParameter: The request must contain the parameter ImageId"),
        ({"launchTemplate": {"id": "lt-0"}, "ami": None}, "InvalidLaunchTemplateId.NotFound"),
        ({"ami": "resolve:ssm:/newest"}, 'Invalid id: "resolve:ssm:/newest"'),
        ({"template": "resolve:ssm:/newest"}, "DescribeImages.*InvalidAMIID.Malformed"),
        ({"iamInstanceProfile": "other"}, r"Value \(other\) for parameter iamInstanceProfile.name is invalid"),
        ({"vpcSecurityGroupIds": ["sg-0"]}, "The security group 'sg-0' does not exist"),
        ({"userData": "x" * 16_385}, "User data is limited to 16384 bytes"),
        ({"route": False}, "starts before its route to the internet exists"),
        (
            {"instanceMarketOptions": {"spotOptions": {"instanceInterruptionBehavior": "stop"}}},
            "The interruption behavior stop needs a persistent spot request",
        ),
    ],
)
def test_a_machine_that_ec2_cannot_start_is_refused(client: Client, inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        _machine(client, **inputs)


@pytest.mark.parametrize(
    ("create", "type_", "id_", "words"),
    [
        (_machine, aws.ROLE, "machine", "must remove roles from instance profile first"),
        (lambda client: client.role("worker", CLUSTER_POLICY), aws.ROLE, "worker", "must detach all policies first"),
        (Client.ready_cluster, aws.CLUSTER, "ci", "ResourceInUseException: Cluster has nodegroups attached"),
        (lambda client: client.cluster(deletionProtection=True), aws.CLUSTER, "ci", "deletion protection"),
    ],
)
def test_what_is_in_use_cannot_be_deleted(
    client: Client, create: Callable[[Client], str], type_: str, id_: str, words: str
) -> None:
    create(client)
    with pytest.raises(RefusedError, match=words):
        client.delete(type_, id_)


def test_a_subnet_with_a_machine_cannot_be_deleted(client: Client) -> None:
    machine = _machine(client)
    (subnet,) = client.cloud.of(aws.SUBNET)
    with pytest.raises(RefusedError, match="has dependencies and cannot be deleted"):
        client.delete(aws.SUBNET, subnet.id)
    client.delete(aws.INSTANCE, machine)
    client.delete(aws.SUBNET, subnet.id)


@pytest.mark.parametrize(
    ("service", "expression", "words"),
    [
        ("lambda", "rate(15 minutes)", "must allow AWS EventBridge Scheduler to assume it"),
        ("scheduler", "15 minutes", "Invalid Schedule Expression 15 minutes"),
        ("scheduler", "cron(0 2 * * 1)", "Invalid Schedule Expression"),
    ],
)
def test_a_schedule_that_cannot_run_is_refused(client: Client, service: str, expression: str, words: str) -> None:
    client.create(aws.ROLE, name="caller", assumeRolePolicy=f'{{"Service": "{service}.amazonaws.com"}}')
    target = {"arn": "arn:aws:scheduler:::aws-sdk:ec2:stopInstances", "roleArn": client.arn(aws.ROLE, "caller")}
    with pytest.raises(RefusedError, match=words):
        client.create(aws.SCHEDULE, scheduleExpression=expression, target=target)


def test_a_function_whose_role_does_not_trust_it_is_refused(client: Client) -> None:
    client.create(aws.ROLE, name="other", assumeRolePolicy='{"Service": "ec2.amazonaws.com"}')
    with pytest.raises(RefusedError, match="cannot be assumed by Lambda"):
        client.create(aws.FUNCTION, name="limit", role=client.arn(aws.ROLE, "other"))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"period": 300, "evaluationPeriods": 289}, "Metrics cannot be checked across more than a day"),
        ({"metricQueries": [{"id": "a", "returnData": False}]}, "Exactly one element of the metrics list"),
        ({"alarmActions": ["arn:aws:sns:us-west-2:123456789012:none"]}, "Invalid alarm action"),
    ],
)
def test_an_alarm_that_cloudwatch_cannot_evaluate_is_refused(
    client: Client, inputs: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        client.create(aws.ALARM, **inputs)


def test_a_nat_gateway_without_an_internet_route_is_refused(client: Client) -> None:
    vpc, subnet = client.network()
    table = client.create(aws.ROUTE_TABLE, vpcId=vpc)
    client.create(aws.ROUTE_TABLE_ASSOCIATION, subnetId=subnet, routeTableId=table)
    with pytest.raises(RefusedError, match="has no internet gateway route"):
        client.create(aws.NAT_GATEWAY, subnetId=subnet, allocationId=client.create(aws.ADDRESS, domain="vpc"))


@pytest.mark.parametrize(
    ("type_", "inputs", "words"),
    [
        (aws.REPOSITORY, {"name": "ci/gpu"}, "RepositoryAlreadyExistsException: .*'ci/gpu'"),
        (aws.LOG_GROUP, {"name": "/ci"}, "ResourceAlreadyExistsException: .*/ci"),
        (aws.LAUNCH_TEMPLATE, {"name": "gpu"}, "Launch template name already in use"),
        (aws.ROLE, {"name": "worker"}, "EntityAlreadyExists: Role with name worker already exists"),
        ("aws:kms/alias:Alias", {"name": "alias/ci"}, "An alias with the name alias/ci already exists"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("aws:") else "",
)
def test_a_second_object_of_the_same_name_is_refused(
    client: Client, type_: str, inputs: dict[str, Any], words: str
) -> None:
    client.create(type_, "one", **inputs)
    with pytest.raises(RefusedError, match=words):
        client.create(type_, "other", **inputs)


def test_a_second_cluster_or_group_of_the_same_name_is_refused(client: Client) -> None:
    subnet = client.ready_cluster()
    with pytest.raises(RefusedError, match="NodeGroup already exists with name system and cluster name ci"):
        client.nodes(subnet)
    subnets = [one.id for one in client.cloud.of(aws.SUBNET)]
    role = client.arn(aws.ROLE, "cluster")
    with pytest.raises(RefusedError, match="Cluster already exists with name: ci"):
        client.create(aws.CLUSTER, "other", name="ci", roleArn=role, vpcConfig={"subnetIds": subnets})


def test_a_key_in_use_can_be_deleted(client: Client) -> None:
    key = client.create(aws.KEY)
    client.cluster(encryptionConfig={"provider": {"keyArn": client.arn(aws.KEY, key)}, "resources": ["secrets"]})
    client.delete(aws.KEY, key)

    assert client.cloud.find(aws.KEY, key) is None


def test_a_cluster_whose_role_has_no_policy_is_refused(client: Client) -> None:
    _, subnet = client.network()
    with pytest.raises(RefusedError, match="doesn't have the Amazon EKS Managed Policies"):
        client.create(aws.CLUSTER, name="ci", roleArn=client.role("cluster"), vpcConfig={"subnetIds": [subnet]})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (["10.0.1.0/24", "10.0.2.0/24"], None),
        (["10.0.1.0/24", "10.0.3.0/24"], None),
        (["10.0.1.0/24"], "the same set of availability zones"),
        (["10.0.1.0/24", "10.0.4.0/24"], "the same set of availability zones"),
    ],
)
def test_a_cluster_cannot_change_its_zones(client: Client, other: list[str], words: str | None) -> None:
    vpc = client.create(aws.VPC, cidrBlock="10.0.0.0/16")
    zones = {"10.0.1.0/24": "a", "10.0.2.0/24": "b", "10.0.3.0/24": "b", "10.0.4.0/24": "c"}
    subnets = {
        cidr: client.create(aws.SUBNET, cidr, vpcId=vpc, cidrBlock=cidr, availabilityZone=f"us-west-2{letter}")
        for cidr, letter in zones.items()
    }
    stated = {"name": "ci", "roleArn": client.role("cluster", CLUSTER_POLICY)}
    first = [subnets["10.0.1.0/24"], subnets["10.0.2.0/24"]]
    cluster = client.create(aws.CLUSTER, "cluster", **stated, vpcConfig={"subnetIds": first})
    moved = {**stated, "vpcConfig": {"subnetIds": [subnets[cidr] for cidr in other]}}

    if words is None:
        client.cloud.update(aws.CLUSTER, cluster, moved)
    else:
        with pytest.raises(RefusedError, match=words):
            client.cloud.update(aws.CLUSTER, cluster, moved)


def test_a_cluster_cannot_change_its_network(client: Client) -> None:
    client.cluster()
    (cluster,) = client.cloud.of(aws.CLUSTER)
    vpc = client.create(aws.VPC, "other", cidrBlock="10.1.0.0/16")
    subnet = client.create(aws.SUBNET, "other", vpcId=vpc, cidrBlock="10.1.1.0/24")

    with pytest.raises(RefusedError, match="in the same VPC"):
        client.cloud.update(aws.CLUSTER, cluster.id, {**cluster.inputs, "vpcConfig": {"subnetIds": [subnet]}})


def test_deleting_a_cluster_deletes_its_parts(client: Client) -> None:
    client.cluster()
    client.grant_access()
    client.create(aws.ADD_ON, clusterName="ci", addonName="vpc-cni")
    client.delete(aws.CLUSTER, "ci")

    assert {obj.type for obj in client.cloud} == {aws.VPC, aws.SUBNET, aws.ROLE, aws.ATTACHMENT}


def test_a_cluster_creates_a_missing_log_group(client: Client) -> None:
    client.cluster(enabledClusterLogTypes=["audit"])
    with pytest.raises(RefusedError, match="ResourceAlreadyExistsException"):
        client.create(aws.LOG_GROUP, name="/aws/eks/ci/cluster")
    client.delete(aws.CLUSTER, "ci")

    assert [obj.id for obj in client.cloud.of(aws.LOG_GROUP)] == ["/aws/eks/ci/cluster"]


def test_a_log_group_deleted_before_its_cluster_is_recreated(client: Client) -> None:
    group = client.create(aws.LOG_GROUP, name="/aws/eks/ci/cluster")
    client.cluster(enabledClusterLogTypes=["audit"])
    client.delete(aws.LOG_GROUP, group)

    assert [(obj.id, obj.urn) for obj in client.cloud.of(aws.LOG_GROUP)] == [(group, "")]


def test_nodes_without_a_network_add_on_cannot_join(client: Client) -> None:
    subnet = client.cluster(bootstrapSelfManagedAddons=False)
    with pytest.raises(RefusedError, match=r"NodeCreationFailure: .* without vpc-cni"):
        client.nodes(subnet)


def test_an_empty_group_needs_no_network_add_on(client: Client) -> None:
    subnet = client.cluster(bootstrapSelfManagedAddons=False)

    assert client.nodes(subnet, scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 2}) == "ci:system"


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
        (
            {"scalingConfig": {"minSize": 2, "desiredSize": 1, "maxSize": 3}},
            "Minimum capacity 2 can't be greater than desired size 1",
        ),
        ({"scalingConfig": {"minSize": 0, "desiredSize": 3, "maxSize": 2}}, "desired capacity 3 can't be greater than"),
        ({"clusterName": "none"}, "ResourceNotFoundException: No cluster found for name: none"),
        ({"subnetIds": ["subnet-0"]}, "The subnet ID 'subnet-0' does not exist"),
        ({"nodeRoleArn": "arn:aws:iam::123456789012:role/unknown"}, "could not be assumed because it does not exist"),
    ],
    ids=["taint", "capacity", "image", "name", "small", "large", "cluster", "subnet", "role"],
)
def test_an_invalid_node_group_is_refused(client: Client, inputs: dict[str, Any], words: str) -> None:
    subnet = client.cluster()
    with pytest.raises(RefusedError, match=words):
        client.nodes(subnet, **inputs)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((1, 0, 3), "Minimum capacity 1 can't be greater than desired size 0"),
        ((0, 3, 2), "desired capacity 3 can't be greater than max size 2"),
    ],
)
def test_an_update_to_sizes_that_contradict_is_refused(client: Client, sizes: tuple[int, int, int], words: str) -> None:
    client.nodes(client.cluster())
    (group,) = client.cloud.of(aws.NODE_GROUP)
    scaling = dict(zip(("minSize", "desiredSize", "maxSize"), sizes, strict=True))
    with pytest.raises(RefusedError, match=words):
        client.cloud.update(aws.NODE_GROUP, group.id, {**group.inputs, "scalingConfig": scaling})


@pytest.mark.parametrize(("desired", "drained"), [(1, ["2 of 3 nodes of system"]), (3, []), (4, [])])
def test_an_update_with_a_smaller_count_drains_nodes(client: Client, desired: int, drained: list[str]) -> None:
    group = client.nodes(client.cluster())
    autoscale(client.cloud, group, 3)
    (living,) = client.cloud.of(aws.NODE_GROUP)
    scaling = {"minSize": 1, "desiredSize": desired, "maxSize": 5}
    client.cloud.update(aws.NODE_GROUP, group, {**living.inputs, "scalingConfig": scaling})

    assert [line.partition(":")[0] for line in client.cloud.drained] == drained


@pytest.mark.parametrize("budget", [True, False])
def test_a_disruption_budget_keeps_nodes_with_jobs(client: Client, budget: bool) -> None:
    subnet = client.ready_cluster()
    taints = [{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}]
    group = client.nodes(subnet, "gpu", taints=taints, version="1.35")
    if budget:
        client.create(BUDGET, "jobs", INSIDE, metadata={"name": "jobs", "namespace": "default"}, spec={})
    living = client.cloud.find(aws.NODE_GROUP, group)
    assert living is not None
    wanted = {**living.inputs, "version": "1.36"}

    if budget:
        with pytest.raises(RefusedError, match="PodEvictionFailure"):
            client.cloud.update(aws.NODE_GROUP, group, wanted)
    else:
        client.cloud.update(aws.NODE_GROUP, group, wanted)

    assert client.cloud.drained == ([] if budget else ["all 1 nodes of gpu: the update replaces them"])


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
def test_a_setting_in_both_template_and_group_is_refused(
    client: Client, template: dict[str, Any], group: dict[str, Any], words: str
) -> None:
    subnet = client.cluster()
    created = client.create(aws.LAUNCH_TEMPLATE, name="gpu", **template)
    with pytest.raises(RefusedError, match=words):
        client.nodes(subnet, launchTemplate={"id": created, "version": "1"}, **group)


def test_dns_without_an_untainted_node_does_not_start(client: Client) -> None:
    subnet = client.cluster()
    client.nodes(subnet, "gpu", taints=[{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}])
    with pytest.raises(RefusedError, match="last state: 'DEGRADED'"):
        client.create(aws.ADD_ON, clusterName="ci", addonName="coredns")
    client.nodes(subnet)

    assert client.create(aws.ADD_ON, clusterName="ci", addonName="coredns") == "ci:coredns"


def test_an_access_entry_for_a_node_role_is_refused(client: Client) -> None:
    client.ready_cluster()
    role = client.arn(aws.ROLE, "nodes")
    with pytest.raises(RefusedError, match="already in use on this cluster"):
        client.create(aws.ACCESS_ENTRY, "nodes", clusterName="ci", principalArn=role)


def test_a_service_account_has_one_role(client: Client) -> None:
    client.cluster()
    role = client.role("scaler")
    account = {"clusterName": "ci", "namespace": "kube-system", "serviceAccount": "scaler", "roleArn": role}
    client.create(aws.POD_IDENTITY, **account)
    with pytest.raises(RefusedError, match="Association already exists"):
        client.create(aws.POD_IDENTITY, "other", **account)


def test_an_updated_launch_template_has_a_new_version(client: Client) -> None:
    template = client.create(aws.LAUNCH_TEMPLATE, name="gpu")
    before = client.cloud.expected(aws.LAUNCH_TEMPLATE, template, {"name": "gpu", "userData": "x"})
    after = client.cloud.update(aws.LAUNCH_TEMPLATE, template, {"name": "gpu", "userData": "x"})

    assert (before["latestVersion"], after["latestVersion"]) == ("[unknown]", 2)


def test_a_replacement_has_another_id(client: Client) -> None:
    assert client.create(aws.KEY) != client.create(aws.KEY)


def test_an_object_that_is_not_ready_cannot_be_referenced(client: Client) -> None:
    vpc, _ = client.network()
    created = client.cloud.find(aws.VPC, vpc)
    assert created is not None
    for phase in (Phase.CREATING, Phase.DELETING):
        created.phase = phase
        with pytest.raises(RefusedError, match=f"The vpc ID '{vpc}' does not exist"):
            client.create(aws.ROUTE_TABLE, vpcId=vpc)


def test_a_slow_object_is_not_ready_at_once(client: Client) -> None:
    """A missing dependency of the program shows as an error."""
    subnet = client.cluster()
    client.cloud.pace = 0.2
    client.role("nodes", "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")
    starting = threading.Thread(target=client.nodes, args=(subnet,))
    starting.start()
    while client.cloud.find(aws.NODE_GROUP, "ci:system") is None:
        pass
    with pytest.raises(RefusedError, match="DEGRADED"):
        client.create(aws.ADD_ON, clusterName="ci", addonName="coredns")
    starting.join()

    assert client.create(aws.ADD_ON, clusterName="ci", addonName="coredns") == "ci:coredns"
