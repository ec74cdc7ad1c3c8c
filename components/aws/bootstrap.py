"""The user data of a node: configuration for nodeadm. Pure.

EKS adds its own part, so this contains only the differences (awslabs/amazon-eks-ami, nodeadm, 2026).
"""

from __future__ import annotations

import base64
import json

_BOUNDARY = "gpu-ci-node"


def user_data(*, fast_image_pull: bool) -> str | None:
    """Return MIME parts for a launch template, in base64; None where the defaults of EKS suffice.

    With `fast_image_pull` the SOCI snapshotter pulls layers in parallel onto the NVMe disks of the instance. On a gp3
    volume at its base rate that would be slower than an ordinary pull.
    """
    if not fast_image_pull:
        return None
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "featureGates": {"FastImagePull": True},
            "instance": {"localStorage": {"strategy": "RAID0"}},
        },
    }
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
