"""What may be said of Google Cloud: project, host image, image repositories, and who may come in without a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from config.section import Section, kebab
from config.values import (
    CudaVersion,
    GoogleProject,
    GoogleRegion,
    GoogleZone,
    Invalid,
    MachineType,
    Matching,
    Name,
    Positive,
    Size,
    Tag,
    in_quotes,
)
from gpu.software.image_tags import OPERATING_SYSTEMS

Member = Annotated[
    str,
    Field(examples=["group:ci@example.org"]),
    Matching(
        r"(user|group|serviceAccount|domain|principal|principalSet):\S+",
        "an IAM member",
        "write the kind and the name, as in group:ci@example.org or user:jo@example.org",
    ),
]
"""Whom a role is given to, as Google spells it: `group:ci@example.org`."""

Branch = Annotated[
    str,
    Field(max_length=200),
    Matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "a branch", "write its name alone, as in main"),
]


BucketName = Annotated[
    str,
    Matching(
        r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]",
        "a bucket's name",
        "use 3 to 63 lower-case letters, digits, dots, hyphens and underscores, a letter or digit at both ends",
    ),
]
ImageName = Annotated[
    str,
    Matching(
        r"[a-z]([-a-z0-9]*[a-z0-9])?",
        "the name of an image of Google Cloud",
        "write it alone, without project or family, as in ubuntu-2404-noble-amd64-v20261105",
    ),
]
DriverBranch = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"\d{3}", "a driver branch", 'write its number alone, in quotes: "580"'),
]
UserName = Annotated[
    str,
    Matching(
        r"[a-z][a-z0-9-]{0,30}",
        "a user's name",
        "use at most 31 lower-case letters, digits and hyphens, letter first",
    ),
]


def _on_ubuntu(value: str) -> str:
    system = value.partition("@")[0].rpartition("-")[2]
    if system in OPERATING_SYSTEMS and not system.startswith("ubuntu"):
        raise Invalid(
            f'"{value}" is not based on Ubuntu, which the container needs',
            "use a tag that ends with an Ubuntu version, as in 13.0.3-base-ubuntu24.04",
        )
    return value


BaseImage = Annotated[
    str,
    Matching(
        r"([a-z0-9.-]+(:\d+)?/[a-z0-9._/-]+:)?[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(@sha256:[0-9a-f]{64})?",
        "a base image with its tag",
        "write a tag of nvidia/cuda, as in 13.0.3-base-ubuntu24.04, or a full reference REGISTRY/NAME:TAG@sha256:…",
    ),
    AfterValidator(_on_ubuntu),
]


ContentHash = Annotated[
    str,
    Matching(
        r"[0-9a-f]{8}", "the hash of an image's content", "write the eight digits that the builder reported after ok:"
    ),
]


class GoogleSettings(Section):
    """Whose cloud and where."""

    project: GoogleProject
    """A project with GPU runners only is best: cirun's rights reach every machine in it."""
    region: GoogleRegion


class BuilderSettings(Section):
    """The machine that an image is installed on."""

    machine_type: MachineType = "e2-standard-8"
    """No GPU is needed to install a driver, only to try it."""
    disk: Size = "50Gi"
    spot: bool = True
    max_minutes: Annotated[int, Field(ge=15, le=480)] = 90
    """Google deletes the machine after this, whatever has become of who started it."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3


class VerifierSettings(Section):
    """The machine that a new image is tried on before anybody else boots it."""

    machine_type: MachineType = "n1-standard-4"
    gpu: Name = "t4"
    gpus: Annotated[int, Field(ge=1, le=8)] = 1
    max_minutes: Annotated[int, Field(ge=15, le=240)] = 30
    """Google deletes the machine after this, whatever has become of who started it."""


class ExportSettings(Section):
    """A copy of each image as an archive in Cloud Storage."""

    bucket: BucketName
    """The bucket's name, unique in all of Google Cloud; made by this stack."""
    keep_days: Positive = 30


class HostImageSettings(Section):
    """The image that GPU machines on GCE boot: Docker, driver and container toolkit, proven on a GPU."""

    NEEDS: ClassVar = ("gcp",)

    mode: Literal["controller", "declared"] = "controller"
    """`controller` leaves nothing behind but the image; `declared` shows builder and image as resources, in two
    phases."""
    phase: Literal["build", "image"] = "build"
    """For `declared` alone: `build` runs the builder, `image` keeps the image and takes the builder down."""
    proved: ContentHash | None = None
    """For `phase: image` alone: what the builder reported after `ok:`, in quotes. Nobody else can know that it did."""
    family: Name
    source_image: ImageName
    """The base image's exact name: a family would be another image, and a new build, every few weeks."""
    source_project: GoogleProject = "ubuntu-os-cloud"
    zones: Annotated[tuple[GoogleZone, ...], Field(min_length=1)]
    """Zones to build and to try in, in turn: a GPU is often not to be had in the first."""
    driver: DriverBranch
    """The driver branch, in quotes, as in "580"."""
    cuda: CudaVersion
    """The newest CUDA that jobs bring; the driver must carry it."""
    docker_user: UserName = "ci-gpu-runner"
    local_ssd: bool = True
    """Whether a local SSD, where there is one, becomes Docker's storage."""
    builder: BuilderSettings = BuilderSettings()
    verifier: VerifierSettings = VerifierSettings()
    keep: Annotated[int, Field(ge=1, le=20)] = 3
    """Images kept of the family, this one included."""
    keep_on_destroy: bool
    """Whether the image outlives the stack."""
    share_with: Mapping[Name, Member] = Field(default_factory=dict)
    """Who else may boot it."""
    export: ExportSettings | None = None

    @model_validator(mode="after")
    def _each_mode_has_its_own(self) -> HostImageSettings:
        stated = self.model_fields_set
        if self.mode == "controller":
            for name in ("phase", "proved"):
                if name in stated and getattr(self, name) != "build":
                    raise Invalid(f"{name} is for mode: declared only", f"remove {name}, or state mode: declared")
            return self
        idle = [kebab(name) for name in ("export", "keep", "verifier") if name in stated]
        idle += ["builder.attempts"] if "attempts" in self.builder.model_fields_set else []
        idle += ["zones after the first"] if len(self.zones) > 1 else []
        if idle:
            raise Invalid(f"mode: declared does not use {', '.join(idle)}", "remove it, or state mode: controller")
        if self.phase == "image" and self.proved is None:
            raise Invalid(
                "phase: image needs proved, because a failed builder also stops",
                "write the hash that the builder reported after ok:, in quotes",
            )
        if self.phase == "build" and self.proved is not None:
            raise Invalid("proved is for phase: image only", "remove proved until the builder has reported ok:")
        return self


class DockerRepositorySettings(Section):
    """One Docker repository in Artifact Registry."""

    NEEDS: ClassVar = ("gcp",)

    region: GoogleRegion | None = None
    """Elsewhere than the stack's own region: pulls across regions are slow and are paid for."""
    immutable_tags: bool = True
    """Tags that do not move. Nor can they be deleted: of such a repository only images without a tag are cleaned up."""
    keep: Positive = 10
    """Versions of each image that stay whatever their age."""
    drop_after_days: Positive = 30
    cleanup: Literal["dry-run", "delete"] = "dry-run"
    """Whether old images go, or are only written down. Without it said, Google deletes at once."""
    readers: Mapping[Name, Member] = Field(default_factory=dict)
    writers: Mapping[Name, Member] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _the_stack_keeps_its_own(self) -> DockerRepositorySettings:
        own = [f"readers.{name}" for name in self.readers if name == "runners"]
        own += [f"writers.{name}" for name in self.writers if name.startswith("github-")]
        if own:
            raise Invalid(f"{own[0]} is a name that gpu-ci uses", "use another name")
        return self


class GpuTestImageSettings(Section):
    """The container that GPU tests run in."""

    NEEDS: ClassVar = ("artifact-registry",)

    repository: Name
    built_by: Literal["workflow", "stack"]
    """`workflow` leaves the build to GitHub Actions; `stack` builds with Docker wherever `pulumi up` runs."""
    cuda_image: BaseImage = "13.0.3-base-ubuntu24.04"
    """What it is built on: a tag of nvidia/cuda, with or without its digest, or the reference of a copy elsewhere."""
    tag: Tag


class FederationSettings(Section):
    """GitHub Actions without a key: which repositories' jobs may act here."""

    NEEDS: ClassVar = ("gcp",)

    owner_id: Annotated[int, Field(ge=1)]
    """The organisation's numeric id: a name can be registered again by somebody else."""
    repositories: Annotated[Mapping[Name, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    """A name for each repository, to its numeric id."""
    branches: Annotated[tuple[Branch, ...], Field(min_length=1)] = ("main",)
    """Branches that take only what was reviewed: from there images may be pushed. The workflows that are written build
    on the first and test on each."""
