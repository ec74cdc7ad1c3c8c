"""A node's user data for nodeadm, where the node differs from EKS's own image. Pure.

EKS adds its own part to ours, so that this says only what is different (awslabs/amazon-eks-ami, nodeadm, 2026).
"""

from __future__ import annotations

import base64
import json

_BOUNDARY = "gpu-ci-node"


def user_data(*, fast_image_pull: bool) -> str | None:
    """Base64 MIME parts for a launch template, or nothing where EKS's own suffice.

    With `fast_image_pull` layers are pulled in parallel by the SOCI snapshotter, onto the instance's own NVMe disks:
    on gp3 at its base rate it would be slower than the plain way.
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
        # JSON is YAML, and has one form.
        json.dumps(config, indent=2, sort_keys=True),
        f"--{_BOUNDARY}--",
        "",
    ]
    return base64.b64encode("\n".join(lines).encode()).decode()
