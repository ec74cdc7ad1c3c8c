"""Rules of the section `cirun-gcp` of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.cirun_gcp.section import CirunGcpSection
from gpu_ci.back_ends.shared.cirun import rules
from gpu_ci.knowledge.machines import GCE_TYPES, MachineType, is_n1
from gpu_ci.knowledge.machines.zones import GCP_ZONES
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules.gcp import takes_its_gpu, zones_are_known
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.settings import Settings


def image_families_exist(settings: Settings) -> Iterator[Fault]:
    """Compare the image family of a runner with the one that the stack builds."""
    family = settings.host_image.family if settings.host_image is not None else None
    for name, _, section in settings.served(CirunGcpSection):
        if family is not None and section.image_family != family:
            path = f"runners.{name}.cirun-gcp.image-family"
            yield Fault(path, f'"{section.image_family}" is not the family of host-image', f'write "{family}"')


def gce_machines_have_the_gpu(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Check the machine types and zones, and that the types can have the runner's GPUs."""
    for name, runner, section in settings.served(CirunGcpSection):
        path, needs = f"runners.{name}.cirun-gcp", runner.needs
        yield from zones_are_known(path, section.zones)
        for index, machine in enumerate(section.machine_types):
            gpus = 1 if is_n1(machine) else needs.gpus
            yield from takes_its_gpu(f"{path}.machine-types[{index}]", machine, needs.gpu, gpus, settings, stated)


def machines_have_one_type_of_boot_disk(settings: Settings) -> Iterator[Fault]:
    """Reject machine types with different boot disks: cirun takes one disk type for all of them."""
    for name, _, section in settings.served(CirunGcpSection):
        known = {**GCE_TYPES, **settings.machines.stated}
        types = [known[machine] for machine in section.machine_types if machine in known]
        disks = {one.boot_disk: one.name for one in types if isinstance(one, MachineType)}
        if len(disks) > 1:
            problem = listed([f"{machine} boots from {disk}" for disk, machine in sorted(disks.items())])
            yield Fault(f"runners.{name}.cirun-gcp.machine-types", problem, "use a runner for each of them")


def cirun_attaches_one_gpu(settings: Settings) -> Iterator[Fault]:
    """Reject more than one attached GPU: a cirun file states a model, but no number."""
    for name, runner, section in settings.served(CirunGcpSection):
        attached = [machine for machine in section.machine_types if is_n1(machine)]
        if attached and runner.needs.gpus > 1:
            yield Fault(
                f"runners.{name}.needs.gpus",
                f"{runner.needs.gpus} GPUs are stated, but cirun attaches one GPU to {listed(attached)}",
                f"write 1, or use machine types with {runner.needs.gpus} built-in GPUs",
            )


def images_and_machines_share_a_region(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Compare zones with the region of the container images: pulls across regions are slow and are charged."""
    region = settings.gcp.region if settings.gcp is not None else None
    repositories = settings.artifact_registry
    if region not in GCP_ZONES or not repositories or frozenset(repositories) != stated.entries["artifact-registry"]:
        return
    # Another region for the images is deliberate where it is stated.
    if any(repository.region is not None for repository in repositories.values()):
        return
    for name, _, section in settings.served(CirunGcpSection):
        regions = {region_of(zone) for zone in section.zones}
        # A mistyped region may have been meant as the images' region.
        if region not in regions and regions <= GCP_ZONES.keys():
            yield Fault(
                f"runners.{name}.cirun-gcp.zones[0]",
                f"no zone is in {region}, the region of its container images",
                f"add a zone of {region}, or state artifact-registry.{next(iter(repositories))}.region",
            )


RULES: Final[tuple[Rule, ...]] = (
    image_families_exist,
    cirun_attaches_one_gpu,
    machines_have_one_type_of_boot_disk,
    *rules.RULES,
)
REFERENCES: Final[tuple[Reference, ...]] = (
    images_and_machines_share_a_region,
    gce_machines_have_the_gpu,
    *rules.REFERENCES,
)
