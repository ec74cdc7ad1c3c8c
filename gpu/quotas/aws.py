"""Which EC2 quota an instance type counts against: vCPUs of a family, on-demand and Spot apart, a region each.

Codes, names and defaults: AWS's Service Quotas and EC2 Spot limits pages, and several public tools that list them,
one of them checked against an account on 2026-07-27. All G, VT and P quotas are 0 in a new account. The families of
P6 have no Spot quota that the sources agree on, so they are not in the table.
"""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType

from gpu.machines import ec2_type
from gpu.nearest import UnknownName
from gpu.quotas.claim import Claim, Demand, Quota
from gpu.regions import Cloud

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
"""Quota code to its name and to what a new account has."""

_CODES = (
    (re.compile(r"(gr?|vt)\d"), "L-DB2E81BA", "L-3819A6DF"),
    (re.compile(r"p[234]"), "L-417A185B", "L-7212CCBC"),
    (re.compile(r"p5"), "L-417A185B", "L-C4BD4855"),
    (re.compile(r"[acdhimrtz]\d"), "L-1216C47A", "L-34B43A08"),
)
"""How a type begins, its on-demand and its Spot quota."""


def quota_code(instance_type: str, *, spot: bool) -> str:
    """The code of the quota that a type counts against."""
    for begins, on_demand, spot_code in _CODES:
        if begins.match(instance_type):
            return spot_code if spot else on_demand
    raise UnknownName("quota family of EC2", instance_type.partition(".")[0], ("g4dn", "g5", "g6", "m7i", "p4d", "p5"))


@cache
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


@cache
def aws_claims(demand: Demand) -> tuple[Claim, ...]:
    """What a demand could use of each quota: all its machines, each of its largest type of that quota."""
    largest: dict[str, tuple[int, str]] = {}
    for name in demand.machines:
        code = quota_code(name, spot=demand.spot)
        largest[code] = max(largest.get(code, (0, "")), (ec2_type(name).vcpus, name))
    return tuple(
        Claim(quota=_quota(code, demand.region), demand=demand, machine=name, each=vcpus)
        for code, (vcpus, name) in sorted(largest.items())
    )
