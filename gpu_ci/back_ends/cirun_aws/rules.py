"""Rules of the section `cirun-aws` of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.cirun_aws.section import CirunAwsSection
from gpu_ci.back_ends.shared.cirun import rules
from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.aws import types_are_known, unknown_region, unknown_zone
from gpu_ci.stack_file.rules.runners import other_gpus
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.settings import Settings


def ec2_machines_have_the_gpu(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Check the instance types, and their GPU against the runner's."""
    for name, runner, section in settings.served(CirunAwsSection):
        yield from types_are_known(f"runners.{name}.cirun-aws", section.instance_types, settings, stated, gpu=True)
        yield from other_gpus(name, runner.needs.gpu, section.instance_types, settings.machines.ec2_types)


def every_region_has_an_image(settings: Settings) -> Iterator[Fault]:
    """Compare regions and images."""
    for name, _, section in settings.served(CirunAwsSection):
        path = f"runners.{name}.cirun-aws"
        for index, region in enumerate(section.regions):
            yield from unknown_region(f"{path}.regions[{index}]", region, AWS_ZONES)
            if region not in section.images:
                fix = f"state images: {{{region}: ami-…}}"
                yield Fault(f"{path}.regions[{index}]", f"{region} has no image", fix)
        for region in section.images:
            if region not in section.regions:
                yield Fault(f"{path}.images.{region}", "is not in regions", did_you_mean(region, section.regions))


def networks_are_in_the_regions(settings: Settings) -> Iterator[Fault]:
    """Compare zones and subnets with the regions of a runner."""
    for name, _, section in settings.served(CirunAwsSection):
        path = f"runners.{name}.cirun-aws"
        for index, zone in enumerate(section.zones):
            known = AWS_ZONES.get(region_of(zone), ())
            if region_of(zone) not in section.regions:
                yield Fault(f"{path}.zones[{index}]", f"{zone} is in none of its regions", "add the region")
            elif known and zone not in known:
                yield unknown_zone(f"{path}.zones[{index}]", zone, known)
        for region in section.subnets:
            if region not in section.regions:
                yield Fault(f"{path}.subnets.{region}", "is not in regions", did_you_mean(region, section.regions))
        if section.subnets:
            for index, region in enumerate(section.regions):
                if region not in section.subnets:
                    fix = f"state subnets: {{{region}: [subnet-…]}}, from the output cirun_aws"
                    yield Fault(f"{path}.regions[{index}]", f"{region} has no subnet, but other regions have", fix)


RULES: Final[tuple[Rule, ...]] = (every_region_has_an_image, networks_are_in_the_regions, *rules.RULES)
REFERENCES: Final[tuple[Reference, ...]] = (ec2_machines_have_the_gpu, *rules.REFERENCES)
