"""What must hold between the sections that concern Google Cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from config.faults import Fault, listed
from config.gcp import BuilderSettings, VerifierSettings
from config.image_rules import IMAGE_RULES
from config.stated import inner, listed_at
from gpu.machines import GCE_TYPES, GPU_MODELS, attach, gce_type, gpu_model
from gpu.machines.gcp import Unattachable
from gpu.machines.zones import GOOGLE_ZONES
from gpu.nearest import UnknownName, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

_ATTACHED: Final = "n1-"
"""The machines that bring no GPU, and are given one."""


def image_families_exist(stated: Stated) -> Iterator[Fault]:
    """A runner on GCE boots the image that this stack builds: only its name is known before it is there."""
    family = stated.of("host-image").get("family")
    for name, runner in stated.entries("runners"):
        asked = inner(runner, "cirun-gcp").get("image-family")
        if None not in {family, asked} and asked != family:
            path = f"runners.{name}.cirun-gcp.image-family"
            yield Fault(path, f'"{asked}" is not built here', f'write "{family}"')


def machines_take_their_gpu(stated: Stated) -> Iterator[Fault]:
    """Some GCE families bring their GPU, and one alone takes any other."""
    for name, runner in stated.entries("runners"):
        needs, path = inner(runner, "needs"), f"runners.{name}.cirun-gcp.machine-types"
        for index, machine in listed_at(inner(runner, "cirun-gcp"), "machine-types"):
            gpus = 1 if machine.startswith(_ATTACHED) else needs.get("gpus", 1)
            yield from _attached(f"{path}[{index}]", machine, needs.get("gpu"), gpus)
    image = stated.of("host-image")
    if not image:
        return
    usual = VerifierSettings()
    verifier = inner(image, "verifier")
    gpu, machine = verifier.get("gpu", usual.gpu), verifier.get("machine-type", usual.machine_type)
    yield from _attached("host-image.verifier.machine-type", machine, gpu, verifier.get("gpus", usual.gpus))
    if gpu is not None and gpu not in GPU_MODELS:
        yield Fault("host-image.verifier.gpu", f"{gpu} is not known", did_you_mean(gpu, GPU_MODELS))
    builder = inner(image, "builder").get("machine-type", BuilderSettings().machine_type)
    if builder is not None and builder not in GCE_TYPES:
        yield Fault("host-image.builder.machine-type", f"{builder} is not known", did_you_mean(builder, GCE_TYPES))


def cirun_attaches_one_gpu(stated: Stated) -> Iterator[Fault]:
    """A cirun file names a model, and no number: it is one GPU that a machine is given which brings none."""
    for name, runner in stated.entries("runners"):
        asked = inner(runner, "needs").get("gpus", 1)
        machines = [machine for _, machine in listed_at(inner(runner, "cirun-gcp"), "machine-types")]
        one = [machine for machine in machines if machine.startswith(_ATTACHED)]
        if one and asked is not None and asked > 1:
            yield Fault(
                f"runners.{name}.needs.gpus",
                f"{asked} are asked for, and cirun gives one GPU to {listed(one)}",
                f"write 1, or take machine types that bring {asked}",
            )


def _attached(path: str, machine: str | None, gpu: str | None, gpus: int | None) -> Iterator[Fault]:
    """What is wrong with a machine for its GPUs; where those are not known, only whether there is such a machine."""
    if machine is None:
        return
    try:
        known = gce_type(machine)
        if gpu in GPU_MODELS and gpu is not None and gpus is not None:
            attach(known, gpu_model(gpu), gpus)
    except UnknownName as unknown:
        close = f'did you mean "{unknown.nearest}"?' if unknown.nearest else f"known: {', '.join(unknown.known)}"
        yield Fault(path, f"{unknown.name} is not a known {unknown.kind}", close)
    except Unattachable as refused:
        yield Fault(path, str(refused), refused.fix)


def a_test_image_has_a_repository(stated: Stated) -> Iterator[Fault]:
    """The test container is pushed to a repository of this stack."""
    repository, known = stated.of("test-image").get("repository"), stated.names("artifact-registry")
    if repository is not None and known and repository not in known:
        wrong = f'"{repository}" is not in artifact-registry'
        yield Fault("test-image.repository", wrong, did_you_mean(repository, known))


def a_workflow_can_push(stated: Stated) -> Iterator[Fault]:
    """A job of GitHub's has no key, and is let in as itself or not at all."""
    if stated.of("test-image").get("built-by") == "workflow" and not stated.has("github-federation"):
        yield Fault(
            "github-federation",
            "missing, and a workflow that pushes test-image needs it to be let in",
            "state github-federation, or test-image.built-by: stack",
        )


def images_and_machines_share_a_region(stated: Stated) -> Iterator[Fault]:
    """Images pulled across regions are slow, and are paid for by the gigabyte; who means it states the region."""
    region, repositories = stated.of("gcp").get("region"), dict(stated.entries("artifact-registry"))
    if region not in GOOGLE_ZONES or not repositories or any("region" in one for one in repositories.values()):
        return
    for name, runner in stated.entries("runners"):
        regions = {zone.rpartition("-")[0] for _, zone in listed_at(inner(runner, "cirun-gcp"), "zones")}
        # Where a region is mistyped, it may be the right one that was meant.
        if regions and region not in regions and regions <= GOOGLE_ZONES.keys():
            yield Fault(
                f"runners.{name}.cirun-gcp.zones[0]",
                f"no zone is in {region}, where its images are kept",
                f"name a zone of {region}, or state artifact-registry.{next(iter(repositories))}.region",
            )


GOOGLE_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    image_families_exist,
    machines_take_their_gpu,
    cirun_attaches_one_gpu,
    a_test_image_has_a_repository,
    a_workflow_can_push,
    images_and_machines_share_a_region,
    *IMAGE_RULES,
)
