"""Tests of the control plane, its nodes and its add-ons."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any

import pulumi
import pytest
from pulumi import ResourceOptions

from components.aws.cluster.add_ons import AddOnsArgs, ClusterAddOns, NodeAddOns
from components.aws.cluster.cluster import Cluster, ClusterArgs
from components.aws.images.registry import Registry, RegistryArgs, RepositoryArgs
from components.aws.nodes.gpu_node import GpuNode, autoscaler_tags, node_labels
from components.aws.nodes.gpu_pool import GpuPool, GpuPoolArgs
from components.aws.nodes.node_group import Disk, NodeGroupArgs
from components.aws.nodes.nodes import NodeRole, NodeRoleArgs, SystemNodes
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from ops.plan.model import Plan, Planned
from tests.components.made import TAGS, made, names, only, part, waits_for

pytestmark = pytest.mark.plan

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
SCALING_TAG = "aws:autoscaling/tag:Tag"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
ADD_ON = "aws:eks/addon:Addon"
ARGS = ClusterArgs(
    cluster_name="gpu-ci-small",
    account="123456789012",
    region="us-west-2",
    version="1.35",
    subnet_ids=("subnet-1", "subnet-2"),
    public_ranges=(IPv4Network("203.0.113.0/24"),),
    service_range=IPv4Network("172.20.0.0/16"),
    administrators={"deploy": "arn:aws:iam::123456789012:role/deploy", "platform": "arn:aws:iam::123456789012:role/p"},
    viewers={"plan": "arn:aws:iam::123456789012:role/plan"},
    log_types=("api", "audit"),
    log_retention_days=30,
    extended_support=False,
    protect=False,
)
NODES = NodeGroupArgs(
    cluster_name="gpu-ci-small",
    role_arn="arn:aws:iam::123456789012:role/node",
    subnet_ids=("subnet-1", "subnet-2"),
    ami_release="1.35.6-20260714",
    version="1.35",
    instance_types=("g4dn.xlarge", "g4dn.2xlarge"),
    min=0,
    max=5,
    disk=Disk(gib=200, iops=3000, throughput=400),
    title="gpu-ci-small-t4-spot",
    tags={**TAGS, "Team": "vision"},
    user_tags={"Team": "vision"},
    after=(),
)
POOL = GpuPoolArgs(
    nodes=NODES,
    node=GpuNode(
        pool="t4-spot",
        accelerator="nvidia-tesla-t4",
        gpus=1,
        ephemeral_mib=183_000,
        taints={"team": "vision:NoExecute"},
    ),
    capacity="spot",
    fast_image_pull=False,
)


def cluster(**changes: Any) -> Plan:
    return made(lambda here: Cluster("cluster", replace(ARGS, **changes), here))


def pool(**changes: Any) -> Plan:
    return made(lambda here: GpuPool("pool-t4-spot", replace(POOL, **changes), here))


def system(here: ResourceOptions, *after: pulumi.Resource) -> SystemNodes:
    args = NodeGroupArgs(
        cluster_name="gpu-ci-small",
        role_arn="arn:aws:iam::123456789012:role/node",
        subnet_ids=("subnet-1",),
        ami_release="1.35.6-20260714",
        version="1.35",
        instance_types=("t3.large",),
        min=2,
        max=4,
        disk=Disk(gib=50, iops=3000, throughput=125),
        title="gpu-ci-small-system",
        tags=TAGS,
        user_tags={},
        after=after,
    )
    return SystemNodes("system-nodes", args, here)


@pytest.fixture(scope="module")
def plain() -> Plan:
    return cluster()


@pytest.fixture(scope="module")
def spot() -> Plan:
    return pool()


@pytest.fixture(scope="module")
def both() -> Plan:
    """System nodes, their role and every add-on."""

    def build(here: ResourceOptions) -> None:
        add_ons = AddOnsArgs(cluster_name="gpu-ci-small", add_ons=[one.managed("1.35") for one in ADD_ONS])
        first = NodeAddOns("node-add-ons", add_ons, here)
        role = NodeRole("node-role", NodeRoleArgs(), here)
        nodes = system(here, *first.all, *role.policies)
        ClusterAddOns("cluster-add-ons", replace(add_ons, after=[nodes.node_group]), here)

    return made(build)


def test_the_creator_of_the_cluster_has_no_access(plain: Plan) -> None:
    """Both properties are set at creation. A change replaces the cluster."""
    assert part(only(plain, CLUSTER), "accessConfig") == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }


def test_only_administrators_and_viewers_have_access(plain: Plan) -> None:
    entries = plain.of("aws:eks/accessEntry:AccessEntry")
    granted = plain.of("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    policies = {each.inputs["principalArn"]: each.inputs["policyArn"].rpartition("/")[2] for each in granted}

    assert policies == {
        **dict.fromkeys(ARGS.administrators.values(), "AmazonEKSClusterAdminPolicy"),
        **dict.fromkeys(ARGS.viewers.values(), "AmazonEKSAdminViewPolicy"),
    }
    assert {each.inputs["principalArn"] for each in entries} == set(policies)
    assert {each.inputs["accessScope"]["type"] for each in granted} == {"cluster"}


def test_eks_installs_no_add_ons_of_its_own(plain: Plan) -> None:
    """By default EKS installs its own copies. A change replaces the cluster."""
    assert part(only(plain, CLUSTER), "bootstrapSelfManagedAddons") is False


def test_nodes_reach_the_control_plane_over_the_private_endpoint(plain: Plan) -> None:
    """Otherwise every node would need an address in the public ranges."""
    assert part(only(plain, CLUSTER), "vpcConfig") == {
        "subnetIds": ["subnet-1", "subnet-2"],
        "endpointPrivateAccess": True,
        "endpointPublicAccess": True,
        "publicAccessCidrs": ["203.0.113.0/24"],
    }


def test_without_public_ranges_the_public_endpoint_is_disabled() -> None:
    """For EKS an empty list means every address."""
    found = part(only(cluster(public_ranges=()), CLUSTER), "vpcConfig")

    assert found["endpointPublicAccess"] is False
    assert found["publicAccessCidrs"] is None


def test_secrets_are_encrypted_with_a_rotated_key(plain: Plan) -> None:
    key = only(plain, "aws:kms/key:Key")

    assert part(only(plain, CLUSTER), "encryptionConfig", "resources") == ["secrets"]
    assert key.urn in only(plain, CLUSTER).property_dependencies["encryptionConfig"]
    assert key.inputs["enableKeyRotation"] is True


def test_logs_expire_and_exist_before_the_cluster(plain: Plan) -> None:
    """EKS would create a group that never expires and outlives the stack."""
    logs = only(plain, "aws:cloudwatch/logGroup:LogGroup")

    assert logs.inputs["name"] == "/aws/eks/gpu-ci-small/cluster"
    assert logs.inputs["retentionInDays"] == 30
    assert waits_for(plain, only(plain, CLUSTER), logs)


def test_the_control_plane_is_deleted_before_its_policy(plain: Plan) -> None:
    """Without its policy EKS leaves network interfaces, and the network cannot be deleted."""
    policy = only(plain, "aws:iam/rolePolicyAttachment:RolePolicyAttachment")

    assert policy.inputs["policyArn"] == "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    assert waits_for(plain, only(plain, CLUSTER), policy)


@pytest.mark.parametrize("protect", [True, False])
def test_the_cluster_and_its_key_can_be_protected(protect: bool) -> None:
    plan = cluster(protect=protect)

    assert {each.type for each in plan if each.protect} == ({CLUSTER, "aws:kms/key:Key"} if protect else set())
    assert only(plan, "aws:kms/key:Key").inputs["deletionWindowInDays"] == (30 if protect else 7)


@pytest.mark.parametrize(("extended", "stated"), [(True, "EXTENDED"), (False, "STANDARD")])
def test_the_support_of_an_old_version_is_stated(extended: bool, stated: str) -> None:
    """The default is extended support: six times the price for an old version."""
    assert part(only(cluster(extended_support=extended), CLUSTER), "upgradePolicy") == {"supportType": stated}


def test_every_add_on_has_its_pinned_version_and_overwrites_conflicts(both: Plan) -> None:
    found = {each.inputs["addonName"]: each.inputs for each in both.of(ADD_ON)}

    assert {name: stated["addonVersion"] for name, stated in found.items()} == {
        add_on.name: add_on.versions["1.35"] for add_on in ADD_ONS
    }
    assert {stated["resolveConflictsOnCreate"] for stated in found.values()} == {"OVERWRITE"}


def test_only_the_stated_add_ons_are_created() -> None:
    few = [add_on.managed("1.35") for add_on in ADD_ONS if add_on.section is None]
    plan = made(lambda here: ClusterAddOns("extra", AddOnsArgs(cluster_name="c", add_ons=few), here))

    assert names(plan, ADD_ON) == ["extra-coredns"]
    assert plan.of("aws:iam/role:Role") == ()


@pytest.mark.parametrize(
    ("add_on", "account", "policy"),
    [
        ("vpc-cni", "aws-node", "AmazonEKS_CNI_Policy"),
        ("aws-ebs-csi-driver", "ebs-csi-controller-sa", "service-role/AmazonEBSCSIDriverPolicy"),
    ],
)
def test_an_add_on_that_calls_aws_has_its_own_role(both: Plan, add_on: str, account: str, policy: str) -> None:
    """The role of the nodes has neither policy."""
    found = next(each for each in both.of(ADD_ON) if each.inputs["addonName"] == add_on)
    (association,) = found.inputs["podIdentityAssociations"]
    attached = [
        each for each in both.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment") if waits_for(both, found, each)
    ]

    assert association["serviceAccount"] == account
    assert f"arn:aws:iam::aws:policy/{policy}" in {each.inputs["policyArn"] for each in attached}


def test_nodes_depend_on_add_ons_and_policies(both: Plan) -> None:
    """Otherwise nodes stay NotReady, and a deletion leaves network interfaces."""
    group = only(both, GROUP)
    before = {each.name for each in both if each.custom and waits_for(both, group, each)}

    assert {
        "node-add-ons-vpc-cni",
        "node-add-ons-kube-proxy",
        "node-add-ons-eks-pod-identity-agent",
        "node-role-worker",
        "node-role-images",
        "node-role-session",
    } <= before


@pytest.mark.parametrize("add_on", ["coredns", "metrics-server", "aws-ebs-csi-driver"])
def test_add_ons_with_pods_depend_on_nodes(both: Plan, add_on: str) -> None:
    """Without an untainted node the add-on fails."""
    found = next(each for each in both.of(ADD_ON) if each.inputs["addonName"] == add_on)

    assert waits_for(both, found, only(both, GROUP))


def test_system_nodes_are_on_demand_without_taints(both: Plan) -> None:
    group = only(both, GROUP).inputs

    assert group["capacityType"] == "ON_DEMAND"
    assert group["amiType"] == "AL2023_x86_64_STANDARD"
    assert group["scalingConfig"] == {"minSize": 2, "desiredSize": 2, "maxSize": 4}
    assert group["labels"] == {"role": "system"}
    assert "taints" not in group


def test_a_node_may_join_pull_images_and_open_sessions_only(both: Plan) -> None:
    attached = both.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    policies = {each.inputs["policyArn"].rpartition("/")[2] for each in attached if each.name.startswith("node-role")}

    assert policies == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }


@pytest.mark.parametrize("which", ["spot", "both"])
def test_the_launch_template_omits_what_the_node_group_states(which: str, request: pytest.FixtureRequest) -> None:
    """An image or a type stated in both fails the group, and so does a disk next to a template."""
    plan: Plan = request.getfixturevalue(which)
    template, group = only(plan, TEMPLATE).inputs, only(plan, GROUP).inputs

    assert template.keys().isdisjoint(
        {"imageId", "instanceType", "keyName", "iamInstanceProfile", "vpcSecurityGroupIds"}
    )
    assert group.keys().isdisjoint({"diskSize", "remoteAccess"})
    assert group["instanceTypes"]
    assert group["amiType"].startswith("AL2023_x86_64_")
    assert group["releaseVersion"] == "1.35.6-20260714"


@pytest.mark.parametrize("which", ["spot", "both"])
def test_a_pod_cannot_get_the_role_of_its_node(which: str, request: pytest.FixtureRequest) -> None:
    """One hop ends at the node; two would hand the node's role to every job."""
    plan: Plan = request.getfixturevalue(which)

    assert part(only(plan, TEMPLATE), "metadataOptions") == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
        "instanceMetadataTags": "disabled",
    }


def test_the_disk_of_a_node_is_encrypted_and_deleted_with_the_node(spot: Plan) -> None:
    (disk,) = part(only(spot, TEMPLATE), "blockDeviceMappings")

    assert disk == {
        "deviceName": "/dev/xvda",
        "ebs": {
            "volumeType": "gp3",
            "volumeSize": 200,
            "iops": 3000,
            "throughput": 400,
            "encrypted": "true",
            "deleteOnTermination": "true",
        },
    }


def test_instances_volumes_and_interfaces_have_the_default_tags(spot: Plan) -> None:
    tagged = {each["resourceType"]: each["tags"] for each in part(only(spot, TEMPLATE), "tagSpecifications")}
    stated = {**TAGS, "Team": "vision", "Name": "gpu-ci-small-t4-spot"}

    assert tagged == dict.fromkeys(("instance", "volume", "network-interface"), stated)


def test_a_changed_tag_reaches_new_instances_and_replaces_no_node(spot: Plan) -> None:
    """A new version of the template would make EKS replace every node."""
    tag = spot.one(SCALING_TAG, "pool-t4-spot-tag-Team")

    assert only(spot, TEMPLATE).ignore_changes == ("tagSpecifications", "tags", "tagsAll")
    assert tag.inputs["tag"] == {"key": "Team", "value": "vision", "propagateAtLaunch": True}
    assert tag.property_dependencies["autoscalingGroupName"] == (only(spot, GROUP).urn,)


@pytest.mark.parametrize("which", ["spot", "both"])
def test_only_the_autoscaler_changes_the_desired_size(which: str, request: pytest.FixtureRequest) -> None:
    """Spelt as on the wire: `scaling_config.desired_size` would reach the engine and match nothing."""
    assert only(request.getfixturevalue(which), GROUP).ignore_changes == ("scalingConfig.desiredSize",)


def test_a_replacement_of_a_pool_is_created_before_the_old_pool_is_deleted(spot: Plan) -> None:
    """Most properties replace a group; under a fixed name the new one could not be made first."""
    group = only(spot, GROUP)

    assert group.inputs["nodeGroupNamePrefix"] == "t4-spot-"
    assert "nodeGroupName" not in group.inputs
    assert not group.delete_before_replace


def test_a_pool_uses_the_current_version_of_its_launch_template(spot: Plan) -> None:
    """`$Latest` would be a change at every update, and no version no new nodes."""
    version = part(only(spot, GROUP), "launchTemplate", "version")

    assert version == "1"
    assert only(spot, TEMPLATE).urn in only(spot, GROUP).property_dependencies["launchTemplate"]


def test_a_pool_updates_within_its_quota(spot: Plan) -> None:
    """By default more nodes start than there were."""
    assert part(only(spot, GROUP), "updateConfig") == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}


@pytest.mark.parametrize(("capacity", "stated"), [("spot", "SPOT"), ("on-demand", "ON_DEMAND")])
def test_the_capacity_type_has_the_spelling_of_eks(capacity: Any, stated: str) -> None:
    """Nothing between here and EKS checks the word."""
    assert part(only(pool(capacity=capacity), GROUP), "capacityType") == stated


def autoscaler_tags_of(plan: Plan) -> list[Planned]:
    """Return the tags of the auto-scaling group that are not tags of the stack file."""
    return [tag for tag in plan.of(SCALING_TAG) if "-tag-" not in tag.name]


def test_the_labels_and_taints_of_a_pool_equal_the_autoscaler_tags(spot: Plan) -> None:
    """Tags of the node group do not reach its auto-scaling group, which is where the autoscaler always looks."""
    group = only(spot, GROUP).inputs
    tags = {each.inputs["tag"]["key"]: each.inputs["tag"]["value"] for each in autoscaler_tags_of(spot)}

    assert group["labels"] == node_labels(POOL.node)
    assert group["tags"] == tags == autoscaler_tags(POOL.node)
    assert group["taints"] == [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
        {"key": "team", "value": "vision", "effect": "NO_EXECUTE"},
    ]


def test_autoscaler_tags_are_on_the_group_of_the_pool_and_not_on_instances(spot: Plan) -> None:
    tags = autoscaler_tags_of(spot)

    assert {only(spot, GROUP).urn} == {urn for tag in tags for urn in tag.property_dependencies["autoscalingGroupName"]}
    assert {tag.inputs["tag"]["propagateAtLaunch"] for tag in tags} == {False}


def test_fast_image_pull_is_set_in_the_user_data() -> None:
    assert "userData" not in only(pool(), TEMPLATE).inputs
    assert only(pool(fast_image_pull=True), TEMPLATE).inputs["userData"]


def test_repositories_are_scanned_and_have_immutable_tags() -> None:
    repository = RepositoryArgs(
        keep=30, untagged_days=3, pull_request_days=14, mutable_tags=("cache-*",), force_delete=True
    )
    fixed = replace(repository, mutable_tags=(), force_delete=False)
    args = RegistryArgs(prefix="gpu-ci-small", repositories={"runner": repository, "tests": fixed}, protect=True)
    plan = made(lambda here: Registry("registry", args, here))
    found = {each.inputs["name"]: each for each in plan.of("aws:ecr/repository:Repository")}
    runner, tests = found["gpu-ci-small/runner"], found["gpu-ci-small/tests"]

    assert runner.inputs["imageTagMutability"] == "IMMUTABLE_WITH_EXCLUSION"
    assert runner.inputs["imageTagMutabilityExclusionFilters"] == [{"filter": "cache-*", "filterType": "WILDCARD"}]
    assert tests.inputs["imageTagMutability"] == "IMMUTABLE"
    # ECR refuses an exclusion without the mutability that has one.
    assert "imageTagMutabilityExclusionFilters" not in tests.inputs
    assert [each.inputs["forceDelete"] for each in (runner, tests)] == [True, False]
    assert all(each.inputs["imageScanningConfiguration"] == {"scanOnPush": True} for each in found.values())
    assert all(each.protect and each.delete_before_replace for each in found.values())
    assert names(plan, "aws:ecr/lifecyclePolicy:LifecyclePolicy") == ["registry-runner", "registry-tests"]
