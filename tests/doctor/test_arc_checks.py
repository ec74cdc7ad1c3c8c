"""Tests of the checks of the runner controller and of the pods of runners: each fault with its exact finding.

The cases of the pods are those of the troubleshooting guides that people follow: no GPU in the runner, a driver that is
too old for CUDA, a GPU without free memory, and the messages of the hooks.
"""

from __future__ import annotations

import copy
from typing import Any, Final

import pytest

from tests.doctor.chain import differences
from tests.doctor.healthy import (
    CONTROLLER,
    CONTROLLER_PODS,
    EVENTS,
    LISTENERS,
    RUNNER,
    RUNNER_PODS,
    RUNNERS,
    SCALE_SETS,
    SECRET,
    SYSTEM_NODE,
    SYSTEM_PODS,
    deployment,
    healthy,
    items,
    listener,
    log_question,
    pod,
    runner,
    running,
    scale_set,
)
from tests.doctor.worlds import Question, scheduler_messages

pytestmark = pytest.mark.pure


def controller_logs(line: str) -> dict[Question, Any]:
    return {log_question("arc-systems", "arc-1", "manager"): f'{{"level":"info"}}\n{line}\n'}


def secret(key: str, size: int, *, pem: bool) -> dict[Question, Any]:
    answer = copy.deepcopy(healthy()[SECRET])
    answer["data"][key] = {"bytes": size, "pem": pem}
    return {SECRET: answer}


def sets(**fields: Any) -> dict[Question, Any]:
    """Return the scale sets; the first one has other fields of its metadata or its status."""
    one = scale_set("gpu-t4", **fields.pop("status", {}))
    one["metadata"] |= fields
    return {SCALE_SETS: items(one, scale_set("gpu-t4-steady"))}


def pending(scheduler: str, *happened: tuple[str, str], minutes: int = 20) -> dict[Question, Any]:
    """Return a pod that waits for a node, and its events."""
    waits = {
        "metadata": {
            "name": RUNNER,
            "namespace": "arc-runners",
            "creationTimestamp": f"2026-11-20T11:{60 - minutes}:30Z",
        },
        "spec": {},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "message": scheduler}],
        },
    }
    events = [
        {
            "involvedObject": {"name": RUNNER},
            "reason": reason,
            "message": message,
            "lastTimestamp": f"2026-11-20T11:5{number}:00Z",
        }
        for number, (reason, message) in enumerate(happened)
    ]
    return {RUNNER_PODS: items(waits), EVENTS: items(*events)}


def unpulled(message: str, reason: str = "ImagePullBackOff") -> dict[Question, Any]:
    """Return a pod whose image is not pulled, and the event of its node."""
    waits = pod(RUNNER, "runner", waiting={"reason": reason, "message": "Back-off pulling image"})
    waits["status"]["phase"] = "Pending"
    event = {"involvedObject": {"name": RUNNER}, "reason": "Failed", "message": f'Failed to pull image "x": {message}'}
    return {RUNNER_PODS: items(waits), EVENTS: items(event)}


def logs(text: str) -> dict[Question, Any]:
    return {log_question("arc-runners", RUNNER, "runner"): f"Running job: gpu\n{text}\n"}


SCHEDULER: Final = scheduler_messages()
CRASHES: Final = pod(
    "arc-1", "manager", "arc-systems", waiting={"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}
)
KILLED: Final = pod(RUNNER, "runner", terminated={"reason": "OOMKilled", "exitCode": 137})

CASES: dict[str, tuple[str, dict[Question, Any], list[str]]] = {
    "no controller": (
        "arc-controller",
        {CONTROLLER: items()},
        [
            "error | arc-controller | arc-systems has no deployment of the controller | no runner is created, and scale sets cannot be removed | run `pulumi up --refresh`"
        ],
    ),
    "a controller that crashes": (
        "arc-controller",
        {CONTROLLER: items(deployment(ready=0)), CONTROLLER_PODS: items(CRASHES)},
        [
            "error | arc-controller | no pod of the controller is ready: CrashLoopBackOff: back-off 5m0s | no runner is created while it does not run | read `kubectl --namespace arc-systems describe pods`; it runs on the system nodes"
        ],
    ),
    "a controller of another minor version": (
        "arc-controller",
        {CONTROLLER: items(deployment(version="0.13.1"))},
        [
            "error | arc-controller | the controller has version 0.13.1, and the scale sets have 0.14.2 | a controller deletes scale sets of another minor version | follow docs/how-to/upgrade-arc.md"
        ],
    ),
    "a key that GitHub rejects": (
        "arc-controller",
        controller_logs('{"level":"error","error":"failed to get app token: 401 Unauthorized"}'),
        [
            "error | arc-controller | its log: failed to get app token: 401 Unauthorized | GitHub rejects the key of the App | set a valid key as docs/how-to/rotate-the-github-app-key.md describes"
        ],
    ),
    "an App without the permission": (
        "arc-controller",
        controller_logs('{"level":"error","error":"403 Forbidden: Resource not accessible by integration"}'),
        [
            "error | arc-controller | its log: 403 Forbidden: Resource not accessible by integration | the GitHub App lacks the permission for self-hosted runners | give the App the permission `Self-hosted runners: write`, and accept it for the installation"
        ],
    ),
    "an App that is not installed": (
        "arc-controller",
        controller_logs('{"level":"error","error":"404 Not Found"}'),
        [
            "error | arc-controller | its log: 404 Not Found | GitHub knows no installation of the App for github.url, or the App may not see the repository | compare github.url, app-id and installation-id with the page of the installation at GitHub"
        ],
    ),
    "no runner group": (
        "arc-controller",
        controller_logs('{"level":"error","error":"no runner group found with name gpu"}'),
        [
            "error | arc-controller | its log: no runner group found with name gpu | GitHub has no runner group of that name | create the group of arc.runner-group at GitHub, or state another one"
        ],
    ),
    "no way to GitHub": (
        "arc-controller",
        controller_logs('{"level":"error","error":"dial tcp: lookup api.github.com: no such host"}'),
        [
            "error | arc-controller | its log: dial tcp: lookup api.github.com: no such host | the controller does not reach GitHub | check the NAT gateway and DNS: `kubectl --namespace kube-system get pods --selector k8s-app=kube-dns`"
        ],
    ),
    "no Secret": (
        "github-app-secret",
        {SECRET: None},
        [
            "error | secret arc-runners/github-app | it does not exist | no scale set can register at GitHub or be removed from it | run `pulumi up --refresh`"
        ],
    ),
    "an empty key": (
        "github-app-secret",
        secret("github_app_private_key", 0, pem=False),
        [
            "error | secret arc-runners/github-app | it has no github_app_private_key | the controller cannot sign in to GitHub | `pulumi config set --secret gpu-ci:github-app-private-key < key.pem`, and `pulumi up`"
        ],
    ),
    "a key that is no key": (
        "github-app-secret",
        secret("github_app_private_key", 18, pem=False),
        [
            "error | secret arc-runners/github-app | github_app_private_key has 18 bytes and is not a key in PEM form | the controller cannot sign in to GitHub | download a new key from the page of the App: `pulumi config set --secret gpu-ci:github-app-private-key < key.pem`, and `pulumi up`"
        ],
    ),
    "no scale set": (
        "scale-sets",
        {SCALE_SETS: items(scale_set("gpu-t4-steady"))},
        [
            "error | runners.gpu-t4 | arc-runners has no scale set gpu-t4 | jobs for it wait: no runner takes them | run `pulumi up --refresh`; if the release exists without it, the listeners check has the command"
        ],
    ),
    "a scale set that terminates": (
        "scale-sets",
        sets(deletionTimestamp="2026-11-20T11:00:00Z"),
        [
            "error | runners.gpu-t4 | its scale set is terminating | it waits for running jobs, or no controller removes its finalizers | wait for the jobs; then see the entry about scale sets that stay Terminating in docs/runbook.md"
        ],
    ),
    "an outdated runner": (
        "scale-sets",
        sets(status={"phase": "Outdated"}),
        [
            "error | runners.gpu-t4 | its phase is Outdated | GitHub refuses the version of the runner in the image, so runners end at once | build the runner image with the newest runner, state its digest, and run `pulumi up`"
        ],
    ),
    "a scale set of another minor version": (
        "scale-sets",
        sets(labels={"app.kubernetes.io/version": "0.13.1"}),
        [
            "error | runners.gpu-t4 | the version of its scale set is 0.13.1, and that of this program 0.14.2 | a controller deletes scale sets of another minor version | follow docs/how-to/upgrade-arc.md"
        ],
    ),
    "a runner that failed": (
        "scale-sets",
        {RUNNERS: items(runner(phase="Failed", reason="TooManyPodFailures", message="Pod has failed to start"))},
        [
            "error | runners.gpu-t4 | gpu-t4-abcde-runner-fghij failed: TooManyPodFailures: Pod has failed to start | the controller does not replace a failed runner, and it counts against the maximum | read the checks pending-pods, pod-images and runner-log for the cause; then `kubectl --namespace arc-runners delete ephemeralrunner gpu-t4-abcde-runner-fghij`"
        ],
    ),
    "a runner that does not start": (
        "scale-sets",
        {RUNNERS: items(runner(failures={"a": "x", "b": "y"}))},
        [
            "warning | runners.gpu-t4 | gpu-t4-abcde-runner-fghij failed to start 2 times | after five failures the controller gives the runner up | read the checks pending-pods, pod-images and runner-log for the cause"
        ],
    ),
    "a set that GitHub has not registered": (
        "listeners",
        sets(annotations={}),
        [
            "error | runners.gpu-t4 | GitHub has not registered the scale set | GitHub keeps the jobs for it in the queue, because no listener asks for them | check app-id, installation-id and the key of the GitHub App, its permission for self-hosted runners, and arc.runner-group; then run `pulumi up`"
        ],
    ),
    "a listener of a deleted set": (
        "listeners",
        {LISTENERS: items(listener("gpu-t4", "gpu-t4-old"), listener("gpu-t4-steady"))},
        [
            "error | runners.gpu-t4 | the listener gpu-t4-listener is bound to objects that were deleted | GitHub keeps the jobs for it in the queue, because no listener asks for them | run `kubectl --namespace arc-systems delete autoscalinglistener gpu-t4-listener`, and then `pulumi up`. The controller creates another listener"
        ],
    ),
    "no listener": (
        "listeners",
        {LISTENERS: items(listener("gpu-t4-steady"))},
        [
            "error | runners.gpu-t4 | the scale set has no single listener | GitHub keeps the jobs for it in the queue, because no listener asks for them | read `kubectl --namespace arc-systems logs --selector app.kubernetes.io/part-of=gha-rs-controller --tail 100`"
        ],
    ),
    "a listener without a pod": (
        "listeners",
        {SYSTEM_PODS: items(pod("gpu-t4-steady-listener", "listener", "arc-systems"))},
        [
            "error | runners.gpu-t4 | the listener gpu-t4-listener has no pod | GitHub keeps the jobs for it in the queue, because no listener asks for them | read `kubectl --namespace arc-systems get events`"
        ],
    ),
    "a listener without a session": (
        "listeners",
        {log_question("arc-systems", "gpu-t4-listener", "listener"): "ERROR failed to create session: 401"},
        [
            "error | runners.gpu-t4 | the listener gpu-t4-listener has no session at GitHub; it logged: ERROR failed to create session: 401 | GitHub keeps the jobs for it in the queue, because no listener asks for them | check the key of the GitHub App; read `kubectl --namespace arc-systems logs gpu-t4-listener`"
        ],
    ),
    "the largest number of nodes": (
        "pending-pods",
        pending(
            SCHEDULER["plugin-absent"],
            ("NotTriggerScaleUp", "pod didn't trigger scale-up: 2 max node group size reached"),
        ),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: pod didn't trigger scale-up: 2 max node group size reached | the pool has its largest number of nodes | wait for a running job, or raise gpu-pools.NAME.max"
        ],
    ),
    "a pool in backoff": (
        "pending-pods",
        pending(
            SCHEDULER["taint-without-toleration"],
            ("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 in backoff after failed scale-up"),
        ),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: pod didn't trigger scale-up: 1 in backoff after failed scale-up | EC2 did not start a node, so the autoscaler waits | read the check node-launches"
        ],
    ),
    "no GPU is free": (
        "pending-pods",
        pending(SCHEDULER["plugin-absent"]),
        [
            f"error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: {SCHEDULER['plugin-absent']} | every GPU is in use, or the nodes do not offer theirs | read the check allocatable-gpu; if it passes, wait or raise gpu-pools.NAME.max"
        ],
    ),
    "a taint without a toleration": (
        "pending-pods",
        pending(SCHEDULER["taint-without-toleration"]),
        [
            f"error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: {SCHEDULER['taint-without-toleration']} | the nodes have a taint that the pod does not tolerate | state the taint in gpu-pools.NAME.taints, so that runners tolerate it; compare the check node-marks"
        ],
    ),
    "no node with the labels": (
        "pending-pods",
        pending(SCHEDULER["no-gpu-node"]),
        [
            f"error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: {SCHEDULER['no-gpu-node']} | no node has the labels that the pod selects | compare the pool of the runner with the check node-marks; a pool from zero needs the check asg-tags"
        ],
    ),
    "too little memory": (
        "pending-pods",
        pending(SCHEDULER["memory-too-small"]),
        [
            f"error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: {SCHEDULER['memory-too-small']} | the pod requests more CPU, memory or disk than a node has left | lower needs of the runner, or use a larger instance type; `make plan` computes the room"
        ],
    ),
    "a node starts": (
        "pending-pods",
        pending(
            SCHEDULER["all-gpus-busy"],
            ("TriggeredScaleUp", "pod triggered scale-up: [{eks-t4-spot-1 0->1}]"),
            minutes=4,
        ),
        [
            f"warning | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 3 minutes: {SCHEDULER['all-gpus-busy']} | the autoscaler starts a node for it, which takes 3 to 6 minutes | wait, and run the doctor again"
        ],
    ),
    "a node did not join": (
        "pending-pods",
        pending(SCHEDULER["all-gpus-busy"], ("TriggeredScaleUp", "pod triggered scale-up: [{eks-t4-spot-1 0->1}]")),
        [
            f"error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: {SCHEDULER['all-gpus-busy']} | the autoscaler asked for a node, and none joined in time | read the checks node-launches and nodes"
        ],
    ),
    "a new pod": (
        "pending-pods",
        pending("something else", minutes=1),
        [
            "warning | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 0 minutes: something else | unknown reason: something else | read the check autoscaler"
        ],
    ),
    "neither explains it": (
        "pending-pods",
        pending("something else"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij | it waits for 19 minutes: something else | unknown reason: something else | read the check autoscaler"
        ],
    ),
    "an image that does not exist": (
        "pod-images",
        unpulled("docker.io/x:1: not found"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": docker.io/x:1: not found | the registry has no image with this tag or digest | push the image, or correct images.NAME in the stack file'
        ],
    ),
    "a private image": (
        "pod-images",
        unpulled("failed to authorize: 401 Unauthorized", "ErrImagePull"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ErrImagePull: Failed to pull image "x": failed to authorize: 401 Unauthorized | the registry refuses the node: the image is private, or the role of the node may not read it | use a repository of gpu-ci:ecr, or state a pull secret'
        ],
    ),
    "a limit of pulls": (
        "pod-images",
        unpulled("toomanyrequests: You have reached your pull rate limit"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": toomanyrequests: You have reached your pull rate limit | the registry limits the number of pulls from the address of the NAT gateway | copy the image to a repository of gpu-ci:ecr'
        ],
    ),
    "no room for the image": (
        "pod-images",
        unpulled("write /var/lib/containerd: no space left on device"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": write /var/lib/containerd: no space left on device | the disk of the node is too small for the image | raise disk.size of the pool; the image needs about three times its compressed size'
        ],
    ),
    "no way to the registry": (
        "pod-images",
        unpulled("dial tcp: lookup ghcr.io: i/o timeout"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": dial tcp: lookup ghcr.io: i/o timeout | the node does not reach the registry | check the NAT gateway, DNS and arc.ports'
        ],
    ),
    "another architecture": (
        "pod-images",
        unpulled("no match for platform in manifest"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": no match for platform in manifest | the image is for another processor architecture | build it for linux/amd64'
        ],
    ),
    "another reason": (
        "pod-images",
        unpulled("something else"),
        [
            'error | pod arc-runners/gpu-t4-abcde-runner-fghij | ImagePullBackOff: Failed to pull image "x": something else | the node cannot pull the image | read `kubectl --namespace arc-runners describe pod gpu-t4-abcde-runner-fghij`'
        ],
    ),
    "a runner without a GPU in its limits": (
        "runner-gpu",
        {RUNNER_PODS: items(running(""))},
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij | its containers have 0 of 1 nvidia.com/gpu in their limits | a container gets only the GPUs in its limits: nvidia-smi is not found, and PyTorch has no CUDA | run `pulumi up --refresh`; the template of the scale set or of the job's pod was changed"
        ],
    ),
    "a runner on a system node": (
        "runner-gpu",
        {RUNNER_PODS: items(running(node=SYSTEM_NODE))},
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij | it runs on ip-10-0-9-9.us-west-2.compute.internal, which is a node of no pool | runners.gpu-t4 selects t4-spot and t4-on-demand, so the selection of its pod was changed | run `pulumi up --refresh`; compare the check node-marks"
        ],
    ),
    "too much memory": (
        "runner-log",
        {RUNNER_PODS: items(KILLED)},
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | the container runner ended with OOMKilled | the job used more memory than its limit; /dev/shm counts as memory | raise needs.memory of the runner, or run fewer tests in parallel"
        ],
    ),
    "the hook: the driver does not answer": (
        "runner-log",
        logs("gpu-ci: the driver does not answer on this node:"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | gpu-ci: the driver does not answer on this node: | the hook before the job stopped it, because nvidia-smi fails on this node; the job itself is not the cause | run the job again; if it happens again on the same node, delete the node (docs/runbook.md#hook-driver)"
        ],
    ),
    "the hook: another number of GPUs": (
        "runner-log",
        logs("gpu-ci: this job asks for 1 GPU(s) and sees 0:"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | gpu-ci: this job asks for 1 GPU(s) and sees 0: | the hook before the job stopped it, because the runner sees another number of GPUs than it has requested | run `make doctor`; look at nvidia.com/gpu in the limits of the pod, and delete a node with a missing GPU (docs/runbook.md#hook-count)"
        ],
    ),
    "no CUDA GPUs": (
        "runner-log",
        logs("RuntimeError: No CUDA GPUs are available"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | RuntimeError: No CUDA GPUs are available | the process sees no GPU: its pod has no limit nvidia.com/gpu, its container was started without --gpus, or CUDA_VISIBLE_DEVICES is empty | state runs-on with the label of a GPU runner, start containers with --gpus all, and print CUDA_VISIBLE_DEVICES in the job (docs/runbook.md#no-cuda-gpus)"
        ],
    ),
    "nvidia-smi is missing": (
        "runner-log",
        logs("bash: nvidia-smi: command not found"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | bash: nvidia-smi: command not found | the container has no access to the driver: the runtime mounts nvidia-smi only into containers with a GPU | request a GPU for the container, and set NVIDIA_DRIVER_CAPABILITIES=compute,utility in the image (docs/runbook.md#nvidia-smi-missing)"
        ],
    ),
    "the driver is too old": (
        "runner-log",
        logs("CUDA error: CUDA driver version is insufficient for CUDA runtime version"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | CUDA error: CUDA driver version is insufficient for CUDA runtime version | the image has a newer CUDA than the driver of the machine supports | use an image with an older CUDA, or a machine image with a newer driver; `make plan` compares both from needs.cuda and images.NAME.cuda (docs/runbook.md#driver-too-old)"
        ],
    ),
    "no GPU memory": (
        "runner-log",
        logs("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB | the job needs more memory than the GPU has, or another process on the GPU uses it | lower the batch size or the number of parallel tests; if nvidia-smi shows another process, end it; otherwise state a GPU with more memory in needs.gpu (docs/runbook.md#out-of-gpu-memory)"
        ],
    ),
    "a refused runner": (
        "runner-log",
        logs("An error occurred: Runner version v2.300.0 is deprecated and cannot receive messages."),
        [
            "error | pod arc-runners/gpu-t4-abcde-runner-fghij on ip-10-0-1-2.us-west-2.compute.internal | An error occurred: Runner version v2.300.0 is deprecated and cannot receive messages. | GitHub refuses the version of the runner: it is older than 2.329.0, or more than 30 days behind the newest | build the runner image again, or state a newer runner-version (docs/runbook.md#runner-refused)"
        ],
    ),
}


def test_each_fault_has_its_exact_finding() -> None:
    assert differences(CASES) == {}
