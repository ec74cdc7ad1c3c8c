"""What Google Cloud asks, region by region as far as it was read.

Machines of a family cost so much for each vCPU, and a GPU so much beside it: the figures of single machine types in
the price calculator file of `Cyclenerd/google-cloud-pricing-cost-calculator` (2026-08-20, from Google's Billing API)
are such sums, so the parts are kept here and summed again. GPU prices are SkyPilot's (catalog v8, 2026) for T4; an
L4's share follows from two g2 types that differ in vCPUs and GPUs. Spot prices change up to once a day.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu.cost.prices import Price, Source, Unit
from gpu.machines import gce_type
from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALCULATOR = Source(name="Google Cloud pricing cost calculator file, from the Billing API", read="2026-08-20")
_SKYPILOT = Source(name="SkyPilot catalog v8, gcp/vms.csv", read="2026, first half")
_OLDER = Source(name="Google Cloud pricing cost calculator file", read="2025")
_COMMON = Source(name="Google's price lists as quoted in public estimates", read="2026", recalled=True)

_VCPU = {
    ("us-central1", "n1-standard"): ("0.0475", "0.0223", _CALCULATOR),
    ("us-east4", "n1-standard"): ("0.0535", "0.018225", _CALCULATOR),
    ("us-west4", "n1-standard"): ("0.0535", "0.020225", _CALCULATOR),
    ("us-central1", "g2-standard"): ("0.0367", "0.0220125", _CALCULATOR),
    ("us-central1", "e2-standard"): ("0.0335", None, _OLDER),
}
"""One vCPU with the family's memory for an hour: on demand, and on spot where that was read."""
_WHOLE = {("us-central1", "e2-medium"): ("0.0335", "0.0134", _CALCULATOR)}
"""Machine types that are no multiple of a vCPU."""
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
        "image-storage": Price(usd=Decimal("0.05"), unit=Unit.GB_MONTH, source=_COMMON),
    }
)
"""What costs the same in every region that is known here."""


def gce_price(name: str, region: str, *, spot: bool = False, gpu: str | None = None, gpus: int = 0) -> Price:
    """An hour of a machine type, with the GPUs that it brings or that are attached to it."""
    machine = gce_type(name)
    whole = _WHOLE.get((region, name))
    if whole is not None:
        total = _price(whole, spot=spot)
    else:
        family = name.rpartition("-")[0]
        total = _price(_found(_VCPU, region, family, "machine family"), spot=spot).times(machine.vcpus)
    brought = (machine.gpu.slug, machine.gpus) if machine.gpu else (gpu, gpus)
    if brought[0] and brought[1]:
        total += _price(_found(_GPU, region, brought[0], "GPU"), spot=spot).times(brought[1])
    return total


def gcp_disk_price(kind: str, region: str) -> Price:
    """A GB-month of disk."""
    if region not in _DISK:
        raise UnknownName("Google region with disk prices", region, _DISK)
    if kind not in _DISK[region]:
        raise UnknownName("kind of Google disk with a price", kind, _DISK[region])
    return Price(usd=Decimal(_DISK[region][kind]), unit=Unit.GB_MONTH, source=_CALCULATOR)


def gcp_price(item: str) -> Price:
    """The price of something that is neither machine nor disk."""
    try:
        return GCP_ITEMS[item]
    except KeyError:
        raise UnknownName("Google Cloud price", item, GCP_ITEMS) from None


_Row = tuple[str, str | None, Source]


def _price(row: _Row, *, spot: bool) -> Price:
    on_demand, cheaper, source = row
    return Price(
        usd=Decimal((cheaper if spot else None) or on_demand),
        unit=Unit.HOUR,
        source=source,
        bound=spot and cheaper is None,
    )


def _found(rows: Mapping[tuple[str, str], _Row], region: str, name: str, kind: str) -> _Row:
    try:
        return rows[region, name]
    except KeyError:
        regions = {place for place, known in rows if known == name}
        if not regions:
            raise UnknownName(f"{kind} with a price at Google", name, {known for _, known in rows}) from None
        raise UnknownName(f"Google region with prices of {name}", region, regions) from None
