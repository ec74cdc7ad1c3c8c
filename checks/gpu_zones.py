"""In which zones of Google Cloud a GPU is to be had.

Zones: SkyPilot's catalogue of Google Cloud, version 8 (undated, read in November 2026), for the models and regions that
it lists in full; `gcloud compute accelerator-types list` says what is so today. Of any other region nothing is known
here, and nothing is said. What zones there are at all is in `gpu.machines.zones`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHECK = "gpu-zones"


def _listed(**regions: str) -> Mapping[str, tuple[str, ...]]:
    """Regions, an underscore for each hyphen, each with the letters of its zones."""
    named = {name.replace("_", "-"): letters for name, letters in regions.items()}
    return {region: tuple(f"{region}-{letter}" for letter in letters) for region, letters in named.items()}


OFFERED = MappingProxyType(
    {
        "t4": _listed(
            us_central1="abcf", us_east1="cd", us_east4="abc", us_west1="ab", us_west2="bc", us_west3="b",
            us_west4="ab", europe_west1="bcd", europe_west2="ab", europe_west3="b", europe_west4="abc",
            europe_central2="bc", asia_east1="ac", asia_northeast1="ac", asia_south1="ab", asia_southeast1="abc",
            me_west1="bc", southamerica_east1="abc", northamerica_northeast1="c",
        ),
        "l4": _listed(
            us_central1="abc", us_east1="bcd", us_east4="ac", us_west1="abc", us_west4="ac", europe_west6="bc",
        ),
        "a100": _listed(us_central1="abcf", us_east1="b"),
    }
)  # fmt: skip
"""GPU model to region to the zones that have it."""


def gpu_zones(path: str, zones: Sequence[str], gpu: str) -> list[Verdict]:
    """Judge the zones at `path`, tried in turn, by whether the GPU is to be had in each."""
    known = OFFERED.get(gpu, {})
    regions = {zone: zone.rpartition("-")[0] for zone in zones}
    without = [zone for zone, region in regions.items() if region in known and zone not in known[region]]
    if not without:
        if any(region in known for region in regions.values()):
            return [Verdict(check=CHECK, level=Level.OK, subject=path, reason=f"{gpu} is to be had in its zones")]
        return []
    where = dict.fromkeys(zone for zone in without for zone in known[regions[zone]])
    all_of_them = len(without) == len(regions)
    reason = f"no {gpu} is to be had in {' and '.join(without)}"
    return [
        Verdict(
            check=CHECK,
            level=Level.ERROR if all_of_them else Level.WARNING,
            subject=path,
            reason=f"{reason}, and no other zone is named" if all_of_them else f"{reason}: it is tried for nothing",
            fix=f"name {' or '.join(where)}, or another GPU",
            chain=(f"gcloud compute accelerator-types list --filter=zone:{without[0]} says what is there today",),
        )
    ]
