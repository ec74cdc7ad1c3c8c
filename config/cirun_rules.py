"""What must hold between the sections that concern cirun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from config.faults import Fault
from config.stated import inner, listed_at
from config.translate import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

CLOUDS: Final = ("aws", "gcp")


def cirun_is_let_in(stated: Stated) -> Iterator[Fault]:
    """A runner that cirun serves needs a way in for cirun, in that cloud."""
    for cloud in CLOUDS:
        needy = [
            f"runners.{name}"
            for name, runner in stated.part("runners").items()
            if isinstance(runner, Mapping) and f"cirun-{cloud}" in runner
        ]
        if needy and stated.part("cirun").get(cloud) is not True:
            verb = "needs" if len(needy) == 1 else "need"
            yield Fault(f"cirun.{cloud}", f"not on, and {listed(needy)} {verb} it", f"state cirun: {{{cloud}: true}}")


def every_region_has_an_image(stated: Stated) -> Iterator[Fault]:
    """An AMI exists in one region alone."""
    for name, runner in stated.entries("runners"):
        path, served = f"runners.{name}.cirun-aws", inner(runner, "cirun-aws")
        regions, images = dict(listed_at(served, "regions")), inner(served, "images")
        for index, region in regions.items() if images else ():
            if region not in images:
                yield Fault(f"{path}.regions[{index}]", f"{region} has no image", f"state images: {{{region}: ami-…}}")
        for region in images if regions else ():
            if region not in regions.values():
                yield Fault(f"{path}.images.{region}", "is in no region of regions", nearest(region, regions.values()))


def access_leads_to_runners(stated: Stated) -> Iterator[Fault]:
    """What no entry names is started for nobody, and a job that asks for it waits for a day."""
    access = {name: entry for name, entry in inner(stated.of("cirun"), "access").items() if isinstance(entry, Mapping)}
    served = _served(stated)
    for name, entry in access.items():
        for index, runner in listed_at(entry, "runners"):
            path = f"cirun.access.{name}.runners[{index}]"
            if runner not in stated.names("runners"):
                yield Fault(path, f'no runner is called "{runner}"', nearest(runner, served))
            elif runner not in served:
                yield Fault(path, f"cirun does not serve {runner}", nearest(runner, served))
    named = {runner for entry in access.values() for _, runner in listed_at(entry, "runners")}
    for runner in served:
        if access and runner not in named:
            yield Fault(
                f"runners.{runner}", "no entry of cirun.access names it", "name it in one, or nobody can start it"
            )


def _served(stated: Stated) -> list[str]:
    keys = {f"cirun-{cloud}" for cloud in CLOUDS}
    return [
        name
        for name, runner in stated.part("runners").items()
        if isinstance(runner, Mapping) and not keys.isdisjoint(runner)
    ]


CIRUN_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    cirun_is_let_in,
    every_region_has_an_image,
    access_leads_to_runners,
)
