"""Tests of the checks of nodes, the device plugin and the autoscaler: each fault with its exact finding.

The cases of the device plugin are those of the troubleshooting guides that people follow: no GPU nodes, a missing
label, no access to the folder of device plugins, a driver that does not run.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.doctor.chain import differences, made
from tests.doctor.healthy import (
    AUTOSCALER,
    AUTOSCALER_PODS,
    AUTOSCALER_STATUS,
    DAEMONSETS,
    NODES,
    PLUGIN,
    PLUGIN_PODS,
    autoscaler_status,
    daemonset,
    deployment,
    healthy,
    items,
    log_question,
    node,
    pod,
    system_node,
)
from tests.doctor.worlds import Question, asked

pytestmark = pytest.mark.pure


def nodes(**fields: Any) -> dict[Question, Any]:
    """Return the nodes; the GPU node has other fields of its status."""
    one = node()
    one["status"] = {**one["status"], **fields}
    return {NODES: items(one, system_node())}


def unready(status: str, created: str = "2026-11-20T11:00:00Z") -> dict[Question, Any]:
    one = node()
    one["metadata"]["creationTimestamp"] = created
    condition = {
        "type": "Ready",
        "status": status,
        "reason": "KubeletNotReady",
        "message": "cni plugin not initialized",
    }
    one["status"]["conditions"] = [condition]
    return {NODES: items(one, system_node())}


def cordoned() -> dict[Question, Any]:
    one = node()
    one["spec"]["unschedulable"] = True
    return {NODES: items(one, system_node())}


def relabelled(key: str, value: str | None) -> dict[Question, Any]:
    one = node()
    del one["metadata"]["labels"][key]
    if value is not None:
        one["metadata"]["labels"][key] = value
    return {NODES: items(one, system_node())}


def tainted(*taints: dict[str, str]) -> dict[Question, Any]:
    one = node()
    one["spec"]["taints"] = list(taints)
    return {NODES: items(one, system_node())}


def without_label() -> dict[Question, Any]:
    return {**relabelled("nvidia.com/gpu.present", None), DAEMONSETS: items(daemonset(0, 0))}


def plugin(log: str) -> dict[Question, Any]:
    return {log_question("kube-system", PLUGIN, "nvidia-device-plugin-ctr"): f"I1120 Starting\n{log}\n"}


def plugin_waits(reason: str, message: str) -> dict[Question, Any]:
    waits = pod(PLUGIN, "nvidia-device-plugin-ctr", "kube-system", waiting={"reason": reason, "message": message})
    return {DAEMONSETS: items(daemonset(1, 0)), PLUGIN_PODS: items(waits)}


def gpus(allocatable: int, capacity: int, created: str = "2026-11-20T11:00:00Z") -> dict[Question, Any]:
    one = node()
    one["metadata"]["creationTimestamp"] = created
    one["status"] |= {
        "allocatable": {"nvidia.com/gpu": str(allocatable)},
        "capacity": {"nvidia.com/gpu": str(capacity)},
    }
    return {NODES: items(one, system_node())}


def logged(line: str) -> dict[Question, Any]:
    return {log_question("kube-system", "autoscaler-1", "aws-cluster-autoscaler"): line}


GPU_TAINT: Final = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
CRASHES: Final = pod(
    "autoscaler-1",
    "aws-cluster-autoscaler",
    "kube-system",
    waiting={"reason": "CrashLoopBackOff", "message": "back-off 5m0s"},
)

CASES: dict[str, tuple[str, dict[Question, Any], list[str]]] = {
    "a proxy answers": (
        "kubernetes-api",
        {asked("cluster", "/version"): None},
        [
            "error | gpu-ci-staging | the address of the cluster answers, but has no API of Kubernetes | a proxy answers in place of the cluster | run it from a network without the proxy, or set NO_PROXY"
        ],
    ),
    "an API of another version": (
        "kubernetes-api",
        {asked("cluster", "/version"): {"major": "1", "minor": "34+", "gitVersion": "v1.34.1"}},
        [
            "warning | cluster.version | the API has version 1.34, and the stack file states 1.35 | the autoscaler and the nodes are of the version of the stack file | run `pulumi up`"
        ],
    ),
    "no system node": (
        "nodes",
        {NODES: items(node())},
        [
            "error | system-nodes | none of the 1 nodes is a system node | DNS, the autoscaler and the controllers of runners have no node to run on | read the checks node-groups and node-launches, and raise system-nodes.min if it was lowered"
        ],
    ),
    "a node without a network": (
        "nodes",
        unready("False"),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it is not ready: KubeletNotReady: cni plugin not initialized | no pod starts on it | if the message names the network plugin, restart its pod aws-node; otherwise end the instance"
        ],
    ),
    "a node that does not report": (
        "nodes",
        unready("Unknown"),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it is not ready: KubeletNotReady: cni plugin not initialized | its kubelet does not report: the machine has stopped, hangs, or lost its network | end its instance in EC2; the pool gets another node if a pod waits"
        ],
    ),
    "a node that starts": (
        "nodes",
        unready("False", "2026-11-20T11:58:00Z"),
        [
            "warning | node ip-10-0-1-2.us-west-2.compute.internal | it is not ready: KubeletNotReady: cni plugin not initialized | it started just now | wait, and run the doctor again"
        ],
    ),
    "a full disk": (
        "nodes",
        nodes(conditions=[{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"}]),
        [
            "warning | node ip-10-0-1-2.us-west-2.compute.internal | it reports DiskPressure | the disk of the node is nearly full, and pods are evicted | raise disk.size of the pool"
        ],
    ),
    "a cordoned node": (
        "nodes",
        cordoned(),
        [
            "warning | node ip-10-0-1-2.us-west-2.compute.internal | it is cordoned | no new pod starts on it: it is drained by EKS or the autoscaler, or a person cordoned it | if no update runs: `kubectl uncordon ip-10-0-1-2.us-west-2.compute.internal`"
        ],
    ),
    "a missing label": (
        "node-marks",
        relabelled("nvidia.com/gpu", None),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | the label nvidia.com/gpu=true is missing | gpu-pools.t4-spot has it: without it runners or the device plugin do not select the node | `kubectl label node ip-10-0-1-2.us-west-2.compute.internal --overwrite KEY=VALUE`, and `pulumi up --refresh`"
        ],
    ),
    "a wrong label": (
        "node-marks",
        relabelled("role", "system"),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | the label role is system instead of gpu | gpu-pools.t4-spot has it: without it runners or the device plugin do not select the node | `kubectl label node ip-10-0-1-2.us-west-2.compute.internal --overwrite KEY=VALUE`, and `pulumi up --refresh`"
        ],
    ),
    "a GPU node of no pool": (
        "node-marks",
        relabelled("gpu-ci/pool", None),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it is a g4dn.xlarge without the label gpu-ci/pool of a pool | neither runners nor the device plugin select this node | if it belongs to t4-spot, end the instance: a new node gets the labels"
        ],
    ),
    "a missing taint": (
        "node-marks",
        tainted(),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | the taint nvidia.com/gpu=true:NoSchedule is missing | gpu-pools.t4-spot has it: without it other pods start on the node, and see every GPU that it has | run `pulumi up --refresh`, which sets the taints of the node group"
        ],
    ),
    "an additional taint": (
        "node-marks",
        tainted(GPU_TAINT, {"key": "team", "value": "a", "effect": "NoSchedule"}),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it has the taint team=a:NoSchedule, which the stack file does not state | runners and the device plugin do not tolerate it, so they do not start on the node | state it in gpu-pools.t4-spot.taints, or remove it: `kubectl taint node ip-10-0-1-2.us-west-2.compute.internal KEY-`"
        ],
    ),
    "no device plugin": (
        "device-plugin",
        {DAEMONSETS: items()},
        [
            "error | device-plugin | kube-system has no DaemonSet of the device plugin | no node offers nvidia.com/gpu, so every GPU job waits | run `pulumi up`; if the release exists but has no objects, `pulumi up --refresh`"
        ],
    ),
    "the plugin selects no node, because a label is missing": (
        "device-plugin",
        without_label(),
        [
            "error | device-plugin | nvidia-device-plugin selects 0 of 1 GPU nodes | ip-10-0-1-2.us-west-2.compute.internal has no label nvidia.com/gpu.present=true | `kubectl label node ip-10-0-1-2.us-west-2.compute.internal nvidia.com/gpu.present=true`, and `pulumi up` for new nodes"
        ],
    ),
    "the plugin selects no node, because of a taint": (
        "device-plugin",
        {DAEMONSETS: items(daemonset(0, 0))},
        [
            "error | device-plugin | nvidia-device-plugin selects 0 of 1 GPU nodes | the nodes have the label, so a taint keeps the plugin away | compare `kubectl describe node` with gpu-pools.NAME.taints: the plugin tolerates only stated taints"
        ],
    ),
    "0/1 ready": (
        "device-plugin",
        {DAEMONSETS: items(daemonset(1, 0))},
        [
            "error | device-plugin | 0/1 ready | nodes without a ready plugin offer no GPU | read the events in `kubectl --namespace kube-system describe pods --selector app.kubernetes.io/name=nvidia-device-plugin`; delete the pod to retry"
        ],
    ),
    "the plugin crashes": (
        "device-plugin",
        plugin_waits("CrashLoopBackOff", "back-off 5m0s restarting"),
        [
            "error | device-plugin | 0/1 ready, CrashLoopBackOff: back-off 5m0s restarting | nodes without a ready plugin offer no GPU | read the check device-plugin-log"
        ],
    ),
    "the plugin is not pulled": (
        "device-plugin",
        plugin_waits("ImagePullBackOff", "not found"),
        [
            "error | device-plugin | 0/1 ready, ImagePullBackOff: not found | nodes without a ready plugin offer no GPU | read the events in `kubectl --namespace kube-system describe pods --selector app.kubernetes.io/name=nvidia-device-plugin`; delete the pod to retry"
        ],
    ),
    "no access to the folder of device plugins": (
        "device-plugin-log",
        plugin("listen unix /var/lib/kubelet/device-plugins/nvidia-gpu.sock: bind: permission denied"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | listen unix /var/lib/kubelet/device-plugins/nvidia-gpu.sock: bind: permission denied | the plugin has no access to /var/lib/kubelet/device-plugins, where it registers at the kubelet | its DaemonSet needs this host path: remove the policy that forbids it, and run `pulumi up --refresh`"
        ],
    ),
    "the driver does not run": (
        "device-plugin-log",
        plugin("error: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | error: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND | the node has no working NVIDIA driver or container runtime, for example because its image has none | state image: stock for the pool, or an own image that passed its tests, and end the instance"
        ],
    ),
    "no runtime of NVIDIA": (
        "device-plugin-log",
        plugin("E factory.go:112] Incompatible strategy detected auto"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | E factory.go:112] Incompatible strategy detected auto | the node has no working NVIDIA driver or container runtime, for example because its image has none | state image: stock for the pool, or an own image that passed its tests, and end the instance"
        ],
    ),
    "another driver than library": (
        "device-plugin-log",
        plugin("Failed to initialize NVML: Driver/library version mismatch"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | Failed to initialize NVML: Driver/library version mismatch | the driver was updated while the node runs, so its module and its library differ | end the instance: a new node has one driver"
        ],
    ),
    "no access to the device": (
        "device-plugin-log",
        plugin("nvml error: insufficient permissions"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | nvml error: insufficient permissions | the plugin may not open /dev/nvidia*, which happens after a reload of systemd on the node | delete the pod of the plugin; if it returns, end the instance"
        ],
    ),
    "no devices": (
        "device-plugin-log",
        plugin("I main.go:381] No devices found. Waiting indefinitely."),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | I main.go:381] No devices found. Waiting indefinitely. | the plugin runs and finds no GPU: the driver was not ready at its start, or the machine has no GPU | delete the pod of the plugin; if it returns, end the instance"
        ],
    ),
    "a fault of the GPU": (
        "device-plugin-log",
        plugin("XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy."),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy. | the GPU reported an error (Xid), and the plugin no longer offers it | drain the node and end the instance; 48, 79, 94 and 95 are faults of the hardware"
        ],
    ),
    "the kubelet does not answer": (
        "device-plugin-log",
        plugin("Could not register device plugin: context deadline exceeded"),
        [
            "error | pod nvidia-device-plugin-x1 on ip-10-0-1-2.us-west-2.compute.internal | Could not register device plugin: context deadline exceeded | the plugin cannot talk to the kubelet of the node | delete the pod of the plugin; if it returns, end the instance"
        ],
    ),
    "no GPU is offered": (
        "allocatable-gpu",
        gpus(0, 0),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it offers 0 of 1 nvidia.com/gpu | the device plugin has not registered the GPU at the kubelet of the node | read the checks device-plugin and device-plugin-log; delete its pod on this node to retry"
        ],
    ),
    "no GPU yet": (
        "allocatable-gpu",
        gpus(0, 0, "2026-11-20T11:58:00Z"),
        [
            "warning | node ip-10-0-1-2.us-west-2.compute.internal | it offers 0 of 1 nvidia.com/gpu | the node started just now | wait, and run it again"
        ],
    ),
    "a GPU is unhealthy": (
        "allocatable-gpu",
        gpus(0, 1),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it offers 0 of 1 nvidia.com/gpu, and the plugin knows 1 | the plugin marked a GPU as unhealthy after an error of the hardware or the driver (Xid) | `kubectl drain ip-10-0-1-2.us-west-2.compute.internal --ignore-daemonsets`, and end the instance"
        ],
    ),
    "other shares": (
        "allocatable-gpu",
        gpus(4, 4),
        [
            "error | node ip-10-0-1-2.us-west-2.compute.internal | it offers 4 of 1 nvidia.com/gpu | the machine lost a GPU, or the plugin has another configuration for sharing than the stack file | compare the label nvidia.com/device-plugin.config with gpu-pools.NAME.sharing; otherwise end the instance"
        ],
    ),
    "no autoscaler": (
        "autoscaler",
        {AUTOSCALER: None},
        [
            "error | autoscaler | kube-system has no deployment cluster-autoscaler | no pool gets a node from zero | run `pulumi up --refresh`"
        ],
    ),
    "a stopped autoscaler": (
        "autoscaler",
        {AUTOSCALER: deployment(ready=0, replicas=0)},
        [
            "error | autoscaler | the deployment cluster-autoscaler has 0 replicas | a person stopped it, and no pool gets a node | `kubectl --namespace kube-system scale deployment/cluster-autoscaler --replicas 1`"
        ],
    ),
    "an autoscaler that crashes": (
        "autoscaler",
        {AUTOSCALER: deployment(ready=0), AUTOSCALER_PODS: items(CRASHES)},
        [
            "error | autoscaler | no pod of cluster-autoscaler is ready: CrashLoopBackOff: back-off 5m0s | no pool gets a node while it does not run | read `kubectl --namespace kube-system logs deployment/cluster-autoscaler --tail 100`; it runs on the system nodes"
        ],
    ),
    "an autoscaler without permissions": (
        "autoscaler",
        logged("E1120 AccessDenied: User is not authorized to perform: autoscaling:DescribeAutoScalingGroups"),
        [
            "error | autoscaler | its log: E1120 AccessDenied: User is not authorized to perform: autoscaling:DescribeAutoScalingGroups | its role lacks a permission of AWS | run `pulumi up --refresh`; delete a pod that is older than its pod identity"
        ],
    ),
    "an autoscaler without a role": (
        "autoscaler",
        logged("F1120 Failed to create AWS Manager: no EC2 IMDS role found"),
        [
            "error | autoscaler | its log: F1120 Failed to create AWS Manager: no EC2 IMDS role found | its pod has no role: it started before the pod identity was created | `kubectl --namespace kube-system rollout restart deployment/cluster-autoscaler`"
        ],
    ),
    "no status": (
        "autoscaler",
        {AUTOSCALER_STATUS: None},
        [
            "warning | autoscaler | there is no ConfigMap cluster-autoscaler-status | it has not finished its first pass, which takes less than a minute | read `kubectl --namespace kube-system logs deployment/cluster-autoscaler --tail 100`"
        ],
    ),
    "an old status": (
        "autoscaler",
        {AUTOSCALER_STATUS: autoscaler_status(updated="2026-11-20 10:00:00")},
        [
            "error | autoscaler | it wrote its status last at 2026-11-20 10:00 UTC | it hangs or has no lease: it writes the status every ten seconds | `kubectl --namespace kube-system rollout restart deployment/cluster-autoscaler`"
        ],
    ),
    "a pool that it does not know": (
        "autoscaler",
        {AUTOSCALER_STATUS: autoscaler_status(without="t4-spot")},
        [
            "error | gpu-pools.t4-spot | its status does not list eks-t4-spot-1 | the autoscaler does not know the pool, so it stays empty | read the check asg-tags; the name of the cluster in the tags and in the autoscaler must agree"
        ],
    ),
    "a pool in backoff": (
        "autoscaler",
        {AUTOSCALER_STATUS: autoscaler_status("t4-spot")},
        [
            "error | gpu-pools.t4-spot | eks-t4-spot-1 is in backoff: OutOfResources: We currently do not have sufficient g4dn.xlarge capacity | a node did not start, so the autoscaler does not try this pool for 5 to 30 minutes | read the check node-launches for the reason of EC2; a fallback pool is tried in the meantime"
        ],
    ),
}


def test_each_fault_has_its_exact_finding() -> None:
    assert differences(CASES) == {}


@pytest.mark.parametrize("text", ["", "a: [", "- a list", "nodeGroups:"])
def test_a_status_that_cannot_be_read_lists_no_pool(text: str) -> None:
    answer = autoscaler_status()
    answer["data"]["status"] = text

    assert [line.split(" | ")[2] for line in made("autoscaler", {**healthy(), AUTOSCALER_STATUS: answer})] == [
        "its status does not list eks-t4-on-demand-1",
        "its status does not list eks-t4-spot-1",
    ]
