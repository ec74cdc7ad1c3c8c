"""The user data of a node: configuration for nodeadm. Pure.

EKS adds its own part to the nodes of its images, so this contains only the differences. It adds nothing to the nodes of
other images, so these get everything (awslabs/amazon-eks-ami, nodeadm, 2026).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

_BOUNDARY = "gpu-ci-node"


def user_data(*, fast_image_pull: bool) -> str | None:
    """Return MIME parts for a launch template, in base64; None where the defaults of EKS suffice."""
    return _parts(_fast_pull()) if fast_image_pull else None


def own_image_user_data(
    *,
    cluster: Mapping[str, str],
    labels: Mapping[str, str],
    taints: Mapping[str, str],
    fast_image_pull: bool,
) -> str:
    """Return MIME parts for the nodes of an image that is not of EKS, in base64.

    The labels and taints are flags of the kubelet, too: EKS adds its own only after a node has joined, and a pod
    without a GPU could be placed on it before (EKS user guide, "Launch templates", 2026).

    Args:
        cluster: `name`, `apiServerEndpoint`, `certificateAuthority` in base64, and `cidr` of the services.
        labels: Kubernetes labels.
        taints: key to `value:Effect`.
        fast_image_pull: whether the SOCI snapshotter pulls layers in parallel.

    """
    flags = [
        "--node-labels=" + ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        "--register-with-taints=" + ",".join(f"{key}={taint}" for key, taint in sorted(taints.items())),
    ]
    return _parts({"cluster": dict(cluster), "kubelet": {"flags": flags}, **(_fast_pull() if fast_image_pull else {})})


def _fast_pull() -> dict[str, Any]:
    """Return the configuration of the SOCI snapshotter.

    It pulls layers in parallel onto the NVMe disks of the instance. On a gp3 volume at its base rate that would be
    slower than an ordinary pull.
    """
    return {"featureGates": {"FastImagePull": True}, "instance": {"localStorage": {"strategy": "RAID0"}}}


def _parts(spec: Mapping[str, Any]) -> str:
    config = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": dict(spec)}
    lines = [
        "MIME-Version: 1.0",
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
        "",
        f"--{_BOUNDARY}",
        "Content-Type: application/node.eks.aws",
        "",
        # JSON is valid YAML, and this text never changes for the same values.
        json.dumps(config, indent=2, sort_keys=True),
        f"--{_BOUNDARY}--",
        "",
    ]
    return base64.b64encode("\n".join(lines).encode()).decode()
