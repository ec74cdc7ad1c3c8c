"""Tests of the checks of AWS: each fault of an account, a cluster and its node groups, with its exact finding."""

from __future__ import annotations

import copy
from typing import Any, Final

import pytest

from tests.doctor.chain import differences, made
from tests.doctor.healthy import (
    CLUSTER,
    EKS,
    IDENTITY,
    POOLS,
    ROLE,
    group,
    group_question,
    healthy,
    launches_question,
    quota_question,
    simulations,
    tags,
    tags_question,
)
from tests.doctor.worlds import Question, asked, silent

pytestmark = pytest.mark.pure

ARN: Final = "arn:aws:iam::999999999999:user/me"


def eks(**fields: Any) -> dict[Question, Any]:
    """Return the description of the cluster with other fields."""
    return {EKS: {"cluster": {**healthy()[EKS]["cluster"], **fields}}}


def changed(name: str = "t4-spot", **fields: Any) -> dict[Question, Any]:
    """Return the description of a node group with other fields."""
    return {group_question(name): {"nodegroup": {**group(name)["nodegroup"], **fields}}}


def sizes(least: int, most: int, desired: int) -> dict[str, int]:
    return {"minSize": least, "maxSize": most, "desiredSize": desired}


def issue(code: str, message: str) -> dict[str, Any]:
    return {"status": "DEGRADED", "health": {"issues": [{"code": code, "message": message, "resourceIds": ["x"]}]}}


def retagged(key: str, value: str | None) -> dict[Question, Any]:
    """Return the tags of a pool's group with one other value, or without it."""
    answer = copy.deepcopy(tags("t4-spot"))
    kept = [one for one in answer["AutoScalingGroups"][0]["Tags"] if one["Key"] != key]
    answer["AutoScalingGroups"][0]["Tags"] = kept if value is None else [*kept, {"Key": key, "Value": value}]
    return {tags_question("t4-spot"): answer}


def activity(message: str, status: str = "Failed", at: str = "11:30") -> dict[str, Any]:
    return {
        "Description": "Launching a new EC2 instance.",
        "StatusCode": status,
        "StatusMessage": message,
        "StartTime": f"2026-11-20T{at}:00+00:00",
    }


def launches(*activities: dict[str, Any]) -> dict[Question, Any]:
    return {launches_question("t4-spot"): {"Activities": list(activities)}}


def denied(*actions: str, who: str = ROLE) -> dict[Question, Any]:
    """Return simulations that deny some actions."""
    found = copy.deepcopy(simulations(who))
    for answer in found.values():
        for one in answer["EvaluationResults"]:
            if one["EvalActionName"] in actions:
                one["EvalDecision"] = "implicitDeny"
    return found


DEPLOY_ROLE: Final = asked("aws", "iam.get_role", RoleName=f"{CLUSTER}-deploy")
OWN_ROLE: Final = asked("aws", "iam.get_role", RoleName="gpu-ci-deploy")
DEFAULT_QUOTA: Final = asked(
    "aws",
    "service-quotas.get_aws_default_service_quota",
    ServiceCode="ec2",
    QuotaCode="L-DB2E81BA",
    region="us-west-2",
)

CASES: dict[str, tuple[str, dict[Question, Any], list[str]]] = {
    "another account": (
        "aws-account",
        {IDENTITY: {"Account": "999999999999", "Arn": ARN}},
        [
            "error | aws.account | the credentials are arn:aws:iam::999999999999:user/me, in account 999999999999 | the stack file states account 123456789012, so nothing of this stack is in reach | use credentials of account 123456789012: set AWS_PROFILE, or run `aws sso login`"
        ],
    ),
    "the role lacks actions": (
        "deployer-permissions",
        denied("eks:CreateCluster", "ec2:RunInstances"),
        [
            "error | aws.account | arn:aws:iam::123456789012:role/gpu-ci-deploy may not ec2:RunInstances, eks:CreateCluster | `pulumi up` stops at the first of them, unless the stack does not declare such a resource | run `make bootstrap`, which updates the role; a limit of the organisation or a boundary can deny, too"
        ],
    ),
    "the credentials lack actions": (
        "deployer-permissions",
        {DEPLOY_ROLE: None, OWN_ROLE: {"Role": {"Arn": ROLE}}, **denied("eks:CreateCluster")},
        [
            "warning | aws.account | arn:aws:iam::123456789012:role/gpu-ci-deploy may not eks:CreateCluster | `pulumi up` stops at the first of them, unless the stack does not declare such a resource | run `make bootstrap`, which updates the role; a limit of the organisation or a boundary can deny, too"
        ],
    ),
    "no permission to simulate": (
        "deployer-permissions",
        {DEPLOY_ROLE: silent("x", "AWS refuses iam.get_role")},
        [
            "warning | aws.account | could not ask, because AWS refuses iam.get_role | the permissions of deployments are not checked; running jobs do not need them | use credentials that may call iam:GetRole and iam:SimulatePrincipalPolicy"
        ],
    ),
    "a quota of zero": (
        "live-quota",
        {quota_question("L-3819A6DF"): {"Quota": {"Value": 0.0}}},
        [
            "error | quotas.L-3819A6DF | the account has 0 vCPUs of L-3819A6DF (All G and VT Spot Instance Requests) in us-west-2 | not one machine can start: a g4dn.2xlarge needs 8 | request it: aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 --quota-code L-3819A6DF --desired-value 40"
        ],
    ),
    "a quota for some machines": (
        "live-quota",
        {quota_question("L-3819A6DF"): {"Quota": {"Value": 8.0}}},
        [
            "warning | quotas.L-3819A6DF | the account has 8 vCPUs of L-3819A6DF (All G and VT Spot Instance Requests) in us-west-2 | the stack may use 40 at once, so the last machines do not start | request more: aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 --quota-code L-3819A6DF --desired-value 40",
            "warning | quotas.L-3819A6DF | the stack file states 64, and the account has 8 | `make plan` checks against the number in the stack file | state 8 as quotas.L-3819A6DF",
        ],
    ),
    "another quota than stated": (
        "live-quota",
        {quota_question("L-DB2E81BA"): {"Quota": {"Value": 96.0}}},
        [
            "warning | quotas.L-DB2E81BA | the stack file states 16, and the account has 96 | `make plan` checks against the number in the stack file | state 96 as quotas.L-DB2E81BA"
        ],
    ),
    "a quota that was never raised": (
        "live-quota",
        {quota_question("L-DB2E81BA"): None, DEFAULT_QUOTA: {"Quota": {"Value": 0.0}}},
        [
            "error | quotas.L-DB2E81BA | the account has 0 vCPUs of L-DB2E81BA (Running On-Demand G and VT instances) in us-west-2 | not one machine can start: a g4dn.xlarge needs 4 | request it: aws service-quotas request-service-quota-increase --region us-west-2 --service-code ec2 --quota-code L-DB2E81BA --desired-value 8"
        ],
    ),
    "no cluster": (
        "eks-cluster",
        {EKS: None},
        [
            "error | gpu-ci-staging | EKS has no cluster gpu-ci-staging in this account and region | the stack was never deployed, was destroyed, or is in another region | run `pulumi up --stack staging`"
        ],
    ),
    "a cluster that is updated": (
        "eks-cluster",
        eks(status="UPDATING"),
        [
            "warning | gpu-ci-staging | the status of the cluster is UPDATING | an update runs; it ends within an hour, and the API may be slow | wait until the update ends, and run the doctor again"
        ],
    ),
    "a cluster that failed": (
        "eks-cluster",
        eks(status="FAILED"),
        [
            "error | gpu-ci-staging | the status of the cluster is FAILED | EKS serves the API only for a cluster that is ACTIVE or UPDATING | wait if it is CREATING; otherwise read the reason in the EKS console"
        ],
    ),
    "a health issue of the cluster": (
        "eks-cluster",
        eks(health={"issues": [{"code": "SubnetNotFound", "message": "no subnet", "resourceIds": ["subnet-1"]}]}),
        [
            "error | gpu-ci-staging | EKS reports SubnetNotFound: no subnet | EKS cannot maintain the cluster until the resource that it names is restored | restore subnet-1; `pulumi up --refresh` shows it"
        ],
    ),
    "another version": (
        "eks-cluster",
        eks(version="1.34"),
        [
            "warning | cluster.version | the cluster has Kubernetes 1.34, and the stack file states 1.35 | nodes, add-ons and the autoscaler are pinned to the version of the stack file | run `pulumi up`, or state the version that the cluster has"
        ],
    ),
    "another range": (
        "eks-cluster",
        eks(resourcesVpcConfig={"endpointPublicAccess": False, "publicAccessCidrs": ["0.0.0.0/0"]}),
        [
            "warning | cluster.endpoint.public | the public endpoint accepts no address, and the stack file states 203.0.113.0/24 | other addresses outside the network get no answer from the API of Kubernetes | run `pulumi up`, or state the ranges that the cluster has"
        ],
    ),
    "a pool without a node group": (
        "node-groups",
        {asked("aws", "eks.list_nodegroups", clusterName=CLUSTER): {"nodegroups": ["system-1", "t4-spot-1"]}},
        [
            "error | gpu-pools.t4-on-demand | EKS has no node group for it | jobs that need it wait until GitHub gives them up | run `pulumi up`"
        ],
    ),
    "launches fail": (
        "node-groups",
        changed(**issue("AsgInstanceLaunchFailures", "no capacity")),
        [
            "error | gpu-pools.t4-spot | EKS reports AsgInstanceLaunchFailures: no capacity | t4-spot-1 cannot get nodes until this is repaired | read the check node-launches: it has the reason of EC2"
        ],
    ),
    "an unknown issue": (
        "node-groups",
        changed(**issue("Other", "words")),
        [
            "error | gpu-pools.t4-spot | EKS reports Other: words | t4-spot-1 cannot get nodes until this is repaired | repair the resource that the message names, and run `pulumi up --refresh`"
        ],
    ),
    "degraded without an issue": (
        "node-groups",
        changed(status="DEGRADED"),
        [
            "error | gpu-pools.t4-spot | the status of t4-spot-1 is DEGRADED | EKS cannot start or replace nodes of this group | read `aws eks describe-nodegroup --cluster-name gpu-ci-staging --nodegroup-name t4-spot-1`"
        ],
    ),
    "a group that is updated": (
        "node-groups",
        changed(status="UPDATING"),
        [
            "warning | gpu-pools.t4-spot | the status of t4-spot-1 is UPDATING | EKS changes the nodes; a node that is replaced is drained first | wait until the status is ACTIVE, and run the doctor again"
        ],
    ),
    "other limits": (
        "node-groups",
        changed(scalingConfig=sizes(1, 9, 1)),
        [
            "warning | gpu-pools.t4-spot.min | t4-spot-1 has 1, and the stack file states 0 | the node group was changed outside of Pulumi, or the stack file after the last update | run `pulumi up --refresh`",
            "warning | gpu-pools.t4-spot.max | t4-spot-1 has 9, and the stack file states 5 | the node group was changed outside of Pulumi, or the stack file after the last update | run `pulumi up --refresh`",
        ],
    ),
    "another capacity type": (
        "node-groups",
        changed(capacityType="ON_DEMAND"),
        [
            "warning | gpu-pools.t4-spot.capacity | t4-spot-1 has ON_DEMAND, and the stack file states SPOT | the node group was changed outside of Pulumi, or the stack file after the last update | run `pulumi up --refresh`"
        ],
    ),
    "the largest number of nodes": (
        "node-groups",
        changed(scalingConfig=sizes(0, 5, 5)),
        [
            "warning | gpu-pools.t4-spot.max | t4-spot-1 has its 5 nodes, the largest number | further jobs for this pool wait until a node is free | raise gpu-pools.t4-spot.max, or wait"
        ],
    ),
    "no discovery tag": (
        "asg-tags",
        retagged("k8s.io/cluster-autoscaler/enabled", None),
        [
            "error | gpu-pools.t4-spot | eks-t4-spot-1 lacks the tag k8s.io/cluster-autoscaler/enabled | the autoscaler does not find this group, so the pool stays at its number of nodes | set the tags again: EKS sets them only when it creates the group; or recreate the pool"
        ],
    ),
    "no tag": (
        "asg-tags",
        retagged("k8s.io/cluster-autoscaler/node-template/label/role", None),
        [
            "error | gpu-pools.t4-spot | eks-t4-spot-1 has no tag k8s.io/cluster-autoscaler/node-template/label/role | the autoscaler assumes other nodes than the pool has, and does not start one for a waiting job | run `pulumi up --refresh`, which sets the tags of the stack file"
        ],
    ),
    "a wrong tag": (
        "asg-tags",
        retagged("k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu", "true:NO_SCHEDULE"),
        [
            "error | gpu-pools.t4-spot | eks-t4-spot-1 has true:NO_SCHEDULE instead of true:NoSchedule as k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu | the autoscaler assumes other nodes than the pool has, and does not start one for a waiting job | run `pulumi up --refresh`, which sets the tags of the stack file"
        ],
    ),
    "no capacity": (
        "node-launches",
        launches(activity("Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity.")),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity. | AWS has no free machine of these types in these zones at this time | add instance types or zones to the pool, or a fallback pool with capacity: on-demand"
        ],
    ),
    "no capacity, and then some": (
        "node-launches",
        launches(
            activity("We currently do not have sufficient g4dn.xlarge capacity. InsufficientInstanceCapacity"),
            activity("", "Successful", "11:40"),
        ),
        [
            "warning | gpu-pools.t4-spot | 2026-11-20 11:30: We currently do not have sufficient g4dn.xlarge capacity. InsufficientInstanceCapacity | AWS has no free machine of these types in these zones at this time; a later start succeeded | add instance types or zones to the pool, or a fallback pool with capacity: on-demand"
        ],
    ),
    "no quota": (
        "node-launches",
        launches(activity("You have requested more vCPU capacity than your current limit. VcpuLimitExceeded")),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: You have requested more vCPU capacity than your current limit. VcpuLimitExceeded | the quota of the account is used up | request a larger quota; the check live-quota names it"
        ],
    ),
    "no spot role": (
        "node-launches",
        launches(
            activity("AuthFailure.ServiceLinkedRoleCreationNotPermitted - The credentials do not have permission")
        ),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: AuthFailure.ServiceLinkedRoleCreationNotPermitted - The credentials do not have permission | the account has never used spot, and its service-linked role does not exist | run `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`"
        ],
    ),
    "a key of another account": (
        "node-launches",
        launches(activity("Client.InternalError: Client error on launch")),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: Client.InternalError: Client error on launch | the disk cannot be encrypted: Auto Scaling may not use the key | give AWSServiceRoleForAutoScaling access to the key of EBS encryption"
        ],
    ),
    "no image": (
        "node-launches",
        launches(activity("The image id '[ami-1]' does not exist. InvalidAMIID.NotFound")),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: The image id '[ami-1]' does not exist. InvalidAMIID.NotFound | the machine image does not exist, or is not shared with this account | run `pulumi up`; an own image must be built before the pool uses it"
        ],
    ),
    "another reason": (
        "node-launches",
        launches(activity("Something else")),
        [
            "error | gpu-pools.t4-spot | 2026-11-20 11:30: Something else | EC2 refused to start the machine | repair what the message names, and run the job again"
        ],
    ),
}


def test_each_fault_has_its_exact_finding() -> None:
    assert differences(CASES) == {}


def test_an_old_failure_is_not_reported() -> None:
    old = {**activity("InsufficientInstanceCapacity"), "StartTime": "2026-11-18T11:30:00+00:00"}

    assert made("node-launches", {**healthy(), **launches(old)}) == []


def test_every_pool_is_queried() -> None:
    answers = healthy()
    for name in POOLS:
        answers[group_question(name)] = {"nodegroup": {**group(name)["nodegroup"], "status": "CREATING"}}

    assert {line.split(" | ")[1] for line in made("node-groups", answers)} == {f"gpu-pools.{name}" for name in POOLS}
