"""Rules of stated machine types: their facts are plausible, and do not contradict what the tables know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.knowledge.machines import EC2_TYPES, GPU_MODELS, InstanceType, MachineType, gce_type
from gpu_ci.knowledge.machines import aws as ec2
from gpu_ci.knowledge.machines import gcp as gce
from gpu_ci.knowledge.nearest import UnknownName, did_you_mean
from gpu_ci.knowledge.quotas.aws import quota_family
from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.instance_types import InstanceTypeSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import mebibytes

LEAST_MIB: Final = 512
MOST_MIB: Final = 64 * 1024
"""The memory for each vCPU of any type that a cloud offers is between these (EC2's u-6tb1: 13.7 GiB; x1e: 30.5)."""


def stated_types_have_plausible_facts(settings: Settings) -> Iterator[Fault]:
    """Check the spelling, the processor, the GPU and the proportion of memory."""
    for name, stated in settings.instance_types.items():
        path, aws = f"instance-types.{name}", stated.cloud == "aws"
        if ("." in name) != aws:
            spelling = "family.size, as in g4dn.xlarge" if aws else "family-kind-size, as in n1-standard-4"
            yield Fault(path, f'"{name}" is not how {stated.cloud} spells its machine types', f"write {spelling}")
        elif reason := (ec2 if aws else gce).unsuitable(name):
            yield Fault(path, f"{name} {reason}", "remove it")
        if stated.gpu is not None and stated.gpu not in GPU_MODELS:
            fix = did_you_mean(stated.gpu, GPU_MODELS)
            yield Fault(f"{path}.gpu", f'"{stated.gpu}" is not a known GPU model', fix)
        elif stated.gpu is not None and not aws and GPU_MODELS[stated.gpu].gcp is None:
            yield Fault(f"{path}.gpu", f"Google Cloud does not offer {stated.gpu}", "state the GPU that it has")
        each = mebibytes(stated.memory) / stated.vcpus
        if not LEAST_MIB <= each <= MOST_MIB:
            problem = f"{stated.memory} for {stated.vcpus} vCPUs is not plausible"
            yield Fault(f"{path}.memory", problem, "state the memory of the whole machine, as its cloud publishes it")


def stated_types_agree_with_the_tables(settings: Settings) -> Iterator[Fault]:
    """Compare the facts of a known type, the GPU of a known family, and the quota family that the name shows."""
    for name, stated in settings.instance_types.items():
        path = f"instance-types.{name}"
        known = _known(name, stated)
        if known is not None:
            different = [key for key, value in _facts(stated).items() if value is not None and value != _of(known)[key]]
            if different:
                facts = listed([f"{key}: {_of(known)[key]}" for key in different])
                yield Fault(path, f"contradicts the table of gpu-ci, which has {facts}", "correct it, or remove it")
            if isinstance(known, ec2.InstanceType) and stated.instance_store is not None:
                yield from _store(path, mebibytes(stated.instance_store) * 1024**2 / 1e9, known.nvme_gb)
            continue
        family = name.partition(".")[0]
        models = {one.gpu.slug if one.gpu else "no GPU" for one in EC2_TYPES.values() if one.family == family}
        if models and models != {stated.gpu or "no GPU"}:
            yield Fault(f"{path}.gpu", f"types of {family} have {listed(sorted(models))}", "state that")
        shown = quota_family(name)
        if stated.quota_family != "by-name" and shown and shown != stated.quota_family:
            problem = f"the name {name} belongs to the quota family {shown}"
            yield Fault(f"{path}.quota-family", problem, "remove quota-family")


def _store(path: str, gb: float, known: int) -> Iterator[Fault]:
    # Sizes are stated in binary units and published in decimal ones, each rounded.
    if abs(gb - known) > known * 0.05:
        problem = f"contradicts the table of gpu-ci, which has {known} GB"
        yield Fault(f"{path}.instance-store", problem, "correct it, or remove it")


def _known(name: str, stated: InstanceTypeSettings) -> InstanceType | MachineType | None:
    """Return the type of that name in the tables."""
    if stated.cloud == "aws":
        return EC2_TYPES.get(name)
    try:
        return gce_type(name)
    except UnknownName:
        return None


def _facts(stated: InstanceTypeSettings) -> dict[str, object]:
    return {
        "vcpus": stated.vcpus,
        "memory": f"{mebibytes(stated.memory)}Mi",
        "gpu": stated.gpu or "none",
        "gpus": stated.gpus or 0,
        "max-pods": stated.max_pods,
        "boot-disk": None if stated.cloud == "aws" else stated.boot_disk,
    }


def _of(known: InstanceType | MachineType) -> dict[str, object]:
    return {
        "vcpus": known.vcpus,
        "memory": f"{known.memory_mib}Mi",
        "gpu": known.gpu.slug if known.gpu else "none",
        "gpus": known.gpus,
        "max-pods": known.eni_pods if isinstance(known, ec2.InstanceType) else None,
        "boot-disk": known.boot_disk if isinstance(known, gce.MachineType) else None,
    }


RULES: Final[tuple[Rule, ...]] = (stated_types_have_plausible_facts, stated_types_agree_with_the_tables)
