"""What must hold between the sections that concern Google Cloud."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from config.faults import Fault
from config.translate import nearest
from gpu.instance_types import GCE_TYPES, GPU_MODELS, attach, gce_type, gpu_model
from gpu.instance_types.google import Unattachable
from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated


def image_families_exist(stated: Stated) -> Iterator[Fault]:
    """A runner on GCE boots the image that this stack builds: only its name is known before it is there."""
    family = stated.part("host-image").get("family")
    for name, runner in stated.settings.runners.items():
        if runner.cirun_gcp is None:
            continue
        path = f"runners.{name}.cirun-gcp.image-family"
        if family is not None and runner.cirun_gcp.image_family != family:
            yield Fault(path, f'"{runner.cirun_gcp.image_family}" is not built here', f'write "{family}"')


def machines_take_their_gpu(stated: Stated) -> Iterator[Fault]:
    """Some GCE families bring their GPU, and one alone takes any other."""
    for name, runner in stated.settings.runners.items():
        if runner.cirun_gcp is not None and runner.needs.gpu in GPU_MODELS:
            for index, machine in enumerate(runner.cirun_gcp.machine_types):
                path = f"runners.{name}.cirun-gcp.machine-types[{index}]"
                yield from _attached(path, machine, runner.needs.gpu, runner.needs.gpus)
    image = stated.settings.host_image
    if image is not None:
        verifier = image.verifier
        if verifier.gpu in GPU_MODELS:
            yield from _attached("host-image.verifier.machine-type", verifier.machine_type, verifier.gpu, verifier.gpus)
        else:
            yield Fault("host-image.verifier.gpu", f"{verifier.gpu} is not known", nearest(verifier.gpu, GPU_MODELS))
        if image.builder.machine_type not in GCE_TYPES:
            path = "host-image.builder.machine-type"
            yield Fault(
                path, f"{image.builder.machine_type} is not known", nearest(image.builder.machine_type, GCE_TYPES)
            )


def _attached(path: str, machine: str, gpu: str, gpus: int) -> Iterator[Fault]:
    try:
        attach(gce_type(machine), gpu_model(gpu), gpus)
    except UnknownName as unknown:
        close = f'did you mean "{unknown.nearest}"?' if unknown.nearest else f"known: {', '.join(unknown.known)}"
        yield Fault(path, f"{unknown.name} is not a known {unknown.kind}", close)
    except Unattachable as refused:
        yield Fault(path, str(refused), "take an n1 machine, or one that brings the GPU asked for")


def a_test_image_has_a_repository(stated: Stated) -> Iterator[Fault]:
    """The test container is pushed to a repository of this stack."""
    image = stated.settings.test_image
    if image is not None and image.repository not in stated.names("artifact-registry"):
        known = stated.names("artifact-registry")
        yield Fault(
            "test-image.repository",
            f'"{image.repository}" is not in artifact-registry',
            nearest(image.repository, known),
        )


def a_workflow_can_push(stated: Stated) -> Iterator[Fault]:
    """A job of GitHub's has no key, and is let in as itself or not at all."""
    image = stated.settings.test_image
    if image is not None and image.built_by == "workflow" and not stated.has("github-federation"):
        yield Fault(
            "github-federation",
            "missing, and a workflow that pushes test-image needs it to be let in",
            "state github-federation, or test-image.built-by: stack",
        )


def images_and_machines_share_a_region(stated: Stated) -> Iterator[Fault]:
    """Images pulled across regions are slow, and are paid for by the gigabyte; who means it states the region."""
    google, repositories = stated.settings.gcp, stated.settings.artifact_registry
    if google is None or not repositories or any(one.region is not None for one in repositories.values()):
        return
    for name, runner in stated.settings.runners.items():
        zones = runner.cirun_gcp.zones if runner.cirun_gcp is not None else ()
        if zones and all(zone.rpartition("-")[0] != google.region for zone in zones):
            yield Fault(
                f"runners.{name}.cirun-gcp.zones[0]",
                f"no zone is in {google.region}, where its images are kept",
                f"name a zone of {google.region}, or state artifact-registry.{next(iter(repositories))}.region",
            )


def source_images_are_exact(stated: Stated) -> Iterator[Fault]:
    """A family's name means whatever is newest, and with each new base there would be a new build."""
    image = stated.settings.host_image
    if image is None or not image.source_project.endswith("-cloud"):
        return
    if not re.search(r"-v\d{8}[a-z]?$", image.source_image):
        yield Fault(
            "host-image.source-image",
            f'"{image.source_image}" names no exact image of {image.source_project}',
            "write the name with its date, as in ubuntu-2404-noble-amd64-v20261105",
        )


GOOGLE_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    image_families_exist,
    machines_take_their_gpu,
    a_test_image_has_a_repository,
    a_workflow_can_push,
    images_and_machines_share_a_region,
    source_images_are_exact,
)
