"""The Compute Engine quotas of each machine: GPUs of its model, GPUs of all models, and CPUs.

Names and ids: Google's page on allocation quotas, and answers of the Cloud Quotas API as recorded in public tools
(2026-06 to 2026-09): `NVIDIA-T4-GPUS-per-project-region` and the like, `PREEMPTIBLE-…` for Spot, and for H100 on demand
one quota per GPU family. Machines that bring their GPU (G2, A2, A3) need no CPU quota; the others do. Spot machines use
the common CPU quota until a preemptible one is granted. A new project has no GPU in any region. Spot machines are also
counted against the GPUs of all regions: whether Google does so is not documented, and a figure that is too high is
safe. Command: gcloud beta quotas preferences create (Google Cloud SDK, 2025).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.machines import GPU_MODELS, GpuModel, attach, gpu_model
from gpu_ci.knowledge.machines.groups import MachineGroup, Placement
from gpu_ci.knowledge.quotas.claim import EVERYWHERE, Claim, Quota
from gpu_ci.knowledge.regions import Cloud

METRICS: Final = MappingProxyType(
    {slug: f"NVIDIA_{slug.upper().replace('-', '_')}_GPUS" for slug, model in GPU_MODELS.items() if model.gcp}
)
"""GPU model to the name of its regional quota, for the models that Google offers."""
ALL_REGIONS: Final = "GPUS_ALL_REGIONS"
"""GPUs of every model in all regions."""
_PER_FAMILY: Final = "CPUS_PER_VM_FAMILY"
_CPUS: Final = MappingProxyType(
    {
        "n1": "CPUS", "custom": "CPUS", "e2": "CPUS", "n2": "N2_CPUS", "n2d": "N2D_CPUS", "c2": "C2_CPUS",
        "c2d": "C2D_CPUS", "c3": "C3_CPUS", "c3d": _PER_FAMILY,
    }
)  # fmt: skip
"""Family of machines that need a CPU quota, to its name."""
_MEGA: Final = "NVIDIA_H100_MEGA_GPUS"
"""The quota of the H100 in a3-megagpu machines."""
_GPUS: Final = frozenset({*METRICS.values(), _MEGA})
NAMES: Final = frozenset({*_CPUS.values(), ALL_REGIONS, *_GPUS, *(f"PREEMPTIBLE_{metric}" for metric in _GPUS)})
"""Every quota that a machine can count against."""
_BY_FAMILY: Final = MappingProxyType({"NVIDIA_H100_GPUS": "NVIDIA_H100"})
"""Quotas that exist for Spot only, to the family in the common quota of on-demand machines."""
_FAMILY_QUOTA: Final = "GPUS-PER-GPU-FAMILY-per-project-region"
_NEW_PROJECT_CPUS: Final = 8
"""The smallest value known for a new project in a region; most have more. Recalled, not read."""


def _quota(
    name: str, title: str, unit: str, *, project: str, region: str, quota_id: str, default: int = 0,
    family: Mapping[str, str] = MappingProxyType({}),
) -> Quota:  # fmt: skip
    dimensions = {} if region == EVERYWHERE else {"region": region, **family}
    named = ",".join(f"{key}={value}" for key, value in dimensions.items())
    return Quota(
        cloud=Cloud.GCP,
        region=region,
        name=name,
        title=title,
        unit=unit,
        default=default,
        command=(
            f"gcloud beta quotas preferences create --service=compute.googleapis.com --project={project} "
            f"--quota-id={quota_id} --preferred-value={{value}}{f' --dimensions={named}' if named else ''}"
        ),
    )


def gpu_quota(machine: str, model: GpuModel, project: str, region: str, *, spot: bool) -> Quota:
    """Return the regional quota that the GPUs of a machine type count against."""
    metric = _MEGA if machine.startswith("a3-megagpu-") else METRICS[model.slug]
    title, quota_id, family = model.product, "", {}
    if spot:
        metric, title = f"PREEMPTIBLE_{metric}", f"preemptible {title}"
    elif metric in _BY_FAMILY:
        title, quota_id = f"{title}, in the quota per GPU family", _FAMILY_QUOTA
        family = {"gpu_family": _BY_FAMILY[metric]}
    return _quota(
        metric, title, "GPUs", project=project, region=region, quota_id=quota_id or _regional(metric), family=family
    )


def _cpu_quota(family: str, project: str, region: str) -> Quota:
    name = _CPUS[family]
    return _quota(
        name, "CPUs of N1 and E2" if name == "CPUS" else f"CPUs of {family.upper()}", "CPUs", project=project,
        region=region, quota_id=_regional(name), default=_NEW_PROJECT_CPUS,
        family={"vm_family": family.upper()} if name == _PER_FAMILY else {},
    )  # fmt: skip


def _regional(metric: str) -> str:
    return f"{metric.replace('_', '-')}-per-project-region"


def gcp_claims(group: MachineGroup, placement: Placement, project: str) -> tuple[Claim, ...]:
    """Return the claim on each quota: all machines of the group, each of the type that uses the most of it."""
    most: dict[Quota, tuple[int, str]] = {}

    def claim(quota: Quota, amount: int, name: str) -> None:
        most[quota] = max(most.get(quota, (0, "")), (amount, name))

    region = placement.region
    for name in group.types:
        machine = group.catalogue.gce(name)
        if group.attached_gpu is not None:
            machine = attach(machine, gpu_model(group.attached_gpu), group.attached_gpus)
        if machine.gpu is not None:
            claim(gpu_quota(name, machine.gpu, project, region, spot=placement.spot), machine.gpus, name)
            everywhere = _quota(
                ALL_REGIONS, "of all models in all regions", "GPUs", project=project, region=EVERYWHERE,
                quota_id="GPUS-ALL-REGIONS-per-project",
            )  # fmt: skip
            claim(everywhere, machine.gpus, name)
        if (family := name.partition("-")[0]) in _CPUS:
            claim(_cpu_quota(family, project, region), machine.vcpus, name)
    return tuple(
        Claim(quota=quota, group=group, spot=placement.spot, machine=name, each=amount)
        for quota, (amount, name) in most.items()
    )
