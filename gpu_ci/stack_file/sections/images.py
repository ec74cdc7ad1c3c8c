"""Sections of container images: those of runners, and those of PyTorch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gpu_ci.knowledge.machines.start_up import USUAL_IMAGE_GIB
from gpu_ci.stack_file.sections.aws import RepositoryName
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import (
    IMAGE,
    CudaVersion,
    Digest,
    ImageReference,
    Invalid,
    Matching,
    RunnerName,
    SecretName,
    Size,
    Tag,
    Version,
    mebibytes,
)
from gpu_ci.stack_file.values.github import Cron

Combination = Annotated[
    str,
    Matching(
        r"\d+\.\d+\.\d+-cuda\d+\.\d+",
        "a combination of torch and CUDA",
        "write TORCH-cudaVERSION, as in 2.14.1-cuda13.0",
    ),
]
PlainBase = Annotated[
    str,
    Field(max_length=400),
    Matching(
        rf"({IMAGE}|[a-z0-9][a-z0-9._-]*):(?!latest$)[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}}(@sha256:[0-9a-f]{{64}})?",
        "a base image with its tag",
        "write NAME:TAG or NAME:TAG@sha256:…, as in ubuntu:24.04",
    ),
]
Package = Annotated[
    str, Matching(r"[a-z0-9][a-z0-9+.-]{0,79}", "a package", "write the name that the base image's packages have")
]


class ImageBuildSettings(Section):
    """The workflow that builds `docker/runner-gpu` with the CUDA version of the image and pushes it to ECR."""

    target: Literal["runtime", "devel"] = "runtime"
    """`devel` also has `nvcc` and headers, for repositories that build CUDA code."""
    schedule: Cron = "23 4 2 * *"
    """The rebuild with the newest packages, in UTC. GitHub gives no jobs to runners that are a month old."""
    test_on: RunnerName | None = None
    """A runner whose jobs can state a container. The workflow then tests each new image on its GPU."""


class ImageSettings(Section):
    """A container image for runners, with a fixed version."""

    repository: RepositoryName | None = None
    """The ECR repository of this stack that contains the image."""
    reference: ImageReference | None = None
    """Another registry and repository, without a tag."""
    tag: Tag | None = None
    digest: Digest | None = None
    cuda: CudaVersion = ""
    """The CUDA version in the image. A check compares it with the nodes' driver. Runners with a GPU require it."""
    runner: Version | None = None
    """The version of GitHub's runner in the image, in quotes. GitHub gives no jobs to old versions."""
    compressed: Size | None = None
    """The size of the layers that a node pulls; estimates of waiting time and cost use it."""
    image_pull_secret: SecretName | None = None
    """The Kubernetes Secret in the namespace `arc-runners` with the credentials of a private registry. Nodes read the
    stack's own ECR without one."""
    build: ImageBuildSettings | None = None
    """A workflow of the GitHub repository in `ecr.NAME.pushed-by` builds the image. `make kit` writes it."""

    @model_validator(mode="after")
    def _one_place_and_a_pin(self) -> ImageSettings:
        if (self.repository is None) == (self.reference is None):
            raise Invalid(
                "exactly one of repository and reference is needed",
                "state either repository (in this stack's ECR) or reference (elsewhere)",
            )
        if self.tag is None and self.digest is None:
            raise Invalid("the image is not pinned", "state digest: sha256:… or an exact tag")
        return self

    @property
    def pin(self) -> str:
        """The end of the reference: the digest where one is stated, because a tag can move."""
        return f"@{self.digest}" if self.digest else f":{self.tag}"

    @property
    def pulled_gib(self) -> float:
        """The size of the layers that a node pulls, in GiB; an estimate where `compressed` is not stated."""
        return mebibytes(self.compressed) / 1024 if self.compressed else USUAL_IMAGE_GIB


class PytorchImagesSettings(Section):
    """Images of PyTorch with CUDA on a plain base, which a workflow builds: one for each combination and target."""

    repository: RepositoryName
    """The repository of this stack that they are pushed to, by its key in `ecr` or in `artifact-registry`."""
    combinations: Annotated[tuple[Combination, ...], Field(min_length=1, max_length=12)]
    """Versions of torch and CUDA. Each has a lock in `docker/pytorch/locks`."""
    targets: Annotated[tuple[Literal["development", "runtime"], ...], Field(min_length=1)] = ("development", "runtime")
    """`development` has uv, `runtime` does not."""
    base: PlainBase = "ubuntu:24.04"
    """The base image: the wheels of torch contain the CUDA libraries. It needs glibc, and apt-get or apk."""
    packages: Annotated[tuple[Package, ...], Field(max_length=30)] = ()
    """More packages of the base."""
    schedule: Cron = "23 5 2 * *"
    """The rebuild with the newest packages of the base, in UTC."""
    after_tests: bool = False
    """Build a commit only after its tests on a GPU passed, in the workflows that `make kit` writes."""
