"""Whether there are such regions and zones as a stack file names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config.faults import Fault
from config.stated import inner, listed_at
from gpu.machines.zones import AMAZON_ZONES, GOOGLE_ZONES
from gpu.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from config.stated import Stated


def regions_are_known(stated: Stated) -> Iterator[Fault]:
    """What stands in a region that there is not is made nowhere."""
    yield from _region("aws.region", stated.of("aws").get("region"), AMAZON_ZONES)
    yield from _region("gcp.region", stated.of("gcp").get("region"), GOOGLE_ZONES)
    for name, repository in stated.entries("artifact-registry"):
        yield from _region(f"artifact-registry.{name}.region", repository.get("region"), GOOGLE_ZONES)
    for name, runner in stated.entries("runners"):
        for index, region in listed_at(inner(runner, "cirun-aws"), "regions"):
            yield from _region(f"runners.{name}.cirun-aws.regions[{index}]", region, AMAZON_ZONES)


def _region(path: str, region: str | None, known: Mapping[str, object]) -> Iterator[Fault]:
    if region is not None and region not in known:
        yield Fault(path, f'"{region}" is not a known region', did_you_mean(region, known))


def zones_are_known(stated: Stated) -> Iterator[Fault]:
    """A zone's letter is soon mistaken, and a region has few of them."""
    region = str(stated.of("aws").get("region"))
    for zone in inner(stated.of("network"), "zones"):
        # One of another region is told of by another rule.
        if region in AMAZON_ZONES and zone[:-1] == region and zone not in AMAZON_ZONES[region]:
            yield _unknown(f"network.zones.{zone}", zone, region, AMAZON_ZONES[region])
    groups = {f"runners.{name}.cirun-gcp": inner(runner, "cirun-gcp") for name, runner in stated.entries("runners")}
    for path, group in {"host-image": stated.of("host-image"), **groups}.items():
        for index, zone in listed_at(group, "zones"):
            yield from _google(f"{path}.zones[{index}]", zone)


def _google(path: str, zone: str) -> Iterator[Fault]:
    region, _, letter = zone.rpartition("-")
    yield from _region(path, region, GOOGLE_ZONES)
    # What Google sets up for AI beside a region is named apart, as in us-south1-ai1b, and is not listed.
    if region in GOOGLE_ZONES and zone not in GOOGLE_ZONES[region] and len(letter) == 1:
        yield _unknown(path, zone, region, GOOGLE_ZONES[region])


def _unknown(path: str, zone: str, region: str, zones: tuple[str, ...]) -> Fault:
    return Fault(path, f"{region} has no zone {zone}", f"write one of {', '.join(zones)}")


ZONE_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (regions_are_known, zones_are_known)
