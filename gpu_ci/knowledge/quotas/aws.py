"""The EC2 quota of each instance type: vCPUs per family and region, on-demand and Spot separately.

Codes, names and defaults: AWS's pages on Service Quotas and EC2 Spot limits, and several public tools that list them,
one of them checked against an account on 2026-07-27. In a new account all G, VT and P quotas are 0.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from gpu_ci.knowledge.machines import InstanceType
from gpu_ci.knowledge.machines.groups import MachineGroup, Placement
from gpu_ci.knowledge.quotas.claim import Claim, Quota
from gpu_ci.knowledge.regions import Cloud

TITLES = MappingProxyType(
    {
        "L-DB2E81BA": ("Running On-Demand G and VT instances", 0),
        "L-3819A6DF": ("All G and VT Spot Instance Requests", 0),
        "L-417A185B": ("Running On-Demand P instances", 0),
        "L-7212CCBC": ("All P4, P3 and P2 Spot Instance Requests", 0),
        "L-C4BD4855": ("All P5 Spot Instance Requests", 0),
        "L-1216C47A": ("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 5),
        "L-34B43A08": ("All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 5),
    }
)
"""Quota code to its name and its value in a new account."""

FAMILIES = MappingProxyType(
    {
        "g": (re.compile(r"(gr?|vt)\d"), "L-DB2E81BA", "L-3819A6DF"),
        "p4": (re.compile(r"p[234]"), "L-417A185B", "L-7212CCBC"),
        "p5": (re.compile(r"p5"), "L-417A185B", "L-C4BD4855"),
        "p6": (re.compile(r"p6"), "L-417A185B", None),
        "standard": (re.compile(r"[acdhimrtz]\d"), "L-1216C47A", "L-34B43A08"),
    }
)
"""Quota family to the beginning of its types' names, its on-demand quota and its Spot quota. They cover every type in
`EC2_TYPES`. The Spot quota of P6 is not in any list that was read."""


def quota_family(instance_type: str) -> str:
    """Return the quota family that a name belongs to; empty where it is not known."""
    return next((family for family, (begins, *_) in FAMILIES.items() if begins.match(instance_type)), "")


def quota_code(machine: InstanceType, *, spot: bool) -> str | None:
    """Return the code of the quota that an instance type counts against; None where it is not known."""
    family = machine.quota_family or quota_family(machine.name)
    if not family:
        return None
    _, on_demand, spot_code = FAMILIES[family]
    return spot_code if spot else on_demand


def _quota(code: str, region: str) -> Quota:
    title, default = TITLES[code]
    return Quota(
        cloud=Cloud.AWS,
        region=region,
        name=code,
        title=title,
        unit="vCPUs",
        default=default,
        command=(
            f"aws service-quotas request-service-quota-increase --region {region} --service-code ec2 "
            f"--quota-code {code} --desired-value {{value}}"
        ),
    )


def aws_claims(group: MachineGroup, placement: Placement) -> tuple[Claim, ...]:
    """Return the claim on each quota: all machines of the group, each of the largest type of that quota."""
    largest: dict[str, tuple[int, str]] = {}
    for name in group.types:
        machine = group.catalogue.ec2(name)
        code = quota_code(machine, spot=placement.spot)
        if code is not None:
            largest[code] = max(largest.get(code, (0, "")), (machine.vcpus, name))
    return tuple(
        Claim(quota=_quota(code, placement.region), group=group, spot=placement.spot, machine=name, each=vcpus)
        for code, (vcpus, name) in sorted(largest.items())
    )
