"""Rules of machines with a runner of their own, whichever back end declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from gpu_ci.back_ends.shared.machine.section import LABELS, OWN, STOCK, MachineSection
from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.knowledge.regions import region_of
from gpu_ci.knowledge.software.runner_releases import CHECKSUMS, NEWEST
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.aws import types_are_known, unknown_region, unknown_zone
from gpu_ci.stack_file.rules.gcp import takes_its_gpu, zones_are_known
from gpu_ci.stack_file.rules.runners import other_gpus
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.github import GITHUB_LABELS

_HTTPS: Final = 443
_ARCHIVE_PORT: Final = 80
"""Ubuntu's archive speaks HTTP only."""
_IMAGE_SECTIONS: Final = {"aws": "ec2-image", "gcp": "host-image"}
"""Cloud to the section that builds `image: own`."""
_NOT_IN_UBUNTU: Final = frozenset({"ccache", "cmake", "ffmpeg", "g++", "gcc", "make"})
"""Commands that Canonical's server images lack (cloud-images.ubuntu.com/noble, the manifest), in packages of the same
name."""
_LONGEST_NAME: Final = 32
"""Leaves room for the stack's name and `-egress` in the 63 characters of a name on Google Cloud."""
_CLOUDS: Final = {"aws": "EC2", "gcp": "Compute Engine"}
_EXAMPLES: Final = {"aws": "g4dn.xlarge", "gcp": "g2-standard-4"}


def machines(settings: Settings) -> Iterator[tuple[str, str, RunnerSettings, MachineSection]]:
    """Yield the path, the runner's name, the runner and the machine, for each runner that has a machine of its own."""
    for name, runner in settings.runners.items():
        for back_end, section in runner.stated.items():
            path = f"runners.{name}.{back_end.replace('_', '-')}"
            inside = getattr(section, "machine", None)
            if isinstance(section, MachineSection):
                yield path, name, runner, section
            elif isinstance(inside, MachineSection):
                yield f"{path}.machine", name, runner, inside


def common_labels(names: Iterable[str]) -> Iterator[Fault]:
    """Reject names of runners that other runners have as labels: those would get the jobs."""
    for name in names:
        if name in {*GITHUB_LABELS, *LABELS}:
            yield Fault(f"runners.{name}", "other runners have this label and would get the jobs", "use another name")


def machines_have_a_cloud(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require the section of the cloud of each machine."""
    for path, _, _, machine in machines(settings):
        if machine.cloud not in stated.sections:
            yield Fault(f"{path}.cloud", f"{machine.cloud} needs the section {machine.cloud}", f"state {machine.cloud}")


def machine_types_are_known(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Check the machine type, and its GPU against the runner's."""
    for path, name, runner, machine in machines(settings):
        key, type_ = f"{path}.machine-type", machine.machine_type
        if ("." in type_) != (machine.cloud == "aws"):
            other = _CLOUDS["gcp" if machine.cloud == "aws" else "aws"]
            problem = f"{type_} is a machine type of {other}, but cloud is {machine.cloud}"
            yield Fault(key, problem, f"write one of {_CLOUDS[machine.cloud]}, as in {_EXAMPLES[machine.cloud]}")
        elif machine.cloud == "aws":
            for fault in types_are_known(path, [type_], settings, stated, gpu=True):
                yield replace(fault, path=key)
            yield from other_gpus(name, runner.needs.gpu, [type_], settings.machines.ec2_types)
        else:
            yield from takes_its_gpu(key, type_, runner.needs.gpu, runner.needs.gpus, settings, stated)


def machines_are_in_a_zone(settings: Settings) -> Iterator[Fault]:
    """Check the zone against those of the cloud."""
    for path, _, _, machine in machines(settings):
        key, zone, region = f"{path}.zone", machine.zone, region_of(machine.zone)
        # Google puts a hyphen before the letter.
        if (zone.rpartition("-")[2].isalpha()) != (machine.cloud == "gcp"):
            other = "gcp" if machine.cloud == "aws" else "aws"
            example = "us-west-2a" if machine.cloud == "aws" else "us-central1-a"
            problem = f"{zone} is a zone of {_CLOUDS[other]}, but cloud is {machine.cloud}"
            yield Fault(key, problem, f"write a zone of {_CLOUDS[machine.cloud]}, as in {example}")
        elif machine.cloud == "gcp":
            for fault in zones_are_known(path, [zone]):
                yield replace(fault, path=key)
        else:
            yield from unknown_region(key, region, AWS_ZONES)
            if (zones := AWS_ZONES.get(region, ())) and zone not in zones:
                yield unknown_zone(key, zone, zones)


def images_fit_the_cloud(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Check the image against the cloud, and what `stock` needs."""
    for path, _, _, machine in machines(settings):
        key, image = f"{path}.image", machine.image
        if image == OWN:
            if (section := _IMAGE_SECTIONS[machine.cloud]) not in stated.sections:
                yield Fault(
                    key, f"own needs the section {section}, which builds it", f"state {section}, or image: stock"
                )
            built = settings.ec2_image if machine.cloud == "aws" else None
            if built is not None and (region := region_of(machine.zone)) not in built.regions:
                yield Fault(key, f"own has no copy in {region}", f"add {region} to ec2-image.regions")
        elif image != STOCK and image.startswith("ami-") != (machine.cloud == "aws"):
            right = "ami-…" if machine.cloud == "aws" else "projects/PROJECT/global/images/NAME"
            problem = f"{image} is not an image of {_CLOUDS[machine.cloud]}"
            yield Fault(key, problem, f"write {right}, stock or own")
        if image == STOCK and machine.driver is None:
            yield Fault(f"{path}.driver", "missing, but image: stock installs it", 'state driver: "580"')
        if image == STOCK and _ARCHIVE_PORT not in machine.egress_ports:
            problem = "80 is missing, but image: stock installs packages from Ubuntu's archive over HTTP"
            ports = ", ".join(map(str, sorted({_ARCHIVE_PORT, *machine.egress_ports})))
            yield Fault(f"{path}.egress-ports", problem, f"write [{ports}]")
        for unused in ("driver", "os", "packages") if image != STOCK else ():
            if unused in machine.model_fields_set:
                yield Fault(f"{path}.{unused}", f"has no effect with image: {image}", "remove it")


def machines_reach_github(settings: Settings) -> Iterator[Fault]:
    """Require port 443, on which the runner asks for jobs."""
    for path, _, _, machine in machines(settings):
        if _HTTPS not in machine.egress_ports:
            ports = ", ".join(map(str, sorted({_HTTPS, *machine.egress_ports})))
            yield Fault(
                f"{path}.egress-ports", "443 is missing, on which the runner reaches GitHub", f"write [{ports}]"
            )


def runner_archives_have_a_checksum(settings: Settings) -> Iterator[Fault]:
    """Require the checksum of a release that is not known, and compare that of a known one."""
    for path, _, _, machine in machines(settings):
        version, stated = machine.runner_version, machine.runner_sha256
        known = CHECKSUMS.get(version)
        if known is None and stated is None:
            problem = f"the checksum of the runner {version} is not known"
            fix = f'state it, from the notes of the release at GitHub, or write runner-version: "{NEWEST}"'
            yield Fault(f"{path}.runner-sha256", problem, fix)
        elif known is not None and stated not in {None, known}:
            yield Fault(f"{path}.runner-sha256", f"is not the checksum of the runner {version}", "remove it")


def limits_leave_room_for_the_longest_job(settings: Settings) -> Iterator[Fault]:
    """Compare the limit of a machine's running time with the longest job."""
    for path, name, runner, machine in machines(settings):
        if machine.max_hours * 60 < runner.timeout_minutes:
            hours = -(-runner.timeout_minutes // 60)
            problem = f"{machine.max_hours} hours are shorter than the longest job of {runner.timeout_minutes} minutes"
            yield Fault(
                f"{path}.max-hours", problem, f"write at least {hours}, or lower runners.{name}.timeout-minutes"
            )


def runners_register_where_github_allows_it(settings: Settings) -> Iterator[Fault]:
    """Compare the runner group and the kind of address: an App registers runners of organisations and repositories."""
    if settings.github is None:
        return
    url = settings.github.url
    owner = url.partition("://")[2].split("/")[1:]
    for path, _, _, machine in machines(settings):
        if owner[0] == "enterprises":
            problem = f"needs an organisation or a repository in github.url, because no App registers runners at {url}"
            yield Fault(path, problem, "write https://github.com/ORGANISATION or https://github.com/OWNER/REPOSITORY")
        elif len(owner) > 1 and machine.runner_group.casefold() != "default":
            problem = f"{machine.runner_group} cannot exist: {url} is a repository, which has only the group default"
            yield Fault(f"{path}.runner-group", problem, "remove it, or write the organisation in github.url")


def jobs_of_forks_have_no_rights_of_root(settings: Settings) -> Iterator[Fault]:
    """Reject Docker for jobs of forks: they could read the key of the App."""
    for path, _, _, machine in machines(settings):
        if machine.forks and machine.docker:
            problem = "gives jobs of forks the rights of root, which can read the key of the GitHub App"
            yield Fault(f"{path}.docker", problem, "remove docker, or remove forks")


def names_fit_compute_engine(settings: Settings) -> Iterator[Fault]:
    """Check the length of a runner's name: with the stack's name it is the name of an instance."""
    for path, name, _, machine in machines(settings):
        if machine.cloud == "gcp" and len(name) > _LONGEST_NAME:
            problem = f"{len(name)} characters are too many for the name of an instance of Compute Engine"
            yield Fault(path, problem, f"use a name of at most {_LONGEST_NAME}")


def stock_machines_have_the_commands_of_tests(settings: Settings) -> Iterator[Fault]:
    """Compare the commands of tests with the packages of a stock machine, where no job installs any."""
    for path, name, _, machine in machines(settings):
        for tested, entry in settings.gpu_tests.items():
            chosen = entry.runner or (name if len(settings.runners) == 1 else None)
            if chosen != name or machine.image != STOCK or entry.container is not None:
                continue
            words = {command.split()[0] for command in (*entry.install_commands, *entry.test_commands)}
            needed = {*(words & _NOT_IN_UBUNTU), *(("ccache",) if entry.ccache else ())}
            if missing := sorted(needed - {*machine.packages}):
                problem = f"gpu-tests.{tested} runs {' and '.join(missing)}, which image: stock does not have"
                every = ", ".join(sorted({*machine.packages, *missing}))
                yield Fault(f"{path}.packages", problem, f"write [{every}]")


def own_images_are_built(settings: Settings) -> Iterator[Fault]:
    """Reject the image of `host-image` while its builder runs as a resource: there is no image yet."""
    image = settings.host_image
    if image is None or image.mode != "declared" or image.phase != "build":
        return
    for path, _, _, machine in machines(settings):
        if machine.cloud == "gcp" and machine.image == OWN:
            problem = "own needs an image, but host-image.phase: build creates only its builder"
            yield Fault(f"{path}.image", problem, "write stock until host-image.phase is image")


RULES: Final[tuple[Rule, ...]] = (
    names_fit_compute_engine,
    own_images_are_built,
    machines_are_in_a_zone,
    machines_reach_github,
    runner_archives_have_a_checksum,
    limits_leave_room_for_the_longest_job,
    runners_register_where_github_allows_it,
    jobs_of_forks_have_no_rights_of_root,
    stock_machines_have_the_commands_of_tests,
)
REFERENCES: Final[tuple[Reference, ...]] = (machines_have_a_cloud, machine_types_are_known, images_fit_the_cloud)
