"""What must hold between the sections that concern cirun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from config.cirun import cirun_label
from config.faults import Fault, listed
from config.gpu_tests import RUN_LABEL, SKIP_LABEL
from config.stated import inner, listed_at
from gpu.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

CLOUDS: Final = ("aws", "gcp")
ONE_LINE: Final = re.compile(
    r"cirun-(aws|gcp|azure|do|oracle|openstack)-[a-z0-9.-]+-(amazon|centos|debian|fedora|rhel|rocky|ubuntu|windows)[a-z0-9.-]*"
)
"""A label that names a machine and its image, in place of an entry in cirun's file."""


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
                yield Fault(
                    f"{path}.images.{region}", "is in no region of regions", did_you_mean(region, regions.values())
                )


def access_leads_to_runners(stated: Stated) -> Iterator[Fault]:
    """What no entry names is started for nobody, and a job that asks for it waits for a day."""
    access = {name: entry for name, entry in inner(stated.of("cirun"), "access").items() if isinstance(entry, Mapping)}
    served = _served(stated)
    for name, entry in access.items():
        for index, runner in listed_at(entry, "runners"):
            path = f"cirun.access.{name}.runners[{index}]"
            if runner not in stated.names("runners"):
                yield Fault(path, f'no runner is called "{runner}"', did_you_mean(runner, served))
            elif runner not in served:
                yield Fault(path, f"cirun does not serve {runner}", did_you_mean(runner, served))
    named = {runner for entry in access.values() for _, runner in listed_at(entry, "runners")}
    for runner in served:
        if access and runner not in named:
            yield Fault(
                f"runners.{runner}", "no entry of cirun.access names it", "name it in one, or nobody can start it"
            )


def labels_are_one_runner_s(stated: Stated) -> Iterator[Fault]:
    """A label that two runners have gives a job either of them, and one that cirun reads as a machine gives it neither.

    `cirun-CLOUD-TYPE-IMAGE` starts that machine without any entry of a file (AktechLabs/cirun-docs, 18 May 2026).
    """
    served = _served(stated)
    taken = {name: name for name in stated.names("runners") if name not in served}
    for name in served:
        label = cirun_label(name)
        if label in taken:
            wrong = f"a job asks for it as {label}, and for runners.{taken[label]} as well"
            yield Fault(f"runners.{name}", wrong, "give one of them a name that differs in more than cirun-")
        elif ONE_LINE.fullmatch(label):
            wrong = f"cirun reads its label {label} as CLOUD-TYPE-IMAGE, and starts that machine"
            yield Fault(f"runners.{name}", wrong, "name it after what it is for, or put the cloud's name last")
        taken.setdefault(label, name)


def gpu_tests_have_a_runner(stated: Stated) -> Iterator[Fault]:
    """A repository's workflow asks for a label of cirun's; which one is nobody's guess."""
    served = _served(stated)
    for name, entry in stated.entries("gpu-tests"):
        path, runner = f"gpu-tests.{name}", entry.get("runner")
        if not served:
            yield Fault(path, "there is no runner that cirun serves", "state one in runners, or leave gpu-tests out")
        elif len(served) > 1 and stated.part("gpu-tests", name).get("runner") is None:
            yield Fault(path, f"cirun serves {listed(served)}, and no runner is named", f"state runner: {served[0]}")
        elif isinstance(runner, str) and runner not in served:
            known = stated.names("runners")
            wrong = f"cirun does not serve {runner}" if runner in known else f'no runner is called "{runner}"'
            yield Fault(f"{path}.runner", wrong, did_you_mean(runner, served))
        labels = (entry.get("run-label") or RUN_LABEL, entry.get("skip-label") or SKIP_LABEL)
        if len({str(label).casefold() for label in labels}) == 1:
            yield Fault(f"{path}.skip-label", "it is the run label too", "give them two names")


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
    labels_are_one_runner_s,
    gpu_tests_have_a_runner,
)
