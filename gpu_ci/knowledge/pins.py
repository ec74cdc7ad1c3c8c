"""The exact version of everything that the program installs, one a line.

Renovate raises the pins under its marker. Run `make chart-keys` after a change of a chart. Images of EKS have no public
registry: raise them by hand, a Kubernetes version at a time. The versions of EKS add-ons are in
`gpu_ci.knowledge.kubernetes.add_ons`.
"""

from __future__ import annotations

from typing import Final

# Charts ------------------------------------------------------------------------------------------------------

# renovate: datasource=helm depName=nvidia-device-plugin registryUrl=https://nvidia.github.io/k8s-device-plugin
DEVICE_PLUGIN_CHART: Final = "0.20.0"
# renovate: datasource=helm depName=cluster-autoscaler registryUrl=https://kubernetes.github.io/autoscaler
CLUSTER_AUTOSCALER_CHART: Final = "9.59.0"
# One constant for both charts of the Actions Runner Controller: on another minor version than a scale set's, the
# controller deletes the scale set.
# renovate: datasource=docker depName=ghcr.io/actions/actions-runner-controller-charts/gha-runner-scale-set
ARC_CHARTS: Final = "0.14.2"
# renovate: datasource=helm depName=dcgm-exporter registryUrl=https://nvidia.github.io/dcgm-exporter/helm-charts
DCGM_EXPORTER_CHART: Final = "4.8.2"

# EKS ---------------------------------------------------------------------------------------------------------

# The autoscaler must have the minor version of the cluster.
CLUSTER_AUTOSCALER_IMAGES: Final = {"1.35": "v1.35.2", "1.36": "v1.36.1"}
"""Tag of registry.k8s.io/autoscaling/cluster-autoscaler, by Kubernetes minor version (releases of 2026-07-22)."""

EKS_AMI_RELEASES: Final = {"1.35": "1.35.6-20260714", "1.36": "1.36.2-20260714"}
"""Release of the EKS-optimised AL2023 images, by Kubernetes minor version (awslabs/amazon-eks-ami, v20260714).

The same release names the standard and the NVIDIA variant; the latter carries driver 580.159.03. A group that
followed "recommended" instead would replace its nodes on the day of the next `pulumi up`.
"""

# Machine images ----------------------------------------------------------------------------------------------

NVIDIA_CONTAINER_TOOLKIT: Final = "1.20.0-1"
"""The package of NVIDIA's container toolkit in the image of machines on EC2. Raise it by hand."""
