"""The section `instance-types`: the facts of machine types that the tables of gpu-ci lack."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gpu_ci.knowledge.machines import GPU_MODELS, Catalogue, InstanceType, MachineType
from gpu_ci.stack_file.sections.section import Section, kebab
from gpu_ci.stack_file.values.general import Invalid, Matching, Name, Size, mebibytes

TypeName = Annotated[
    str,
    Field(max_length=60),
    Matching(
        r"[a-z][a-z0-9-]*\.[a-z0-9-]+|[a-z][a-z0-9]*(-[a-z0-9]+)+",
        "a machine type",
        "write it as the cloud spells it, as in g4dn.xlarge or n1-standard-4",
    ),
]


class InstanceTypeSettings(Section):
    """The facts of one machine type, as its cloud publishes them. Every check uses them and says so."""

    cloud: Literal["aws", "gcp"]
    vcpus: Annotated[int, Field(ge=1, le=2048)]
    memory: Size
    """The memory that the cloud sells; the operating system sees less."""
    gpu: Name | None = None
    """The GPU model, as in `needs.gpu` of a runner; nothing for a type without a GPU."""
    gpus: Annotated[int, Field(ge=1, le=16)] | None = None
    """The number of whole GPUs."""
    max_pods: Annotated[int, Field(ge=4, le=1000)] | None = None
    """On AWS: the pods that the network interfaces have addresses for (`eni-max-pods.txt` of the VPC CNI)."""
    instance_store: Size | None = None
    """On AWS: the size of all instance-store volumes together."""
    quota_family: Literal["by-name", "g", "p4", "p5", "standard"] = "by-name"
    """On AWS: the quota that it counts against, where the name does not show it."""
    boot_disk: Literal["pd-balanced", "hyperdisk-balanced"] = "pd-balanced"
    """On Google Cloud: the type of its boot disk."""
    price_per_hour: Annotated[float, Field(gt=0, le=1000)] | None = None
    """The price of an hour on demand in US dollars. Without it the cost is not checked."""

    @model_validator(mode="after")
    def _facts_belong_together(self) -> InstanceTypeSettings:
        if (self.gpu is None) != (self.gpus is None):
            missing = "gpus" if self.gpus is None else "gpu"
            raise Invalid(f"{missing} is missing", "state both gpu and gpus, or neither")
        other = ("boot_disk",) if self.cloud == "aws" else ("max_pods", "instance_store", "quota_family")
        foreign = [kebab(name) for name in other if name in self.model_fields_set]
        if foreign:
            raise Invalid(f"{foreign[0]} is not for cloud: {self.cloud}", f"remove {foreign[0]}")
        if self.cloud == "aws" and self.max_pods is None:
            raise Invalid("max-pods is missing", "state max-pods, which decides how many pods fit on a node")
        return self


def catalogue(stated: Mapping[str, InstanceTypeSettings]) -> Catalogue:
    """Return the tables with the stated types. A type with an unknown GPU is not included; a rule reports it."""
    known = {name: one for name, one in stated.items() if one.gpu is None or one.gpu in GPU_MODELS}
    return Catalogue(
        stated=MappingProxyType(
            {name: _ec2(name, one) if one.cloud == "aws" else _gce(name, one) for name, one in known.items()}
        )
    )


def _ec2(name: str, stated: InstanceTypeSettings) -> InstanceType:
    model = GPU_MODELS[stated.gpu] if stated.gpu else None
    return InstanceType(
        name=name,
        vcpus=stated.vcpus,
        memory_mib=mebibytes(stated.memory),
        enis=0,
        addresses=0,
        gpu=model,
        gpus=stated.gpus or 0,
        gpu_memory_mib=model.memory_mib if model else 0,
        nvme_gb=mebibytes(stated.instance_store) * 1024**2 // 10**9 if stated.instance_store else 0,
        stated=True,
        stated_pods=stated.max_pods or 0,
        hour=_price(stated),
        quota_family="" if stated.quota_family == "by-name" else stated.quota_family,
    )


def _gce(name: str, stated: InstanceTypeSettings) -> MachineType:
    return MachineType(
        name=name,
        vcpus=stated.vcpus,
        memory_mib=mebibytes(stated.memory),
        gpu=GPU_MODELS[stated.gpu] if stated.gpu else None,
        gpus=stated.gpus or 0,
        boot_disk=stated.boot_disk,
        stated=True,
        hour=_price(stated),
    )


def _price(stated: InstanceTypeSettings) -> Decimal | None:
    return None if stated.price_per_hour is None else Decimal(str(stated.price_per_hour))


def or_state(fix: str, name: str, cloud: str, *, gpu: bool) -> str:
    """Return the fix for an unknown type, followed by the lines of the stack file that state its facts."""
    facts = {"cloud": cloud, "vcpus": "8", "memory": "32Gi", **({"gpu": "t4", "gpus": "1"} if gpu else {})}
    if cloud == "aws":
        facts["max-pods"] = "58"
    listed = ", ".join(f"{key}: {value}" for key, value in facts.items())
    before = f"{fix} If not," if fix.endswith("?") else f"{fix}, or"
    return f"{before} state its facts, as in gpu-ci:instance-types: {{{name}: {{{listed}}}}}"
