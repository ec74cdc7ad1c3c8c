"""Check that the zones of Google Cloud, or the region of Jarvis Labs, offer the GPU.

Zones: SkyPilot's catalogue of Google Cloud, version 8 (undated, read in November 2026), for the models and regions that
it lists completely. `gcloud compute accelerator-types list` prints the current state. Nothing is reported for other
regions. All zones that exist are in `gpu_ci.knowledge.machines.zones`, and the regions of Jarvis Labs in
`gpu_ci.knowledge.machines.jarvis`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gpu_ci.back_ends.offer import Offer, OwnMachines
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.machines.gcp import MachineType
from gpu_ci.knowledge.machines.jarvis import in_region
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "gpu-zones"


def _listed(**regions: str) -> Mapping[str, tuple[str, ...]]:
    """Return regions (an underscore for each hyphen) with their zones, from the letters of the zones."""
    named = {name.replace("_", "-"): letters for name, letters in regions.items()}
    return {region: tuple(f"{region}-{letter}" for letter in letters) for region, letters in named.items()}


OFFERED: Final = MappingProxyType(
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
"""GPU model to region to the zones that offer it."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the places of machines on Google Cloud and Jarvis Labs, and of the machine that verifies the host image."""
    for name, offer in stack.offers.items():
        own = offer.own
        if own is not None and own.cloud is Cloud.GCP:
            zones = tuple(dict.fromkeys(zone for placement in own.placements for zone in placement.zones))
            yield from _zones(own.places_key, zones, stack.settings.runners[name].needs.gpu)
        elif own is not None and own.cloud is Cloud.JARVIS:
            yield from _jarvis(offer, own)
    image = stack.settings.host_image
    if image is not None and image.mode == "controller":
        yield from _zones("host-image.zones", image.zones, image.verifier.gpu)


def _jarvis(offer: Offer, own: OwnMachines) -> Iterator[Verdict]:
    region = own.placements[0].region
    for one in offer.machines:
        if isinstance(one.type, MachineType) and not in_region(one.type, region):
            reason = f"{region} offers no {one.type.name}, only one H100 or H200 to an instance"
            yield error(CHECK, own.places_key, reason, "remove it, so that Jarvis Labs chooses a region with the GPU")


def _zones(path: str, zones: Sequence[str], gpu: str) -> Iterator[Verdict]:
    known = OFFERED.get(gpu, {})
    listed = [zone for zone in zones if region_of(zone) in known]
    without = [zone for zone in listed if zone not in known[region_of(zone)]]
    if listed and not without:
        yield ok(CHECK, path, f"all its zones offer {gpu}")
    if not without:
        return
    names, verb = " and ".join(without), "does" if len(without) == 1 else "do"
    offering = dict.fromkeys(zone for one in without for zone in known[region_of(one)])
    fix = f"use {' or '.join(offering)}, or another GPU"
    chain = (f"gcloud compute accelerator-types list --filter=zone:{without[0]} prints the current state",)
    if len(without) == len(zones):
        yield error(CHECK, path, f"{names} {verb} not offer {gpu}, and no other zone is stated", fix, chain)
    else:
        yield warning(CHECK, path, f"{names} {verb} not offer {gpu}: launches there always fail", fix, chain)
