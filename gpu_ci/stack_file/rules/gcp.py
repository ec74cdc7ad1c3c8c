"""Rules of Google Cloud: its regions, zones and machine types, the host image and the test container."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpu_ci.knowledge.machines import GPU_MODELS, attach, gpu_model
from gpu_ci.knowledge.machines.gcp import Unattachable
from gpu_ci.knowledge.machines.zones import GCP_ZONES
from gpu_ci.knowledge.nearest import UnknownName, did_you_mean
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.aws import unknown_region, unknown_zone
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.instance_types import or_state
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import MULTI_REGIONS, mebibytes

BUILD_DISK: Final = "pd-balanced"
"""The boot disk of the machines that build and verify an image."""
USE_OTHER: Final = "use a type of n1, n2, e2, g2, a2 or a3-highgpu"
BASE_SIZE: Final = "10Gi"
"""The disk size of Ubuntu's images for Google Cloud (diskSizeGb of ubuntu-os-cloud's images, 2026)."""
_EXAMPLE: Final = "ubuntu-2404-noble-amd64-v20261105"


def gcp_regions_and_zones_are_known(settings: Settings) -> Iterator[Fault]:
    """Check the region, the regions of image repositories, and the zones of the host image."""
    if settings.gcp is not None:
        yield from unknown_region("gcp.region", settings.gcp.region, GCP_ZONES)
    for name, repository in settings.artifact_registry.items():
        if repository.region is not None and repository.region not in MULTI_REGIONS:
            yield from unknown_region(f"artifact-registry.{name}.region", repository.region, GCP_ZONES)
    if settings.host_image is not None:
        yield from zones_are_known("host-image", settings.host_image.zones)


def zones_are_known(group: str, zones: Sequence[str]) -> Iterator[Fault]:
    """Report zones that do not exist."""
    for index, zone in enumerate(zones):
        path, region = f"{group}.zones[{index}]", region_of(zone)
        yield from unknown_region(path, region, GCP_ZONES)
        known = GCP_ZONES.get(region, ())
        # AI zones such as us-south1-ai1b are not in the table.
        if known and zone not in known and len(zone.rpartition("-")[2]) == 1:
            yield unknown_zone(path, zone, known)


def the_host_image_has_known_machines(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Check the machine types of builder and verifier, and the verifier's GPU."""
    if settings.host_image is None:
        return
    verifier, builder = settings.host_image.verifier, settings.host_image.builder.machine_type
    if verifier.gpu not in GPU_MODELS:
        yield Fault("host-image.verifier.gpu", f"{verifier.gpu} is not known", did_you_mean(verifier.gpu, GPU_MODELS))
    yield from takes_its_gpu(
        "host-image.verifier.machine-type", verifier.machine_type, verifier.gpu, verifier.gpus, settings, stated
    )
    for role, machine in (("builder", builder), ("verifier", verifier.machine_type)):
        path = f"host-image.{role}.machine-type"
        try:
            disk = settings.machines.gce(machine).boot_disk
        except UnknownName as unknown:
            if role == "builder" and machine not in stated.entries["instance-types"]:
                yield _unknown_machine(path, unknown, gpu=False)
        else:
            if disk != BUILD_DISK:
                yield Fault(path, f"{machine} boots from {disk}, but images are built on {BUILD_DISK}", USE_OTHER)


def takes_its_gpu(path: str, machine: str, gpu: str, gpus: int, settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Report a machine type that is unknown or cannot have these GPUs; an unknown GPU is another rule's fault."""
    try:
        known = settings.machines.gce(machine)
        if gpu in GPU_MODELS:
            attach(known, gpu_model(gpu), gpus)
    except UnknownName as unknown:
        # Another rule reports a stated type with faulty facts.
        if machine not in stated.entries["instance-types"]:
            yield _unknown_machine(path, unknown, gpu=True)
    except Unattachable as refused:
        yield Fault(path, str(refused), refused.fix)


def _unknown_machine(path: str, unknown: UnknownName, *, gpu: bool) -> Fault:
    fix = or_state(unknown.fix, unknown.name, "gcp", gpu=gpu)
    return Fault(path, f"{unknown.name} is not a known {unknown.kind}", fix)


def the_base_image_fits_the_installer(settings: Settings) -> Iterator[Fault]:
    """Require an exact Ubuntu image for amd64. A family would be another image, and another build, every few weeks."""
    image = settings.host_image
    # Of images in projects that are not public, nothing is known.
    if image is None or not image.source_project.endswith("-cloud"):
        return
    name, path, project = image.source_image, "host-image.source-image", image.source_project
    if not re.search(r"-v20\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[a-z]?$", name):
        problem = f'"{name}" is not an exact image of {project}'
        yield Fault(path, problem, f"write the name with its date, as in {_EXAMPLE}")
    if not project.startswith("ubuntu-os"):
        problem = f"{project} has no Ubuntu images, and the installer supports only Ubuntu"
        yield Fault("host-image.source-project", problem, "remove it, and use an image of ubuntu-os-cloud")
    elif not name.startswith("ubuntu"):
        problem = f'"{name}" is not Ubuntu, and the installer supports only Ubuntu'
        yield Fault(path, problem, f"use an Ubuntu image, as in {_EXAMPLE}")
    elif "-arm64-" in name:
        problem = f'"{name}" is for arm64, but machines with GPUs are amd64'
        yield Fault(path, problem, f"write {name.replace('-arm64-', '-amd64-')}")


def the_builder_has_room_for_the_base_image(settings: Settings) -> Iterator[Fault]:
    """Compare the builder's disk with the base image; Google creates no disk that is smaller than its image."""
    if settings.host_image is None:
        return
    size = settings.host_image.builder.disk
    if mebibytes(size) < mebibytes(BASE_SIZE):
        problem = f"{size} is smaller than the base image of {BASE_SIZE}"
        yield Fault("host-image.builder.disk", problem, "write 50Gi, or remove it")


def an_export_has_a_public_address(settings: Settings) -> Iterator[Fault]:
    """Reject an export without public addresses: gcloud gives its machine one, and has no option against it."""
    image = settings.host_image
    if (
        image is not None
        and image.export is not None
        and settings.gcp is not None
        and not settings.gcp.public_addresses
    ):
        problem = "gcloud gives the exporting machine a public address, which gcp.public-addresses: false excludes"
        yield Fault("host-image.export", problem, "remove it, and use share-with instead")


def federation_grants_each_access_once(settings: Settings) -> Iterator[Fault]:
    """Compare repositories and branches: a name is one resource, an id is one binding."""
    if settings.github_federation is None:
        return
    numbers: dict[int, str] = {}
    bindings: dict[str, str] = {}
    for name, number in settings.github_federation.repositories.items():
        path = f"github-federation.repositories.{name}"
        if (first := numbers.setdefault(number, name)) != name:
            yield Fault(path, f"{number} is also the id of {first}", "remove one of them, or write the other id")
        for branch in settings.github_federation.branches:
            pair = f"{name}, {branch}"
            if (other := bindings.setdefault(f"{name}-{branch}", pair)) != pair:
                problem = f"with the branch {branch} its name is that of the repository and branch {other}"
                yield Fault(path, problem, "name the repository differently")


def members_are_named_once(settings: Settings) -> Iterator[Fault]:
    """Reject a member with two names: both would be one binding, and without the first the second has no effect."""
    lists = {f"artifact-registry.{name}.readers": one.readers for name, one in settings.artifact_registry.items()}
    lists |= {f"artifact-registry.{name}.writers": one.writers for name, one in settings.artifact_registry.items()}
    if settings.host_image is not None:
        lists["host-image.share-with"] = settings.host_image.share_with
    for path, members in lists.items():
        named: dict[str, str] = {}
        for name, member in members.items():
            if (first := named.setdefault(member.casefold(), name)) != name:
                yield Fault(f"{path}.{name}", f"is the same member as {first}", "remove one of them")


def a_test_image_has_a_repository(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the repository that the test container is pushed to."""
    known = stated.entries["artifact-registry"]
    if settings.test_image is not None and known and (repository := settings.test_image.repository) not in known:
        problem = f'"{repository}" is not in artifact-registry'
        yield Fault("test-image.repository", problem, did_you_mean(repository, known))


def a_workflow_can_push(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require federation for a workflow that pushes images: it has no key."""
    image = settings.test_image
    if image is not None and image.built_by == "workflow" and "github-federation" not in stated.sections:
        yield Fault(
            "github-federation",
            "missing, but the workflow that pushes test-image needs it to authenticate",
            "state github-federation, or test-image.built-by: stack",
        )


RULES: Final[tuple[Rule, ...]] = (
    gcp_regions_and_zones_are_known,
    the_base_image_fits_the_installer,
    the_builder_has_room_for_the_base_image,
    an_export_has_a_public_address,
    federation_grants_each_access_once,
    members_are_named_once,
)
REFERENCES: Final[tuple[Reference, ...]] = (
    a_test_image_has_a_repository,
    a_workflow_can_push,
    the_host_image_has_known_machines,
)
