"""The Job of a smoke test: one pod on a node of one GPU pool. Pure.

The pod has no token and no privileges. It needs no network, so a network policy cannot stop it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from components.aws.nodes.gpu_node import POOL_LABEL
from components.gpu_names import GPU

NAMESPACE: Final = "gpu-smoke"
NAMESPACE_LABELS: Final = {"pod-security.kubernetes.io/enforce": "restricted"}
CONTAINER: Final = "smoke"
LABEL: Final = "gpu-ci/smoke"
"""The label of a Job and its pod, with the name of the pool."""
PROGRAM: Final = Path(__file__).with_name("smoke_check.py")
RETRIES: Final = 1
"""A second pod. A node can refuse the first one while its device plugin starts, and spot machines end early."""
RESOURCES: Final = {"cpu": "1", "memory": "4Gi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeJob:
    """The test of one pool."""

    pool: str
    """The name of the pool."""
    gpus: int
    """GPUs that the pod requests and expects: all of a node, or one share."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for the nodes of the pool."""
    timeout_minutes: int
    """Minutes for the start of a node, the pull of the image, and the test."""
    proves: str
    """The versions of the nodes. A change repeats the test."""
    pull_secret: str | None = None
    """The Secret in the namespace with the credentials of the image's registry."""


def job_name(pool: str) -> str:
    """Return the name of the Job that a stack declares."""
    return f"gpu-smoke-{pool}"


def pod_template(args: SmokeJob, image: Any) -> dict[str, Any]:
    """Return the template of the pod; `image` may be an output."""
    amounts = {**RESOURCES, GPU: str(args.gpus)}
    return {
        "metadata": {
            "labels": {LABEL: args.pool},
            "annotations": {"gpu-ci/proves": args.proves, "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
        },
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {POOL_LABEL: args.pool},
            "tolerations": [dict(toleration) for toleration in args.tolerations],
            **({"imagePullSecrets": [{"name": args.pull_secret}]} if args.pull_secret is not None else {}),
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "runAsGroup": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": CONTAINER,
                    "image": image,
                    "command": ["python3", "-c", PROGRAM.read_text(encoding="utf-8")],
                    "env": [
                        {"name": "GPU_CI_GPUS", "value": str(args.gpus)},
                        {"name": "HOME", "value": "/tmp"},  # noqa: S108 - the home of a user without one
                        # An image without this variable gets no nvidia-smi.
                        {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "compute,utility"},
                    ],
                    "resources": {"requests": amounts, "limits": dict(amounts)},
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                }
            ],
        },
    }


def job_spec(args: SmokeJob, image: Any) -> dict[str, Any]:
    """Return the spec of the Job; `image` may be an output.

    It has no `ttlSecondsAfterFinished`: `pulumi refresh` would find the Job deleted, and the next update would start
    a GPU node for it. A pod that ended costs nothing.
    """
    return {
        "backoffLimit": RETRIES,
        "activeDeadlineSeconds": args.timeout_minutes * 60,
        "template": pod_template(args, image),
    }
