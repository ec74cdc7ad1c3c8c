"""Sections of Google Cloud: project, host image, image repositories, and access for workflows without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gpu_ci.stack_file.sections.images import Package
from gpu_ci.stack_file.sections.section import Section, kebab
from gpu_ci.stack_file.values.gcp import (
    BaseImage,
    BucketName,
    ContentHash,
    DockerRepositoryName,
    DriverBranch,
    ImageName,
    Member,
    UserName,
)
from gpu_ci.stack_file.values.general import (
    CudaVersion,
    GcpProject,
    GcpRegion,
    GcpZone,
    Invalid,
    MachineType,
    Matching,
    Name,
    Positive,
    RegistryLocation,
    Size,
    Tag,
)
from gpu_ci.stack_file.values.github import Branch, GitHubId


class GcpSettings(Section):
    """The project and the region."""

    project: GcpProject
    """The project's id. Use a project for GPU runners only: cirun's permissions apply to every machine in it."""
    region: GcpRegion
    public_addresses: bool = True
    """Give each machine a public address. `false` creates Cloud NAT instead, for an organisation that forbids them."""


class BuilderSettings(Section):
    """The machine on which an image is installed."""

    machine_type: MachineType = "e2-standard-8"
    """The builder needs no GPU: a driver can be installed without one."""
    disk: Size = "50Gi"
    spot: bool = True
    max_minutes: Annotated[int, Field(ge=15, le=480)] = 90
    """Google deletes the machine after this time in minutes, even if the deploying process has ended."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3


class VerifierSettings(Section):
    """The machine on which a new image is tested before it is used."""

    machine_type: MachineType = "n1-standard-4"
    gpu: Name = "t4"
    gpus: Annotated[int, Field(ge=1, le=16)] = 1
    max_minutes: Annotated[int, Field(ge=15, le=240)] = 30
    """Google deletes the machine after this time in minutes, even if the deploying process has ended."""


class ExportSettings(Section):
    """A copy of each image as an archive in Cloud Storage."""

    bucket: BucketName
    """The bucket's name, unique in all of Google Cloud. This stack creates the bucket."""
    keep_days: Positive = 30


class HostImageSettings(Section):
    """The image of GPU machines on Compute Engine: Docker, driver and container toolkit, tested on a GPU."""

    NEEDS: ClassVar = ("gcp",)

    mode: Literal["controller", "declared"] = "controller"
    """`controller` runs one command that creates the image. `declared` declares builder and image as resources, in two
    phases."""
    phase: Literal["build", "image"] = "build"
    """For `mode: declared`: `build` runs the builder; `image` creates the image and deletes the builder."""
    proved: ContentHash | None = None
    """For `phase: image`: the hash that the builder reported after `ok:`, in quotes."""
    family: Name
    source_image: ImageName
    """The exact name of the base image. A family would be another image, and another build, every few weeks."""
    source_project: GcpProject = "ubuntu-os-cloud"
    zones: Annotated[tuple[GcpZone, ...], Field(min_length=1)]
    """Zones to build and to test in, in the order in which they are tried, because a zone is often out of GPUs."""
    driver: DriverBranch
    """The driver branch, in quotes, as in "580"."""
    cuda: CudaVersion
    """The newest CUDA version of the jobs. The driver must support it."""
    docker_user: UserName = "ci-gpu-runner"
    """A user without privileges that may use Docker. The image also has `runnerx`, which runs the jobs of cirun."""
    local_ssd: bool = True
    """Use a local SSD, where the machine has one, for Docker's storage."""
    builder: BuilderSettings = BuilderSettings()
    verifier: VerifierSettings = VerifierSettings()
    keep: Annotated[int, Field(ge=1, le=20)] = 3
    """The number of images of the family that are kept, this one included."""
    keep_on_destroy: bool
    """Keep the images when the stack is destroyed."""
    share_with: Mapping[Name, Member] = Field(default_factory=dict)
    """Other members that may use the image, by a name."""
    export: ExportSettings | None = None

    @model_validator(mode="after")
    def _options_fit_the_mode(self) -> HostImageSettings:
        if self.mode == "controller":
            unused = [name for name, value in (("phase", self.phase != "build"), ("proved", self.proved)) if value]
            if unused:
                fix = f"remove {unused[0]}, or state mode: declared"
                raise Invalid(f"{unused[0]} is for mode: declared only", fix)
            return self
        unused = [kebab(name) for name in ("export", "keep", "verifier") if name in self.model_fields_set]
        unused += ["builder.attempts"] if "attempts" in self.builder.model_fields_set else []
        unused += ["zones after the first"] if len(self.zones) > 1 else []
        if unused:
            raise Invalid(f"mode: declared does not use {', '.join(unused)}", "remove it, or state mode: controller")
        if self.phase == "image" and self.proved is None:
            problem = "phase: image needs proved, because a failed builder also stops"
            raise Invalid(problem, "write the hash that the builder reported after ok:, in quotes")
        if self.phase == "build" and self.proved is not None:
            raise Invalid("proved is for phase: image only", "remove proved until the builder has reported ok:")
        return self


class DockerRepositorySettings(Section):
    """One Docker repository in Artifact Registry."""

    NEEDS: ClassVar = ("gcp",)

    region: RegistryLocation | None = None
    """A region other than the stack's own, or `us`, `europe` or `asia`. Pulls from another region are slow and cost
    money."""
    immutable_tags: bool = True
    """Tags cannot be overwritten or deleted. The cleanup then deletes only images without a tag."""
    keep: Positive = 10
    """The number of newest versions of each image that are kept at any age."""
    drop_after_days: Positive = 30
    cleanup: Literal["dry-run", "delete"] = "dry-run"
    """Delete old images, or only log them."""
    force_delete: bool = False
    """Delete the repository with its images when the stack is destroyed, and when its region or name changes. Otherwise
    the update or the destruction is refused."""
    readers: Mapping[Name, Member] = Field(default_factory=dict)
    writers: Mapping[Name, Member] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _the_stack_keeps_its_own(self) -> DockerRepositorySettings:
        own = [f"readers.{name}" for name in self.readers if name == "runners"]
        own += [f"writers.{name}" for name in self.writers if name.startswith("github-")]
        if own:
            raise Invalid(f"{own[0]} is a name that gpu-ci uses", "use another name")
        return self


MinorPython = Annotated[
    str,
    Matching(r"3\.([89]|1[013-9])", "another version of Python", 'write it in quotes without the last part, as "3.13"'),
]


class GpuTestImageSettings(Section):
    """The container that GPU tests run in."""

    NEEDS: ClassVar = ("artifact-registry",)

    repository: DockerRepositoryName
    built_by: Literal["workflow", "stack"]
    """`workflow` builds in GitHub Actions; `stack` builds with Docker on the machine that runs `pulumi up`."""
    cuda_image: BaseImage = "13.0.3-base-ubuntu24.04"
    """The base image: a tag of nvidia/cuda, with or without its digest, or a full reference."""
    name: Name = "gpu-tests"
    """The name of the image in the repository."""
    packages: Annotated[tuple[Package, ...], Field(max_length=30)] = ()
    """More packages of Ubuntu in the image."""
    pythons: Annotated[tuple[MinorPython, ...], Field(max_length=8)] = ()
    """More versions of Python in the image, which has 3.12. uv downloads others at the start of each job."""
    tag: Tag

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the build besides the base image, without empty ones."""
        stated = {"PACKAGES": " ".join(self.packages), "PYTHONS": " ".join(self.pythons)}
        return {name: value for name, value in stated.items() if value}


class FederationSettings(Section):
    """Access for GitHub Actions without a key, by repository and branch."""

    NEEDS: ClassVar = ("gcp",)

    owner_id: GitHubId
    """The organisation's numeric id. Another owner could register the name again, but not the id."""
    repositories: Annotated[Mapping[Name, GitHubId], Field(min_length=1)]
    """A name for each repository, and its numeric id."""
    branches: Annotated[tuple[Branch, ...], Field(min_length=1)] = ("main",)
    """Protected branches, from which images may be pushed. The generated workflows build on the first and test on
    each."""
