"""Prices of AWS in the two regions whose price lists were read.

Each block of figures names its source. On-demand prices of us-east-1 and us-west-2 are the same for every type in the
table. A spot price is that of the region's most expensive zone, because the zone cannot be chosen; local zones do not
count. Where no spot price was read, the on-demand price is an upper bound: EC2's spot price never exceeds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.cost.prices import NoPrice, Price, Source, Unit
from gpu_ci.knowledge.machines import EC2_TYPES
from gpu_ci.knowledge.machines.groups import Disk

TABLE: Final = "gpu_ci/knowledge/cost/prices_aws.py"

AWS_REGIONS = ("us-east-1", "us-west-2")
"""Regions with known prices."""

_KARPENTER = Source(
    name="Karpenter's price file, from AWS's price list for us-east-1", read="2026-01-19 and 2026-07-20"
)
_SKYPILOT = Source(name="SkyPilot catalog v8, aws/vms.csv", read="2026, first half")
_ADVISOR = Source(name="AWS Spot Instance Advisor, average saving of 30 days", read="2026-09-20")

_ON_DEMAND = """
g4dn.xlarge 0.526   g4dn.2xlarge 0.752   g4dn.4xlarge 1.204   g4dn.8xlarge 2.176   g4dn.12xlarge 3.912
g4dn.16xlarge 4.352 g4dn.metal 7.824
g5.xlarge 1.006     g5.2xlarge 1.212     g5.4xlarge 1.624     g5.8xlarge 2.448     g5.12xlarge 5.672
g5.16xlarge 4.096   g5.24xlarge 8.144    g5.48xlarge 16.288
g6.xlarge 0.8048    g6.2xlarge 0.9776    g6.4xlarge 1.3232    g6.8xlarge 2.0144    g6.12xlarge 4.6016
g6.16xlarge 3.3968  g6.24xlarge 6.6752   g6.48xlarge 13.3504
gr6.4xlarge 1.5392  gr6.8xlarge 2.4464   gr6f.4xlarge 1.066
g6f.large 0.202     g6f.xlarge 0.2375    g6f.2xlarge 0.475    g6f.4xlarge 0.95
g6e.xlarge 1.861    g6e.2xlarge 2.24208  g6e.4xlarge 3.00424  g6e.8xlarge 4.52856  g6e.12xlarge 10.49264
g6e.16xlarge 7.57719 g6e.24xlarge 15.06559 g6e.48xlarge 30.13118
g7e.2xlarge 3.363
p3.2xlarge 3.06     p3.8xlarge 12.24     p3.16xlarge 24.48    p3dn.24xlarge 31.212
p4d.24xlarge 21.957642 p4de.24xlarge 27.44705 p5.4xlarge 6.88   p5.48xlarge 55.04
p5en.48xlarge 63.296 p6-b200.48xlarge 113.9328
t3.nano 0.0052      t3.micro 0.0104      t3.small 0.0208      t3.medium 0.0416     t3.large 0.0832
t3.xlarge 0.1664    t3.2xlarge 0.3328
t2.nano 0.0058      t2.micro 0.0116      t2.small 0.023       t2.medium 0.0464     t2.large 0.0928
t2.xlarge 0.1856    t2.2xlarge 0.3712
t3a.nano 0.0047     t3a.micro 0.0094     t3a.small 0.0188     t3a.medium 0.0376    t3a.large 0.0752
t3a.xlarge 0.1504   t3a.2xlarge 0.3008
m5zn.large 0.1652   m5zn.xlarge 0.3303   m5zn.2xlarge 0.6607  m5zn.3xlarge 0.991   m5zn.6xlarge 1.982
m5zn.12xlarge 3.9641
"""
_PER_VCPU = """
m5 0.048     m5a 0.043      m5n 0.0595     m6i 0.048     m6a 0.0432    m6in 0.069615   m7i 0.0504   m7i-flex 0.04788
m7a 0.05796  m8i 0.05292    m8i-flex 0.050275            m8a 0.06086
c5 0.0425    c5a 0.0385     c6i 0.0425     c6a 0.03825   c6in 0.0567   c7i 0.044625    c7i-flex 0.04239375
c7a 0.05132  c8i 0.046855   c8i-flex 0.04451             c8a 0.053885
r5 0.063     r5a 0.0565     r5n 0.0745     r5b 0.0745    r6i 0.063     r6a 0.0567      r6in 0.087165
r7i 0.06615  r7a 0.076075   r8i 0.06946    r8i-flex 0.065985           r8a 0.07988
"""
"""Family to the price of a vCPU with its memory, where all sizes of the family have the same."""
_SPOT_BY_ZONE = {
    "us-east-1": """
        g4dn.xlarge 0.2158 g4dn.4xlarge 0.4540 g6.xlarge 0.4011 g6e.2xlarge 1.0895 g6e.4xlarge 1.1536
        g6e.12xlarge 6.0150 g6e.48xlarge 20.6400 p4d.24xlarge 8.19""",
    "us-west-2": """
        g4dn.xlarge 0.2479 g4dn.2xlarge 0.320 g4dn.4xlarge 0.4866 g4dn.12xlarge 1.75 g5.xlarge 0.513
        g5.12xlarge 3.37 g6.xlarge 0.4541 g6.4xlarge 0.90 g6e.2xlarge 1.6578 g6e.12xlarge 6.4585
        g6e.48xlarge 19.9005 p3.2xlarge 0.535 p3.8xlarge 3.08 p3dn.24xlarge 8.8""",
}
_SPOT_BY_SAVING = {"us-east-1": "g5.2xlarge 62 g6.2xlarge 46 g6e.8xlarge 62 p5.48xlarge 57", "us-west-2": ""}
"""Instance type to the percentage that spot is cheaper than on-demand."""


def _pairs(text: str) -> dict[str, Decimal]:
    words = text.split()
    return {name: Decimal(figure) for name, figure in zip(words[::2], words[1::2], strict=True)}


def _by_vcpus() -> dict[str, Decimal]:
    rates = _pairs(_PER_VCPU)
    return {
        machine.name: machine.vcpus * rates[machine.family] for machine in EC2_TYPES.values() if machine.family in rates
    }


def _spot(region: str) -> dict[str, Price]:
    saved = {
        name: Price(usd=EC2_PRICES[name].usd * (100 - percent) / 100, unit=Unit.HOUR, source=_ADVISOR)
        for name, percent in _pairs(_SPOT_BY_SAVING[region]).items()
    }
    read = {
        name: Price(usd=usd, unit=Unit.HOUR, source=_SKYPILOT) for name, usd in _pairs(_SPOT_BY_ZONE[region]).items()
    }
    return saved | read


EC2_PRICES: Mapping[str, Price] = MappingProxyType(
    {
        name: Price(usd=usd, unit=Unit.HOUR, source=_KARPENTER)
        for name, usd in (_by_vcpus() | _pairs(_ON_DEMAND)).items()
    }
)
"""Instance type to the price of an on-demand hour with Linux. Types without a known price are absent."""
_EC2_SPOT = {region: _spot(region) for region in AWS_REGIONS}

_EKS = Source(name="AWS, Amazon EKS pricing", read="2026-06")
_VPC = Source(name="AWS, Amazon VPC pricing", read="2026-03")
_CLOUDWATCH = Source(name="AWS, Amazon CloudWatch pricing, without the free tier", read="2026")
_COMMON = Source(name="AWS price lists as quoted in public estimates", read="2026")

AWS_ITEMS: Mapping[str, Price] = MappingProxyType(
    {
        "eks-standard": Price(usd=Decimal("0.10"), unit=Unit.HOUR, source=_EKS),
        "eks-extended": Price(usd=Decimal("0.60"), unit=Unit.HOUR, source=_EKS),
        "nat-gateway": Price(usd=Decimal("0.045"), unit=Unit.HOUR, source=_VPC),
        "nat-traffic": Price(usd=Decimal("0.045"), unit=Unit.GB, source=_VPC),
        "public-ipv4": Price(usd=Decimal("0.005"), unit=Unit.HOUR, source=_VPC),
        "ecr-storage": Price(usd=Decimal("0.10"), unit=Unit.GB_MONTH, source=_COMMON),
        "logs-ingestion": Price(usd=Decimal("0.50"), unit=Unit.GB, source=_COMMON),
        "logs-storage": Price(usd=Decimal("0.03"), unit=Unit.GB_MONTH, source=_COMMON),
        "alarm": Price(usd=Decimal("0.10"), unit=Unit.MONTH, source=_CLOUDWATCH),
        "metric": Price(usd=Decimal("0.30"), unit=Unit.MONTH, source=_CLOUDWATCH),
        "snapshot-storage": Price(usd=Decimal("0.05"), unit=Unit.GB_MONTH, source=_COMMON),
        "kms-key": Price(usd=Decimal("1.00"), unit=Unit.MONTH, source=_COMMON),
    }
)
"""Prices other than those of machines and disks."""

_GP3_GIB, _GP3_IOPS, _GP3_MIBPS = Decimal("0.08"), Decimal("0.005"), Decimal("0.04")
_GP3_FREE_IOPS, _GP3_FREE_MIBPS = 3000, 125


def aws_price(item: str, region: str) -> Price | NoPrice:
    """Return the price of one of `AWS_ITEMS`."""
    return AWS_ITEMS[item] if region in AWS_REGIONS else _no_price(region)


def ec2_price(name: str, region: str, *, spot: bool = False) -> Price | NoPrice:
    """Return the price of an hour of an instance type; on spot, the on-demand price as a bound if no other is known."""
    if region not in AWS_REGIONS:
        return _no_price(region)
    if name not in EC2_PRICES:
        return NoPrice(item=name, table=TABLE, known=())
    on_demand = EC2_PRICES[name]
    return _EC2_SPOT[region].get(name, replace(on_demand, bound=True)) if spot else on_demand


def ebs_price(disk: Disk, region: str) -> Price | NoPrice:
    """Return the price of a gp3 volume for a month."""
    if region not in AWS_REGIONS:
        return _no_price(region)
    usd = (
        disk.gib * _GP3_GIB
        + max(0, disk.iops - _GP3_FREE_IOPS) * _GP3_IOPS
        + max(0, disk.mibps - _GP3_FREE_MIBPS) * _GP3_MIBPS
    )
    return Price(usd=usd, unit=Unit.MONTH, source=_COMMON)


def _no_price(region: str) -> NoPrice:
    return NoPrice(item=f"AWS in {region}", table=TABLE, known=AWS_REGIONS)
