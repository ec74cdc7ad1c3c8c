"""The workflows that build container images and push them without a key, and the recipes in `docker/` that they build.

Every image has an immutable tag with its commit; users state its digest. The cache of the build is in the same
repository, under tags that the build overwrites: GitHub's own cache has 10 GB for each repository (GitHub Docs,
"Dependency caching reference", 2026), and one CUDA image fills it. A scheduled build uses no cache, because it would
find yesterday's packages there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_ci.repository.actions import AUTH, AWS_CREDENTIALS, BUILD_PUSH, CHECKOUT, SETUP_BUILDX, SETUP_GCLOUD
from gpu_ci.repository.documents import BRANCH, check_values
from gpu_ci.repository.image_workflow import PROVIDER
from gpu_ci.repository.render import render

RECIPES: Final = Path(__file__).resolve().parents[2] / "docker"
_REFERENCE: Final = r"[a-z0-9][a-z0-9.-]*(/[a-z0-9._-]+)+"
_ARGUMENT: Final = r"[A-Za-z0-9][A-Za-z0-9 ._/:@+-]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecr:
    """A registry on AWS, and the role of the jobs that push."""

    role: str
    """The ARN of the role."""
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One image of a workflow."""

    name: str
    """The start of its tags, as in `runtime` or `2.14.1-cuda13.0-uv-runtime`."""
    target: str
    """The target of the Dockerfile."""
    arguments: tuple[tuple[str, str], ...]
    """Arguments of the build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTest:
    """The test of a new image on a GPU, in a job whose container is that image."""

    runner: str
    """The label of a runner whose jobs can state a container."""
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBuild:
    """The images of one recipe."""

    name: str
    """The name of the workflow, as in `runner-gpu`."""
    recipe: str
    """The folder in `docker/`."""
    files: tuple[str, ...]
    """The files of the recipe."""
    repository: str
    """The repository that is pushed to, with its registry and without a tag."""
    registry: Ecr | None
    """None for Artifact Registry, where the job signs in by Workload Identity Federation."""
    variants: tuple[Variant, ...]
    branch: str
    """The protected branch that builds."""
    schedule: str
    """A cron expression."""
    section: str
    """The lines of the stack file above the digest, each with its indent."""
    moving: bool = False
    """Whether the name of a variant is also a tag, which every build overwrites."""
    test: GpuTest | None = None
    after: tuple[str, ...] = ()
    """The workflows whose tests of the commit must pass before the build."""

    @property
    def host(self) -> str:
        """Return the host of the registry."""
        return self.repository.partition("/")[0]

    @property
    def file(self) -> str:
        """Return the path of the workflow."""
        return f".github/workflows/image-{self.name}.yml"


def container_files(build: ContainerBuild) -> dict[str, str]:
    """Return the workflow and the files of its recipe, by path.

    Raises:
        FileError: a value is not safe in a workflow.

    """
    stated = [
        ("repository", build.repository, _REFERENCE, "REGISTRY/REPOSITORY"),
        ("branch", build.branch, BRANCH, "a branch"),
        *(
            (f"arguments.{name}", value, _ARGUMENT, "letters, digits and ._/:@+-")
            for variant in build.variants
            for name, value in variant.arguments
        ),
    ]
    check_values(build.file, stated)
    pins = {
        "checkout": CHECKOUT,
        "aws_credentials": AWS_CREDENTIALS,
        "auth": AUTH,
        "setup_gcloud": SETUP_GCLOUD,
        "setup_buildx": SETUP_BUILDX,
        "build_push": BUILD_PUSH,
    }
    folder = f"docker/{build.recipe}"
    workflow = render("container-image.yml.j2", build=build, folder=folder, provider=PROVIDER, **pins)
    recipe = {f"{folder}/{name}": (RECIPES / build.recipe / name).read_text(encoding="utf-8") for name in build.files}
    return {build.file: workflow, **recipe}
