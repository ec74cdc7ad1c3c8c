"""Rules of container images that workflows build: who pushes them, the tags that change, and the CUDA version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from gpu_ci.knowledge.nearest import UnknownName, did_you_mean
from gpu_ci.knowledge.software.cuda import toolkit
from gpu_ci.knowledge.software.frameworks import builds_of
from gpu_ci.knowledge.software.versions import dotted, parse
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.images import WorkflowSettings
from gpu_ci.stack_file.sections.settings import Settings

CACHE: Final = "cache-*"
"""The tags of the build's cache, which every build overwrites."""
PUBLIC: Final = ("mcr.microsoft.com", "public.ecr.aws", "registry.k8s.io")
"""Registries that have only public images."""
UBUNTU: Final = (12, 5)
"""The first CUDA version that NVIDIA packages for Ubuntu 24.04, the system of the runner image."""
PUSHER: Final = "state {repository: OWNER/NAME, repository-id: NUMBER, owner-id: NUMBER}"
REGISTRIES: Final = {"docker.io": "docker.io/USER/NAME", "ghcr.io": "ghcr.io/OWNER/NAME"}
"""Other registries that workflows push to, with their addresses: GitHub's takes the token of a job (GitHub Docs,
"Working with the Container registry", 2026), and Docker Hub secrets of the repository."""


def pushed_images_have_a_pusher(settings: Settings) -> Iterator[Fault]:
    """Require the GitHub repository that pushes, and tags that a build may overwrite: ECR refuses a changed tag."""
    for path, repository, tags in _built(settings):
        stated = settings.ecr.get(repository)
        if stated is None:
            continue
        if stated.pushed_by is None:
            problem = f"missing, but the workflow of {path} needs it to push"
            yield Fault(f"ecr.{repository}.pushed-by", problem, PUSHER)
        for wanted, tag in tags.items():
            if not any(fnmatchcase(tag, wildcard) for wildcard in stated.mutable_tags):
                problem = f"each build of {path} overwrites the tag {tag}, which is immutable"
                yield Fault(f"ecr.{repository}.mutable-tags", problem, f'add "{wanted}"')


def _built(settings: Settings) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield each key that builds an image for ECR, the repository, and wildcards with a tag that each build sets."""
    for name, image in settings.images.items():
        if image.build is not None and image.repository is not None:
            yield f"images.{name}.build", image.repository, {CACHE: f"cache-{image.build.target}"}
    torch = settings.pytorch_images
    if torch is not None and torch.repository is not None and torch.repository in settings.ecr:
        tag = f"{torch.combinations[0]}-uv-{torch.targets[0]}"
        yield "pytorch-images", torch.repository, {"*-uv-*": tag, CACHE: f"cache-{tag}"}


def workflows_can_push(settings: Settings) -> Iterator[Fault]:
    """Reject a registry without a login, and compare its owner with that of the workflow."""
    builds: dict[str, tuple[WorkflowSettings | None, str | None]] = {
        f"images.{name}": (one.build, one.reference) for name, one in settings.images.items()
    }
    if (torch := settings.pytorch_images) is not None:
        builds["pytorch-images"] = torch, torch.reference
    for path, (build, reference) in builds.items():
        if build is None:
            continue
        pusher = f"{path}.pushed-by" if path == "pytorch-images" else f"{path}.build.pushed-by"
        host, _, rest = (reference or "").partition("/")
        if reference is None:
            if build.pushed_by is not None:
                yield Fault(pusher, "has no effect without reference", "remove it")
        elif host not in REGISTRIES or "/" not in rest:
            problem = f"no workflow can push to {reference}"
            fix = f"state repository, or {' or '.join(sorted(REGISTRIES.values()))} as reference"
            yield Fault(f"{path}.reference", problem, fix)
        elif build.pushed_by is None:
            yield Fault(pusher, f"missing, but the workflow needs it to push to {host}", "write OWNER/NAME")
        elif host == "ghcr.io" and rest.split("/")[0] != (owner := build.pushed_by.split("/")[0].lower()):
            problem = f"the workflow of {build.pushed_by} can only push to ghcr.io/{owner}"
            yield Fault(f"{path}.reference", problem, f"write ghcr.io/{owner}/{rest.split('/')[-1]}")


def secrets_are_for_other_registries(settings: Settings) -> Iterator[Fault]:
    """Reject credentials that no registry asks for: that of the account, and public ones."""
    account = settings.aws.account if settings.aws is not None else ""
    for name, image in settings.images.items():
        if image.image_pull_secret is None:
            continue
        host = (image.reference or "").partition("/")[0]
        if image.repository is not None or host.startswith(f"{account}.dkr.ecr."):
            problem = "nodes pull from the ECR of their account without a secret"
        elif host in PUBLIC:
            problem = f"{host} is public and needs no secret"
        else:
            continue
        yield Fault(f"images.{name}.image-pull-secret", problem, "remove it")


def tags_of_pytorch_can_change(settings: Settings) -> Iterator[Fault]:
    """Require tags that change in Artifact Registry: a rebuild has the tag of its combination."""
    torch = settings.pytorch_images
    repository = settings.artifact_registry.get(torch.repository or "") if torch is not None else None
    if torch is not None and repository is not None and repository.immutable_tags:
        problem = "each build of pytorch-images overwrites its tags, which are immutable"
        yield Fault(f"artifact-registry.{torch.repository}.immutable-tags", problem, "write false")


def built_images_have_packages(settings: Settings) -> Iterator[Fault]:
    """Reject a CUDA version without packages for the system of the runner image."""
    for name, image in settings.images.items():
        if image.build is None:
            continue
        if not image.cuda:
            yield Fault(f"images.{name}.cuda", "missing, but build installs it", 'state it, as in "12.9"')
            continue
        try:
            version = toolkit(image.cuda).version
        except UnknownName:
            continue  # A check reports it.
        if version < UBUNTU:
            problem = f"NVIDIA has no packages of CUDA {image.cuda} for Ubuntu 24.04, which the runner image has"
            yield Fault(f"images.{name}.cuda", problem, f"use {dotted(UBUNTU)} or later, or remove build")


def combinations_exist(settings: Settings) -> Iterator[Fault]:
    """Look for the wheels of each combination of torch and CUDA."""
    for index, stated in enumerate(settings.pytorch_images.combinations if settings.pytorch_images is not None else ()):
        version, _, cuda = stated.partition("-cuda")
        release = parse(version)
        builds = builds_of((release[0], release[1]))
        known = [f"{version}-cuda{dotted(build.cuda)}" for build in builds]
        if stated not in known:
            problem = f"torch {version} has no wheels for CUDA {cuda}" if builds else f"torch {version} is not known"
            yield Fault(f"pytorch-images.combinations[{index}]", problem, did_you_mean(stated, known))


def images_name_what_exists(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the registry of the images of PyTorch, and for the runners that test images."""
    for name, image in settings.images.items():
        runner = image.build.test_on if image.build is not None else None
        if runner is not None and runner not in stated.entries["runners"]:
            fix = did_you_mean(runner, stated.entries["runners"])
            yield Fault(f"images.{name}.build.test-on", f'"{runner}" is not in runners', fix)
    if settings.pytorch_images is None or settings.pytorch_images.repository is None:
        return
    path, repository = "pytorch-images.repository", settings.pytorch_images.repository
    amazon, google = stated.entries["ecr"], stated.entries["artifact-registry"]
    if repository in amazon & google:
        yield Fault(path, f'"{repository}" is in ecr and in artifact-registry', "rename one of them")
    elif repository not in amazon | google:
        problem = f'"{repository}" is not in ecr or artifact-registry'
        yield Fault(path, problem, did_you_mean(repository, amazon | google))
    elif repository in google and "github-federation" not in stated.sections:
        problem = "missing, but the workflow of pytorch-images needs it to push"
        yield Fault("github-federation", problem, "state github-federation, or a repository in ecr")


RULES: Final[tuple[Rule, ...]] = (
    pushed_images_have_a_pusher,
    secrets_are_for_other_registries,
    tags_of_pytorch_can_change,
    built_images_have_packages,
    combinations_exist,
    workflows_can_push,
)
REFERENCES: Final[tuple[Reference, ...]] = (images_name_what_exists,)
