"""Prices of Jarvis Labs, which are the same in all its regions.

A100 and A30: its price page, as api-evangelist/jarvislabs recorded it. The other models: SkyPilot's catalogue, whose
prices are the same or higher. A paused instance costs its storage only.
"""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.cost.prices import NoPrice, Price, Source, Unit
from gpu_ci.knowledge.machines.groups import Disk
from gpu_ci.knowledge.machines.jarvis import jarvis_type

TABLE: Final = "gpu_ci/knowledge/cost/prices_jarvis.py"

_PAGE: Final = Source(name="Jarvis Labs, price page", read="2026-09-20")
_SKYPILOT: Final = Source(name="SkyPilot catalog v8, jarvislabs/vms.csv", read="2026")
_HOUR: Final = MappingProxyType(
    {
        "l4": ("0.44", _SKYPILOT),
        "a30": ("0.41", _PAGE),
        "a100": ("0.89", _PAGE),
        "a100-80gb": ("1.49", _PAGE),
        "rtx-pro-6000": ("2.19", _SKYPILOT),
        "h100": ("3.49", _SKYPILOT),
        "h200": ("4.59", _SKYPILOT),
    }
)
"""GPU model to the price of an hour with one GPU."""
_STORAGE_GB_MONTH: Final = Decimal("0.10")


def jarvis_price(name: str) -> Price | NoPrice:
    """Return the price of an hour of an instance, for example of `2xL4`."""
    instance = jarvis_type(name)
    slug = instance.gpu.slug if instance.gpu is not None else ""
    if slug not in _HOUR:
        return NoPrice(item=f"{slug} of Jarvis Labs", table=TABLE, known=tuple(_HOUR))
    usd, source = _HOUR[slug]
    return Price(usd=Decimal(usd) * instance.gpus, unit=Unit.HOUR, source=source)


def jarvis_storage_price(disk: Disk) -> Price:
    """Return the price of the storage of an instance for a month, running or paused."""
    return Price(usd=disk.gib * _STORAGE_GB_MONTH, unit=Unit.MONTH, source=_PAGE)
