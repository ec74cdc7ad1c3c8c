"""Tables of GPU models, EC2 instance types and GCE machine types.

A name that is not in its table is an error that names the nearest known one.
"""

from __future__ import annotations

from gpu_ci.knowledge.machines.aws import EC2_TYPES, InstanceType, ec2_type
from gpu_ci.knowledge.machines.catalogue import TABLES, Catalogue
from gpu_ci.knowledge.machines.gcp import GCE_TYPES, MachineType, attach, gce_type, is_n1
from gpu_ci.knowledge.machines.models import GPU_MODELS, GpuModel, gpu_model

__all__ = [
    "EC2_TYPES",
    "GCE_TYPES",
    "GPU_MODELS",
    "TABLES",
    "Catalogue",
    "GpuModel",
    "InstanceType",
    "MachineType",
    "attach",
    "ec2_type",
    "gce_type",
    "gpu_model",
    "is_n1",
]
