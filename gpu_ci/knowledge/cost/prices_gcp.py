"""Prices of Google Cloud, for each region whose price list was read.

A machine costs a price per vCPU of its family, plus a price per GPU. The figures of single machine types in the price
calculator file of `Cyclenerd/google-cloud-pricing-cost-calculator` (2026-08-20, from Google's Billing API) are such
sums, so the tables keep the parts. GPU prices are SkyPilot's (catalog v8, 2026) for T4; the price of an L4 follows from
two g2 types that differ in vCPUs and GPUs. Spot prices change at most once a day.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.cost.prices import NoPrice, Price, Source, Unit
from gpu_ci.knowledge.machines import gce_type
from gpu_ci.knowledge.machines.groups import Disk

TABLE: Final = "gpu_ci/knowledge/cost/prices_gcp.py"

_CALCULATOR = Source(name="Google Cloud pricing cost calculator file, from the Billing API", read="2026-08-20")
_SKYPILOT = Source(name="SkyPilot catalog v8, gcp/vms.csv", read="2026, first half")
_OLDER = Source(name="Google Cloud pricing cost calculator file", read="2025")
_COMMON = Source(name="Google's price lists as quoted in public estimates", read="2026")
_ALERTING = Source(name="Google Cloud, Manage alerting costs, the announced price of a condition", read="2025")

_VCPU = {
    ("us-central1", "n1-standard"): ("0.0475", "0.0223", _CALCULATOR),
    ("us-east4", "n1-standard"): ("0.0535", "0.018225", _CALCULATOR),
    ("us-west4", "n1-standard"): ("0.0535", "0.020225", _CALCULATOR),
    ("us-central1", "g2-standard"): ("0.0367", "0.0220125", _CALCULATOR),
    ("us-central1", "e2-standard"): ("0.0335", None, _OLDER),
}
"""Region and family to the hourly price of one vCPU with its memory: on demand, and on spot where it is known."""
_WHOLE = {("us-central1", "e2-medium"): ("0.0335", "0.0134", _CALCULATOR)}
"""Machine types that are not priced by the vCPU."""
_GPU = {
    ("us-central1", "t4"): ("0.35", "0.175", _SKYPILOT),
    ("us-east4", "t4"): ("0.37", "0.1644", _SKYPILOT),
    ("us-west4", "t4"): ("0.37", "0.1258", _SKYPILOT),
    ("europe-west4", "t4"): ("0.3675", "0.175", _SKYPILOT),
    ("us-central1", "l4"): ("0.56", "0.3359", _CALCULATOR),
}
_DISK = {
    "us-central1": {"pd-standard": "0.04", "pd-balanced": "0.10", "pd-ssd": "0.17"},
    "us-east4": {"pd-standard": "0.044", "pd-balanced": "0.11", "pd-ssd": "0.187"},
    "europe-west4": {"pd-standard": "0.044", "pd-balanced": "0.11", "pd-ssd": "0.187"},
}

GCP_ITEMS: Mapping[str, Price] = MappingProxyType(
    {
        "registry-storage": Price(usd=Decimal("0.10"), unit=Unit.GB_MONTH, source=_COMMON),
        "public-ipv4": Price(usd=Decimal("0.005"), unit=Unit.HOUR, source=_COMMON),
        "alarm": Price(usd=Decimal("1.50"), unit=Unit.MONTH, source=_ALERTING, bound=True),
        "image-storage": Price(usd=Decimal("0.05"), unit=Unit.GB_MONTH, source=_COMMON),
    }
)
"""Prices that are the same in every region of the tables."""


def gce_price(name: str, region: str, *, spot: bool = False, gpu: str | None = None, gpus: int = 0) -> Price | NoPrice:
    """Return the price of an hour of a machine type, with its own GPUs or the attached ones."""
    machine = gce_type(name)
    whole = _WHOLE.get((region, name))
    family = name.rpartition("-")[0]
    total = _hour(whole, spot=spot) if whole else _lookup(_VCPU, region, family, spot=spot, times=machine.vcpus)
    if machine.gpu is not None:
        gpu, gpus = machine.gpu.slug, machine.gpus
    if gpu is None or isinstance(total, NoPrice):
        return total
    accelerators = _lookup(_GPU, region, gpu, spot=spot, times=gpus)
    return accelerators if isinstance(accelerators, NoPrice) else total.plus(accelerators)


def gcp_disk_price(disk: Disk, region: str) -> Price | NoPrice:
    """Return the price of a persistent disk for a month."""
    if disk.kind not in _DISK.get(region, {}):
        known = tuple(place for place, kinds in _DISK.items() if disk.kind in kinds)
        return NoPrice(item=f"{disk.kind} in {region}", table=TABLE, known=known)
    return Price(usd=disk.gib * Decimal(_DISK[region][disk.kind]), unit=Unit.MONTH, source=_CALCULATOR)


_Row = tuple[str, str | None, Source]


def _hour(row: _Row, *, spot: bool) -> Price:
    on_demand, cheaper, source = row
    usd = Decimal((cheaper if spot else None) or on_demand)
    return Price(usd=usd, unit=Unit.HOUR, source=source, bound=spot and cheaper is None)


def _lookup(rows: Mapping[tuple[str, str], _Row], region: str, name: str, *, spot: bool, times: int) -> Price | NoPrice:
    row = rows.get((region, name))
    if row is not None:
        return _hour(row, spot=spot).times(times)
    return NoPrice(
        item=f"{name} in {region}", table=TABLE, known=tuple(place for place, known in rows if known == name)
    )
