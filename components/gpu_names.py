"""The names of GPUs in Kubernetes: the resource, and the labels of nodes. Pure."""

from __future__ import annotations

from typing import Final

GPU: Final = "nvidia.com/gpu"
"""The resource that the device plugin advertises. The label and the taint of GPU nodes have the same key."""
GPU_PRESENT: Final = "nvidia.com/gpu.present"
"""The label by which NVIDIA's charts find a GPU node."""
ACCELERATOR: Final = "k8s.amazonaws.com/accelerator"
"""The label by which the autoscaler knows that a node gets a GPU before the node is ready."""
