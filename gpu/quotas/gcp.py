"""Which Compute Engine quotas a GPU machine counts against: GPUs of the model, GPUs of all models, and CPUs.

Names and ids: Google's allocation quota page and answers of the Cloud Quotas API as recorded in public tools
(2026-06 to 2026-09): `NVIDIA-T4-GPUS-per-project-region` and its like, `PREEMPTIBLE-…` for Spot, and for H100 and
RTX PRO 6000 on demand one quota for each family of GPU. Machines that bring their GPU (G2, A2, A3) need no CPU quota
of their own; N1 does, and E2, which builds images. Spot machines use the common CPU quota for as long as no preemptible
one was granted. New projects have no GPU, in any region. Spot machines are counted against all regions' GPUs as well:
whether Google does so was not found, and too much is the safe side.
Command: gcloud beta quotas preferences create (Google Cloud SDK reference, 2025).
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from gpu.machines import GpuModel, MachineType, attach, gce_type, gpu_model
from gpu.machines.gcp import Unattachable
from gpu.nearest import UnknownName
from gpu.quotas.claim import EVERYWHERE, Claim, Demand, Quota
from gpu.regions import Cloud

METRICS = MappingProxyType(
    {
        "t4": "NVIDIA_T4_GPUS",
        "l4": "NVIDIA_L4_GPUS",
        "p4": "NVIDIA_P4_GPUS",
        "p100": "NVIDIA_P100_GPUS",
        "v100": "NVIDIA_V100_GPUS",
        "a100": "NVIDIA_A100_GPUS",
        "a100-80gb": "NVIDIA_A100_80GB_GPUS",
        "h100": "NVIDIA_H100_GPUS",
        "rtx-pro-6000": "NVIDIA_RTX_PRO_6000_GPUS",
    }
)
"""GPU model to the name of its regional quota."""
ALL_REGIONS = "GPUS_ALL_REGIONS"
"""GPUs of every model, wherever they are."""
NAMES = frozenset({"CPUS", ALL_REGIONS, *METRICS.values(), *(f"PREEMPTIBLE_{metric}" for metric in METRICS.values())})
"""Every quota that anything can count against."""
_BY_FAMILY = MappingProxyType({"h100": "NVIDIA_H100", "rtx-pro-6000": "NVIDIA_RTX_PRO_6000"})
"""Models that on demand have no quota of their own, and their family in the common one."""
_FAMILY_QUOTA = "GPUS-PER-GPU-FAMILY-per-project-region"
_CPUS_OF_A_NEW_PROJECT = 8
"""The least that Google is known to grant a new project in a region; most have more. Recalled, not read."""


class Unattached(ValueError):
    """A machine without a GPU, or one that the stated GPU cannot be attached to."""


def _command(project: str, quota_id: str, **dimensions: str) -> str:
    named = ",".join(f"{key}={value}" for key, value in dimensions.items())
    return (
        f"gcloud beta quotas preferences create --service=compute.googleapis.com --project={project} "
        f"--quota-id={quota_id} --preferred-value={{value}}{f' --dimensions={named}' if named else ''}"
    )


@cache
def _regional(metric: str, *, project: str, region: str, title: str, unit: str, default: int) -> Quota:
    return Quota(
        cloud=Cloud.GCP, region=region, name=metric, title=title, unit=unit, default=default,
        command=_command(project, f"{metric.replace('_', '-')}-per-project-region", region=region),
    )  # fmt: skip


@cache
def _gpu_quota(model: GpuModel, project: str, region: str, *, spot: bool) -> Quota:
    if model.slug not in METRICS:
        raise UnknownName("GPU of Google", model.slug, METRICS)
    metric = METRICS[model.slug]
    if spot:
        return _regional(
            f"PREEMPTIBLE_{metric}",
            project=project,
            region=region,
            title=f"preemptible {model.product}",
            unit="GPUs",
            default=0,
        )
    if model.slug not in _BY_FAMILY:
        return _regional(metric, project=project, region=region, title=model.product, unit="GPUs", default=0)
    family = _BY_FAMILY[model.slug]
    return Quota(
        cloud=Cloud.GCP, region=region, name=metric, title=f"{model.product}, within the quota per GPU family",
        unit="GPUs", default=0, command=_command(project, _FAMILY_QUOTA, region=region, gpu_family=family),
    )  # fmt: skip


@cache
def _all_regions(project: str) -> Quota:
    return Quota(
        cloud=Cloud.GCP, region=EVERYWHERE, name=ALL_REGIONS, title="of all models in all regions",
        unit="GPUs", default=0, command=_command(project, "GPUS-ALL-REGIONS-per-project"),
    )  # fmt: skip


def _cpus(project: str, region: str) -> Quota:
    return _regional(
        "CPUS",
        project=project,
        region=region,
        title="CPUs of N1 and E2",
        unit="CPUs",
        default=_CPUS_OF_A_NEW_PROJECT,
    )


def _machine(demand: Demand, name: str) -> tuple[MachineType, GpuModel | None]:
    machine = gce_type(name)
    if demand.gpu is not None:
        try:
            machine = attach(machine, gpu_model(demand.gpu), demand.gpus)
        except Unattachable as fault:
            raise Unattached(str(fault)) from None
    if machine.gpu is None and not demand.plain:
        raise Unattached(f"{name} brings no GPU, and none is attached to it")
    return machine, machine.gpu


@cache
def gcp_claims(demand: Demand) -> tuple[Claim, ...]:
    """What a demand could use of each quota: all its machines, each of the type that uses most of it."""
    most: dict[Quota, tuple[int, str]] = {}

    def claim(quota: Quota, amount: int, name: str) -> None:
        most[quota] = max(most.get(quota, (0, "")), (amount, name))

    for name in demand.machines:
        machine, model = _machine(demand, name)
        if model is not None:
            claim(_gpu_quota(model, demand.project, demand.region, spot=demand.spot), machine.gpus, name)
            claim(_all_regions(demand.project), machine.gpus, name)
        if name.startswith(("n1-", "e2-")):
            claim(_cpus(demand.project, demand.region), machine.vcpus, name)
    return tuple(Claim(quota=quota, demand=demand, machine=name, each=amount) for quota, (amount, name) in most.items())
