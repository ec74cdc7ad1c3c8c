"""The Compute Engine quotas of each machine: GPUs of its model, GPUs of all models, and CPUs.

Names and ids: Google's page on allocation quotas, and answers of the Cloud Quotas API as recorded in public tools
(2026-06 to 2026-09): `NVIDIA-T4-GPUS-per-project-region` and the like, `PREEMPTIBLE-…` for Spot, and for H100 on demand
one quota per GPU family. Machines that bring their GPU (G2, A2, A3) need no CPU quota; N1 does, and so does E2, which
builds images. Spot machines use the common CPU quota until a preemptible one is granted. A new project has no GPU in
any region. Spot machines are also counted against the GPUs of all regions: whether Google does so is not documented,
and a figure that is too high is safe. Command: gcloud beta quotas preferences create (Google Cloud SDK, 2025).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gpu.machines import GPU_MODELS, GpuModel, attach, gce_type, gpu_model
from gpu.quotas.claim import EVERYWHERE, Claim, Quota
from gpu.regions import Cloud

if TYPE_CHECKING:
    from gpu.machines.groups import MachineGroup, Placement

METRICS: Final = MappingProxyType(
    {slug: f"NVIDIA_{slug.upper().replace('-', '_')}_GPUS" for slug, model in GPU_MODELS.items() if model.gcp}
)
"""GPU model to the name of its regional quota, for the models that Google offers."""
ALL_REGIONS: Final = "GPUS_ALL_REGIONS"
"""GPUs of every model in all regions."""
NAMES: Final = frozenset(
    {"CPUS", ALL_REGIONS, *METRICS.values(), *(f"PREEMPTIBLE_{metric}" for metric in METRICS.values())}
)
"""Every quota that a machine can count against."""
_BY_FAMILY: Final = MappingProxyType({"h100": "NVIDIA_H100"})
"""Models without an on-demand quota of their own, to their family in the common quota."""
_FAMILY_QUOTA: Final = "GPUS-PER-GPU-FAMILY-per-project-region"
_NEW_PROJECT_CPUS: Final = 8
"""The smallest value known for a new project in a region; most have more. Recalled, not read."""


def _quota(
    name: str, title: str, unit: str, *, project: str, region: str, quota_id: str, default: int = 0, family: str = ""
) -> Quota:
    dimensions = {} if region == EVERYWHERE else {"region": region, **({"gpu_family": family} if family else {})}
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


def _gpu_quota(model: GpuModel, project: str, region: str, *, spot: bool) -> Quota:
    metric, title, quota_id, family = METRICS[model.slug], model.product, "", ""
    if spot:
        metric, title = f"PREEMPTIBLE_{metric}", f"preemptible {title}"
    elif model.slug in _BY_FAMILY:
        family, title, quota_id = _BY_FAMILY[model.slug], f"{title}, in the quota per GPU family", _FAMILY_QUOTA
    return _quota(
        metric, title, "GPUs", project=project, region=region, quota_id=quota_id or _regional(metric), family=family
    )


def _regional(metric: str) -> str:
    return f"{metric.replace('_', '-')}-per-project-region"


def gcp_claims(group: MachineGroup, placement: Placement, project: str) -> tuple[Claim, ...]:
    """Return the claim on each quota: all machines of the group, each of the type that uses the most of it."""
    most: dict[Quota, tuple[int, str]] = {}

    def claim(quota: Quota, amount: int, name: str) -> None:
        most[quota] = max(most.get(quota, (0, "")), (amount, name))

    region = placement.region
    for name in group.types:
        machine = gce_type(name)
        if group.attached_gpu is not None:
            machine = attach(machine, gpu_model(group.attached_gpu), group.attached_gpus)
        if machine.gpu is not None:
            claim(_gpu_quota(machine.gpu, project, region, spot=placement.spot), machine.gpus, name)
            everywhere = _quota(
                ALL_REGIONS, "of all models in all regions", "GPUs", project=project, region=EVERYWHERE,
                quota_id="GPUS-ALL-REGIONS-per-project",
            )  # fmt: skip
            claim(everywhere, machine.gpus, name)
        if name.startswith(("n1-", "e2-")):
            cpus = _quota(
                "CPUS", "CPUs of N1 and E2", "CPUs", project=project, region=region, quota_id=_regional("CPUS"),
                default=_NEW_PROJECT_CPUS,
            )  # fmt: skip
            claim(cpus, machine.vcpus, name)
    return tuple(
        Claim(quota=quota, group=group, spot=placement.spot, machine=name, each=amount)
        for quota, (amount, name) in most.items()
    )
