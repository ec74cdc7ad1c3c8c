"""The answers of a healthy cluster of `tests/stacks/staging.yaml`: one GPU node with one running job."""

from __future__ import annotations

import json
from typing import Any, Final

from bootstrap.grants import Place
from bootstrap.permissions_aws import deploy_policies
from components.aws.nodes.gpu_node import node_labels, node_taints
from gpu_ci.derived import kubernetes
from gpu_ci.derived.kubernetes import gpu_node
from gpu_ci.knowledge import pins
from ops.doctor.chain.account import _simulation
from ops.doctor.chain.gpu_pools import STATUS, UPDATED
from tests.doctor.worlds import Question, asked, world

STACK: Final = "tests/stacks/staging.yaml"
CLUSTER: Final = "gpu-ci-staging"
CREATED: Final = "2026-11-20T11:00:00Z"
SETTINGS: Final = world(STACK, {}).settings
ROLE: Final = "arn:aws:iam::123456789012:role/gpu-ci-deploy"
QUOTAS: Final = {"L-1216C47A": 64.0, "L-3819A6DF": 64.0, "L-DB2E81BA": 16.0}
POOLS: Final = ("t4-spot", "t4-on-demand")
NODE: Final = "ip-10-0-1-2.us-west-2.compute.internal"
SYSTEM_NODE: Final = "ip-10-0-9-9.us-west-2.compute.internal"
PLUGIN: Final = "nvidia-device-plugin-x1"
RUNNER: Final = "gpu-t4-abcde-runner-fghij"

ARC: Final = "/apis/actions.github.com/v1alpha1/namespaces"
NODES: Final = asked("cluster", "/api/v1/nodes")
DAEMONSETS: Final = asked(
    "cluster",
    "/apis/apps/v1/namespaces/kube-system/daemonsets",
    labelSelector="app.kubernetes.io/name=nvidia-device-plugin",
)
PLUGIN_PODS: Final = asked(
    "cluster", "/api/v1/namespaces/kube-system/pods", labelSelector="app.kubernetes.io/name=nvidia-device-plugin"
)
AUTOSCALER: Final = asked("cluster", "/apis/apps/v1/namespaces/kube-system/deployments/cluster-autoscaler")
AUTOSCALER_PODS: Final = asked(
    "cluster", "/api/v1/namespaces/kube-system/pods", labelSelector="app.kubernetes.io/name=aws-cluster-autoscaler"
)
AUTOSCALER_STATUS: Final = asked("cluster", f"/api/v1/namespaces/kube-system/configmaps/{STATUS}")
CONTROLLERS: Final = "app.kubernetes.io/part-of=gha-rs-controller"
CONTROLLER: Final = asked("cluster", "/apis/apps/v1/namespaces/arc-systems/deployments", labelSelector=CONTROLLERS)
CONTROLLER_PODS: Final = asked("cluster", "/api/v1/namespaces/arc-systems/pods", labelSelector=CONTROLLERS)
SYSTEM_PODS: Final = asked("cluster", "/api/v1/namespaces/arc-systems/pods")
SECRET: Final = asked("cluster", "/api/v1/namespaces/arc-runners/secrets/github-app")
SCALE_SETS: Final = asked("cluster", f"{ARC}/arc-runners/autoscalingrunnersets")
RUNNER_SETS: Final = asked("cluster", f"{ARC}/arc-runners/ephemeralrunnersets")
RUNNERS: Final = asked("cluster", f"{ARC}/arc-runners/ephemeralrunners")
LISTENERS: Final = asked("cluster", f"{ARC}/arc-systems/autoscalinglisteners")
RUNNER_PODS: Final = asked("cluster", "/api/v1/namespaces/arc-runners/pods")
JOB_PODS: Final = asked("cluster", "/api/v1/namespaces/arc-jobs/pods")
EVENTS: Final = asked("cluster", "/api/v1/namespaces/arc-runners/events")
IDENTITY: Final = asked("aws", "sts.get_caller_identity")
EKS: Final = asked("aws", "eks.describe_cluster", name=CLUSTER)


def group_question(name: str) -> Question:
    return asked("aws", "eks.describe_nodegroup", clusterName=CLUSTER, nodegroupName=f"{name}-1")


def tags_question(name: str) -> Question:
    return asked("aws", "autoscaling.describe_auto_scaling_groups", AutoScalingGroupNames=[f"eks-{name}-1"])


def launches_question(name: str) -> Question:
    return asked(
        "aws",
        "autoscaling.describe_scaling_activities",
        AutoScalingGroupName=f"eks-{name}-1",
        PaginationConfig={"MaxItems": 50},
    )


def quota_question(code: str) -> Question:
    return asked("aws", "service-quotas.get_service_quota", ServiceCode="ec2", QuotaCode=code, region="us-west-2")


def log_question(namespace: str, pod: str, container: str) -> Question:
    return asked("cluster", f"/api/v1/namespaces/{namespace}/pods/{pod}/log", container=container, tailLines="200")


def items(*found: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "List", "items": list(found)}


def group(name: str) -> dict[str, Any]:
    """Return a node group as EKS describes it."""
    facts = next(one for one in _declared() if one.name == name)
    labels = {"role": "system"} if name == "system" else dict(facts.labels)
    return {
        "nodegroup": {
            "nodegroupName": f"{name}-1",
            "clusterName": CLUSTER,
            "status": "ACTIVE",
            "capacityType": facts.capacity_type,
            "scalingConfig": {"minSize": facts.min_size, "maxSize": facts.max_size, "desiredSize": facts.min_size},
            "instanceTypes": list(facts.instance_types),
            "labels": labels,
            "resources": {"autoScalingGroups": [{"name": f"eks-{name}-1"}]},
            "health": {"issues": []},
        }
    }


def _declared() -> list[Any]:
    stack = world(STACK, {}).stack
    return [kubernetes.system_nodes(stack), *kubernetes.node_groups(stack)]


def tags(name: str) -> dict[str, Any]:
    """Return an auto-scaling group with its tags."""
    facts = next(one for one in _declared() if one.name == name)
    found = {
        **facts.asg_tags,
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{CLUSTER}": "owned",
    }
    return {
        "AutoScalingGroups": [
            {
                "AutoScalingGroupName": f"eks-{name}-1",
                "Tags": [{"Key": key, "Value": value} for key, value in found.items()],
            }
        ]
    }


def node(pool: str = "t4-spot", kind: str = "g4dn.xlarge", gpus: int = 1) -> dict[str, Any]:
    """Return a ready node of a pool."""
    marks = gpu_node(pool, SETTINGS.gpu_pools[pool], SETTINGS.machines)
    taints = [
        {"key": key, "value": taint.rpartition(":")[0], "effect": taint.rpartition(":")[2]}
        for key, taint in node_taints(marks).items()
    ]
    return {
        "metadata": {
            "name": NODE,
            "creationTimestamp": CREATED,
            "labels": {**node_labels(marks), "node.kubernetes.io/instance-type": kind},
        },
        "spec": {"taints": taints},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "capacity": {"nvidia.com/gpu": str(gpus)},
            "allocatable": {"nvidia.com/gpu": str(gpus)},
        },
    }


def system_node() -> dict[str, Any]:
    return {
        "metadata": {"name": SYSTEM_NODE, "creationTimestamp": CREATED, "labels": {"role": "system"}},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name: str, container: str, namespace: str = "arc-runners", **state: Any) -> dict[str, Any]:
    """Return a pod with one container, which runs unless another state is given."""
    return {
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": CREATED},
        "spec": {"nodeName": NODE},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"name": container, "state": state or {"running": {"startedAt": CREATED}}}],
        },
    }


def running(gpus: str = "1", node: str = NODE) -> dict[str, Any]:
    """Return the pod of a runner with its limits."""
    one = pod(RUNNER, "runner")
    one["metadata"]["labels"] = {"gpu-ci/runner": "gpu-t4"}
    limits = {"nvidia.com/gpu": gpus} if gpus else {}
    one["spec"] |= {"nodeName": node, "containers": [{"name": "runner", "resources": {"limits": limits}}]}
    return one


def daemonset(desired: int = 1, ready: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"name": "nvidia-device-plugin"},
        "status": {"desiredNumberScheduled": desired, "numberReady": ready},
    }


def autoscaler_status(*backoff: str, without: str = "", updated: str = "2026-11-20 11:59:50") -> dict[str, Any]:
    """Return the status of the autoscaler; the pools of `backoff` do not scale up."""
    groups = []
    for name in POOLS:
        if name == without:
            continue
        failed = name in backoff
        groups.append(
            f"- name: eks-{name}-1\n  health: {{status: Healthy}}\n  scaleUp:\n"
            + (
                "    status: Backoff\n    backoffInfo:\n      errorCode: OutOfResources\n"
                "      errorMessage: We currently do not have sufficient g4dn.xlarge capacity\n"
                if failed
                else "    status: NoActivity\n"
            )
        )
    text = "autoscalerStatus: Running\nnodeGroups:\n" + "".join(groups)
    return {
        "kind": "ConfigMap",
        "metadata": {"name": STATUS, "annotations": {UPDATED: f"{updated}.123 +0000 UTC"}},
        "data": {"status": text},
    }


def scale_set(name: str, id_: str = "7", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "annotations": {"runner-scale-set-id": id_},
            "labels": {"app.kubernetes.io/version": pins.ARC_CHARTS},
        },
        "status": {"currentRunners": 1, **status},
    }


def runner(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": RUNNER, "labels": {"actions.github.com/scale-set-name": "gpu-t4"}},
        "status": {"phase": "Running", **status},
    }


def listener(name: str, set_: str = "") -> dict[str, Any]:
    return {
        "metadata": {"name": f"{name}-listener"},
        "spec": {
            "autoscalingRunnerSetName": name,
            "ephemeralRunnerSetName": set_ or f"{name}-abcde",
            "runnerScaleSetId": 7,
        },
    }


def deployment(ready: int = 1, replicas: int = 1, version: str = pins.ARC_CHARTS) -> dict[str, Any]:
    return {
        "metadata": {"name": "one", "labels": {"app.kubernetes.io/version": version}},
        "spec": {"replicas": replicas},
        "status": {"readyReplicas": ready},
    }


def simulations(who: str) -> dict[Question, Any]:
    """Return a simulation for every statement, in which everything is allowed."""
    identity = world(STACK, {}).stack.identity
    place = Place(account="123456789012", region="us-west-2", prefix=CLUSTER, tags=identity.tags)
    found: dict[Question, Any] = {}
    for text in deploy_policies(place).values():
        for statement in json.loads(text)["Statement"]:
            asks = _simulation(who, statement)
            results = [{"EvalActionName": one, "EvalDecision": "allowed"} for one in asks["ActionNames"]]
            found[asked("aws", "iam.simulate_principal_policy", **asks)] = {"EvaluationResults": results}
    return found


def healthy() -> dict[Question, Any]:
    """Return all answers of the healthy cluster."""
    names = ("gpu-t4", "gpu-t4-steady")
    arn = "arn:aws:sts::123456789012:assumed-role/gpu-ci-deploy/me"
    answers: dict[Question, Any] = {
        IDENTITY: {"Account": "123456789012", "Arn": arn},
        asked("aws", "iam.get_role", RoleName=f"{CLUSTER}-deploy"): {"Role": {"Arn": ROLE}},
        **simulations(ROLE),
        **{quota_question(code): {"Quota": {"Value": value}} for code, value in QUOTAS.items()},
        EKS: {
            "cluster": {
                "name": CLUSTER,
                "status": "ACTIVE",
                "version": "1.35",
                "health": {"issues": []},
                "resourcesVpcConfig": {"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]},
            }
        },
        asked("aws", "eks.list_nodegroups", clusterName=CLUSTER): {
            "nodegroups": [f"{name}-1" for name in ("system", *POOLS)]
        },
    }
    for name in ("system", *POOLS):
        answers[group_question(name)] = group(name)
        answers[tags_question(name)] = tags(name)
        answers[launches_question(name)] = {"Activities": []}
    return answers | {
        asked("cluster", "/version"): {"major": "1", "minor": "35", "gitVersion": "v1.35.6-eks-1"},
        NODES: items(node(), system_node()),
        DAEMONSETS: items(daemonset()),
        PLUGIN_PODS: items(pod(PLUGIN, "nvidia-device-plugin-ctr", "kube-system")),
        log_question("kube-system", PLUGIN, "nvidia-device-plugin-ctr"): "Registered device plugin with Kubelet",
        AUTOSCALER: deployment(),
        AUTOSCALER_PODS: items(pod("autoscaler-1", "aws-cluster-autoscaler", "kube-system")),
        log_question("kube-system", "autoscaler-1", "aws-cluster-autoscaler"): "No unschedulable pods",
        AUTOSCALER_STATUS: autoscaler_status(),
        CONTROLLER: items(deployment()),
        CONTROLLER_PODS: items(pod("arc-1", "manager", "arc-systems")),
        log_question("arc-systems", "arc-1", "manager"): '{"level":"info","msg":"Reconciled"}',
        SECRET: {
            "kind": "Secret",
            "data": {
                "github_app_id": {"bytes": 6, "pem": False},
                "github_app_installation_id": {"bytes": 8, "pem": False},
                "github_app_private_key": {"bytes": 1675, "pem": True},
            },
        },
        SCALE_SETS: items(*(scale_set(name) for name in names)),
        RUNNER_SETS: items(*({"metadata": {"name": f"{name}-abcde"}} for name in names)),
        RUNNERS: items(runner()),
        LISTENERS: items(*(listener(name) for name in names)),
        SYSTEM_PODS: items(*(pod(f"{name}-listener", "listener", "arc-systems") for name in names)),
        **{log_question("arc-systems", f"{name}-listener", "listener"): "Getting next message" for name in names},
        RUNNER_PODS: items(running()),
        JOB_PODS: items(),
        log_question("arc-runners", RUNNER, "runner"): "Running job: gpu",
        EVENTS: items(),
    }
