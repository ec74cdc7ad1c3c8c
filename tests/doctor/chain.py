"""The part of the chain from the credentials of AWS to the runner's pod."""

from __future__ import annotations

from typing import Final

from ops.doctor.checks import CHECKS

NAMES: Final = (
    "aws-account", "deployer-permissions", "live-quota", "eks-cluster", "node-groups", "asg-tags", "node-launches",
    "kubernetes-api", "nodes", "node-marks", "device-plugin", "device-plugin-log", "allocatable-gpu", "autoscaler",
    "arc-controller", "github-app-secret", "scale-sets", "listeners", "pending-pods", "image-pull", "runner-log",
)  # fmt: skip
CLUSTER_CHECKS: Final = tuple(one for one in CHECKS if one.CHECK in NAMES)
