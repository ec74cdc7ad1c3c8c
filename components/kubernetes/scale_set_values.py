"""The values of one scale set's chart: the runner's pod, and the job's where it has one of its own. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from components.aws.gpu_node import POOL_LABEL
from components.kubernetes.hooks import ENVIRONMENT, MOUNT
from gpu.kubernetes.quantities import GPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOOKS_CONFIG_MAP = "job-hooks"
JOB_TEMPLATE_MOUNT = "/home/runner/pod-templates"
JOB_TEMPLATE = "job.yaml"
WORK = "/home/runner/_work"
SAFE_TO_EVICT = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}
LISTENER = {"name": "listener", "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}}
"""The container that asks GitHub for a runner's jobs, on a system node."""
SHARED_MEMORY: dict[str, Any] = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
"""A container's own 64 MiB do not hold a data loader's batches. It counts as the container's memory."""
SHARED_MEMORY_MOUNT: dict[str, Any] = {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108 - a mount in the job's container
START_UP_MINUTES = 30
"""Allowed beside a job's own time for its node to come up and its image to be pulled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSetValues:
    """One runner, as its pod is made."""

    runner: str
    """What a workflow says in `runs-on`; at most 45 characters."""
    github_url: str
    runner_group: str
    min: int
    max: int
    labels: Sequence[str]
    """Labels beside the name. GitHub takes them only when the scale set is first made."""
    container_mode: Literal["none", "kubernetes-novolume"]
    gpus: int
    cpu: int
    """Whole cores: with as much requested as allowed, the kubelet can give whole ones."""
    memory: str
    disk: str | None
    timeout_minutes: int
    pools: Sequence[str]
    """The pools whose nodes may run it; the autoscaler says which is tried first."""
    shared: bool = False
    """Whether one of the pools shares its GPUs, so that several of what a job asks for may be one GPU."""
    tolerations: Sequence[Mapping[str, str]]


def gpu_resources(args: ScaleSetValues) -> dict[str, Any]:
    """What a job's container asks for and is held to: the same, so that it is the last to be evicted."""
    amounts = {"cpu": str(args.cpu), "memory": args.memory, GPU: str(args.gpus)}
    if args.disk is not None:
        amounts["ephemeral-storage"] = args.disk
    return {"requests": amounts, "limits": dict(amounts)}


def gpu_placement(args: ScaleSetValues) -> dict[str, Any]:
    """Where a pod with a GPU may stand."""
    tolerations = [dict(toleration) for toleration in args.tolerations]
    if len(args.pools) == 1:
        return {"nodeSelector": {POOL_LABEL: args.pools[0]}, "tolerations": tolerations}
    requirement = {"key": POOL_LABEL, "operator": "In", "values": list(args.pools)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"affinity": affinity, "tolerations": tolerations}


def runner_pod(args: ScaleSetValues, image: Any) -> dict[str, Any]:
    """The runner's pod template, as the chart takes it; `image` may be an output."""
    own_gpu = args.container_mode == "none"
    environment = {**ENVIRONMENT, "GPU_CI_GPUS": str(args.gpus if own_gpu else 0)}
    if own_gpu and args.shared:
        environment["GPU_CI_GPUS_AT_LEAST"] = "1"
    volumes: list[dict[str, Any]] = [
        {"name": "hooks", "configMap": {"name": HOOKS_CONFIG_MAP, "defaultMode": 0o555}},
    ]
    mounts = [{"name": "hooks", "mountPath": MOUNT, "readOnly": True}]
    spec: dict[str, Any] = {
        # The group that owns the work directory is the image's own user's.
        "securityContext": {"fsGroup": 1001},
        # A spot node is gone two minutes after it says so.
        "terminationGracePeriodSeconds": 110,
    }
    if own_gpu:
        volumes += [
            {"name": "work", "emptyDir": {}},
            SHARED_MEMORY,
        ]
        mounts += [
            {"name": "work", "mountPath": WORK},
            SHARED_MEMORY_MOUNT,
        ]
        spec |= gpu_placement(args)
        resources = gpu_resources(args)
        start_ups = 1
    else:
        environment |= {
            "ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE": f"{JOB_TEMPLATE_MOUNT}/{JOB_TEMPLATE}",
            # The scheduler places the job's pod; bound to the runner's own node, it would never get a GPU.
            "ACTIONS_RUNNER_USE_KUBE_SCHEDULER": "true",
            "ACTIONS_RUNNER_PREPARE_JOB_TIMEOUT_SECONDS": str(START_UP_MINUTES * 60),
        }
        volumes.append({"name": "job-template", "configMap": {"name": job_template_name(args.runner)}})
        mounts.append({"name": "job-template", "mountPath": JOB_TEMPLATE_MOUNT, "readOnly": True})
        spec["nodeSelector"] = {"role": "system"}
        small = {"cpu": "200m", "memory": "512Mi"}
        resources = {"requests": small, "limits": {"memory": "512Mi"}}
        # Its own, and the job's pod's, which it outlives to tell how the job ended.
        start_ups = 2
    if args.min == 0:
        # Made for a job that waits, so that its whole life is bounded. One kept idle lives until its job comes.
        spec["activeDeadlineSeconds"] = (args.timeout_minutes + start_ups * START_UP_MINUTES) * 60
    spec["containers"] = [
        {
            "name": "runner",
            "image": image,
            "command": ["/home/runner/run.sh"],
            "env": [{"name": key, "value": value} for key, value in sorted(environment.items())],
            "resources": resources,
            "volumeMounts": mounts,
        }
    ]
    spec["volumes"] = volumes
    return {"metadata": {"annotations": dict(SAFE_TO_EVICT), "labels": {"gpu-ci/runner": args.runner}}, "spec": spec}


def job_pod(args: ScaleSetValues) -> dict[str, Any]:
    """What the container hook adds to a job's own pod: the GPU, and a node that has one."""
    container = {"name": "$job", "resources": gpu_resources(args), "volumeMounts": [SHARED_MEMORY_MOUNT]}
    return {
        "metadata": {"annotations": dict(SAFE_TO_EVICT), "labels": {"gpu-ci/runner": args.runner}},
        "spec": {
            **gpu_placement(args),
            "activeDeadlineSeconds": (args.timeout_minutes + START_UP_MINUTES) * 60,
            "terminationGracePeriodSeconds": 110,
            "containers": [container],
            "volumes": [SHARED_MEMORY],
        },
    }


def job_template_name(runner: str) -> str:
    """The ConfigMap that holds a runner's job pod."""
    return f"job-pod-{runner}"


def scale_set_values(
    args: ScaleSetValues, *, image: Any, secret_name: Any, controller_namespace: str, controller_account: str
) -> dict[str, Any]:
    """The chart's values; `image` and `secret_name` may be outputs.

    The controller's account is named, because the chart would otherwise look for it in a cluster that a preview
    does not have.
    """
    values: dict[str, Any] = {
        "githubConfigUrl": args.github_url,
        # By name: a key among the values would stand in Helm's own history.
        "githubConfigSecret": secret_name,
        "runnerGroup": args.runner_group,
        "runnerScaleSetName": args.runner,
        "minRunners": args.min,
        "maxRunners": args.max,
        "controllerServiceAccount": {"namespace": controller_namespace, "name": controller_account},
        "template": runner_pod(args, image),
        "listenerTemplate": {
            "spec": {
                "nodeSelector": {"role": "system"},
                # The template must hold the container, even one that is told nothing.
                "containers": [LISTENER],
            }
        },
    }
    if args.labels:
        values["scaleSetLabels"] = list(args.labels)
    if args.container_mode != "none":
        values["containerMode"] = {"type": args.container_mode}
    return values
