"""The values of a scale set's chart: the pod of the runner, and the pod of the job where it is separate. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components.aws.nodes.gpu_node import POOL_LABEL
from components.gpu_names import GPU
from components.kubernetes.arc.hooks import ENVIRONMENT, MOUNT
from components.kubernetes.namespaces import JOB_CREATOR, JOBS

HOOKS_CONFIG_MAP = "job-hooks"
JOB_TEMPLATE_MOUNT = "/home/runner/pod-templates"
JOB_TEMPLATE = "job.yaml"
WORK = "/home/runner/_work"
SAFE_TO_EVICT = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}
SECCOMP = {"seccompProfile": {"type": "RuntimeDefault"}}
"""The system calls that a container may make. Without it, the default of Kubernetes is all of them."""
POD_SECURITY = {"fsGroup": 1001, **SECCOMP}
"""The security context of a pod. The group is that of the image's user, so that it owns the work directory. The hook
states it for a job's pod, and a template's context replaces the one of the hook (actions/runner-container-hooks,
packages/k8s/src/k8s, `createJobPod` and `mergePodSpecWithOptions`, 2026)."""
USES_KUBERNETES = {"gpu-ci/kubernetes-api": "true"}
"""The label of a runner that creates pods. The network policy lets it reach the Kubernetes API."""
LISTENER = {"name": "listener", "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}}
"""The container on a system node that gets a runner's jobs from GitHub."""
SHARED_MEMORY: dict[str, Any] = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
"""Shared memory. The default of 64 MiB is too small for data loaders. It counts as memory of the container."""
SHARED_MEMORY_MOUNT: dict[str, Any] = {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108 - a mount in the job's container
START_UP_MINUTES = 30
"""Minutes for the start of a node and the pull of an image, in addition to a job's time limit."""
DEREGISTRATION_MINUTES = 10
"""Minutes for the controller to remove a scale set from GitHub after its last job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSetValues:
    """One runner."""

    runner: str
    """The name in `runs-on`; at most 45 characters."""
    github_url: str
    """The organisation or repository that the runner serves."""
    runner_group: str
    """The runner group on GitHub."""
    min: int
    """Idle runners that are kept."""
    max: int
    """The largest number of runners at the same time."""
    labels: Sequence[str]
    """Labels in addition to the name. GitHub accepts them only when the scale set is created."""
    container_mode: Literal["none", "kubernetes-novolume"]
    """`none`: jobs run in the runner's pod. `kubernetes-novolume`: each job has its own pod."""
    gpus: int
    """GPUs of a job; 0 for a job on nodes without GPUs."""
    cpu: int
    """CPU cores of a job. Requests equal limits, so the kubelet can assign whole cores."""
    memory: str
    """Memory of a job, for example `12Gi`."""
    disk: str | None
    """Ephemeral storage of a job, for example `50Gi`; None for no request."""
    timeout_minutes: int
    """Minutes after which GitHub cancels a job."""
    pools: Sequence[str]
    """The pools whose nodes may run it. The autoscaler chooses the order."""
    shared: bool = False
    """Whether one of the pools shares its GPUs. Then several GPUs of a job may be one device."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for the nodes of the pools."""
    pull_secret: str | None = None
    """The Secret with which the runner's pod pulls its image, in the namespace of the runners."""
    job_pull_secret: str | None = None
    """The Secret with which the job's own pod pulls its image, in the namespace of the jobs."""


def longest_minutes(args: ScaleSetValues) -> int:
    """Return the longest life of a runner in minutes: the start of each of its pods, and the job."""
    # The runner's pod waits for the pod of the job, and reports the result.
    start_ups = 1 if args.container_mode == "none" else 2
    return args.timeout_minutes + start_ups * START_UP_MINUTES


def removal_minutes(args: ScaleSetValues) -> int:
    """Return the longest time in minutes that the removal of a scale set waits for its running jobs."""
    return longest_minutes(args) + DEREGISTRATION_MINUTES


def job_resources(args: ScaleSetValues) -> dict[str, Any]:
    """Return the requests and limits of a job's container. They are equal, so the pod is evicted last."""
    amounts = {"cpu": str(args.cpu), "memory": args.memory}
    if args.gpus:
        amounts[GPU] = str(args.gpus)
    if args.disk is not None:
        amounts["ephemeral-storage"] = args.disk
    return {"requests": amounts, "limits": dict(amounts)}


def job_placement(args: ScaleSetValues) -> dict[str, Any]:
    """Return the node selection and tolerations of a job's pod."""
    tolerations = [dict(toleration) for toleration in args.tolerations]
    if len(args.pools) == 1:
        return {"nodeSelector": {POOL_LABEL: args.pools[0]}, "tolerations": tolerations}
    requirement = {"key": POOL_LABEL, "operator": "In", "values": list(args.pools)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"affinity": affinity, "tolerations": tolerations}


def _pulls(secret: str | None) -> dict[str, Any]:
    """Return the part of a pod that names its credentials for a private registry."""
    return {"imagePullSecrets": [{"name": secret}]} if secret is not None else {}


def runner_pod(args: ScaleSetValues, image: Any) -> dict[str, Any]:
    """Return the template of the runner's pod; `image` may be an output."""
    runs_job = args.container_mode == "none"
    environment = {**ENVIRONMENT, "GPU_CI_GPUS": str(args.gpus if runs_job else 0)}
    if runs_job and args.shared:
        environment["GPU_CI_GPUS_AT_LEAST"] = "1"
    volumes: list[dict[str, Any]] = [
        {"name": "hooks", "configMap": {"name": HOOKS_CONFIG_MAP, "defaultMode": 0o555}},
    ]
    mounts = [{"name": "hooks", "mountPath": MOUNT, "readOnly": True}]
    spec: dict[str, Any] = {
        "securityContext": dict(POD_SECURITY),
        # A spot node is terminated two minutes after its notice.
        "terminationGracePeriodSeconds": 110,
        **_pulls(args.pull_secret),
    }
    if runs_job:
        volumes += [
            {"name": "work", "emptyDir": {}},
            SHARED_MEMORY,
        ]
        mounts += [
            {"name": "work", "mountPath": WORK},
            SHARED_MEMORY_MOUNT,
        ]
        spec |= {**job_placement(args), "automountServiceAccountToken": False}
        resources = job_resources(args)
    else:
        environment |= {
            "ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE": f"{JOB_TEMPLATE_MOUNT}/{JOB_TEMPLATE}",
            # By default the job's pod is bound to the runner's node, which has no GPU.
            "ACTIONS_RUNNER_USE_KUBE_SCHEDULER": "true",
            "ACTIONS_RUNNER_KUBERNETES_NAMESPACE": JOBS,
            "ACTIONS_RUNNER_PREPARE_JOB_TIMEOUT_SECONDS": str(START_UP_MINUTES * 60),
        }
        volumes.append({"name": "job-template", "configMap": {"name": job_template_name(args.runner)}})
        mounts.append({"name": "job-template", "mountPath": JOB_TEMPLATE_MOUNT, "readOnly": True})
        spec["nodeSelector"] = {"role": "system"}
        # The chart's own account may read the key of the GitHub App.
        spec["serviceAccountName"] = JOB_CREATOR
        small = {"cpu": "200m", "memory": "512Mi"}
        resources = {"requests": small, "limits": {"memory": "512Mi"}}
    if args.min == 0:
        # The runner is created for a waiting job, so its life has a limit. An idle runner has none.
        spec["activeDeadlineSeconds"] = longest_minutes(args) * 60
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
    labels = {"gpu-ci/runner": args.runner, **({} if runs_job else USES_KUBERNETES)}
    return {"metadata": {"annotations": dict(SAFE_TO_EVICT), "labels": labels}, "spec": spec}


def job_pod(args: ScaleSetValues) -> dict[str, Any]:
    """Return the template that the container hook merges into a job's pod: the resources and the node selection."""
    container = {"name": "$job", "resources": job_resources(args), "volumeMounts": [SHARED_MEMORY_MOUNT]}
    return {
        "metadata": {"annotations": dict(SAFE_TO_EVICT), "labels": {"gpu-ci/runner": args.runner}},
        "spec": {
            **job_placement(args),
            "securityContext": dict(POD_SECURITY),
            "automountServiceAccountToken": False,
            "activeDeadlineSeconds": (args.timeout_minutes + START_UP_MINUTES) * 60,
            "terminationGracePeriodSeconds": 110,
            "containers": [container],
            "volumes": [SHARED_MEMORY],
            **_pulls(args.job_pull_secret),
        },
    }


def job_template_name(runner: str) -> str:
    """Return the name of the ConfigMap with the template of the job's pod."""
    return f"job-pod-{runner}"


def scale_set_values(
    args: ScaleSetValues, *, image: Any, secret_name: Any, controller_namespace: str, controller_account: str
) -> dict[str, Any]:
    """Return the chart's values; `image` and `secret_name` may be outputs.

    The controller's account is stated because the chart would otherwise look for it in the cluster, which a preview
    does not have.
    """
    values: dict[str, Any] = {
        "githubConfigUrl": args.github_url,
        # By name: Helm stores values in its history, and a key must not be there.
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
                # The chart requires the container, even without changes.
                "containers": [LISTENER],
            }
        },
    }
    if args.labels:
        values["scaleSetLabels"] = list(args.labels)
    if args.container_mode != "none":
        values["containerMode"] = {"type": args.container_mode}
    return values
