"""What must hold of the host image: what it is installed on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from config.faults import Fault
from config.gcp import HostImageSettings
from config.stated import inner
from config.values import mebibytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

BASE_SIZE: Final = "10Gi"
"""What Ubuntu's images for Google Cloud have (the diskSizeGb of ubuntu-os-cloud's images, 2026)."""
_EXAMPLE: Final = "ubuntu-2404-noble-amd64-v20261105"


def source_images_are_exact(stated: Stated) -> Iterator[Fault]:
    """A family's name means whatever is newest, and with each new base there would be a new build."""
    name, project = _base(stated)
    if _is_public(project) and name is not None and not re.search(r"-v\d{8}[a-z]?$", name):
        wrong = f'"{name}" names no exact image of {project}'
        yield Fault("host-image.source-image", wrong, f"write the name with its date, as in {_EXAMPLE}")


def the_installer_fits_the_base(stated: Stated) -> Iterator[Fault]:
    """The installer takes packages that are made for Ubuntu on x86, where every GPU of Google's but the newest is."""
    name, project = _base(stated)
    if project is None or name is None or not _is_public(project):
        return
    if not project.startswith("ubuntu-os"):
        wrong = f"the images of {project} are no Ubuntu, and the installer knows nothing else"
        yield Fault("host-image.source-project", wrong, "leave it out, and take an image of ubuntu-os-cloud")
    elif not name.startswith("ubuntu"):
        wrong = f'"{name}" is no Ubuntu, and the installer knows nothing else'
        yield Fault("host-image.source-image", wrong, f"take one of Ubuntu, as in {_EXAMPLE}")
    elif "-arm64-" in name:
        wrong = f'"{name}" is for arm64, and the machines with GPUs are amd64'
        yield Fault("host-image.source-image", wrong, f"write {name.replace('-arm64-', '-amd64-')}")


def the_builder_holds_the_base(stated: Stated) -> Iterator[Fault]:
    """Google makes no disk smaller than the image on it. What the image needs of runners is judged with their fit."""
    size = inner(stated.of("host-image"), "builder").get("disk")
    if size is not None and mebibytes(size) < mebibytes(BASE_SIZE):
        wrong = f"{size} does not hold the base image, which has {BASE_SIZE}"
        yield Fault("host-image.builder.disk", wrong, "write 50Gi, or leave it out")


def _base(stated: Stated) -> tuple[str | None, str | None]:
    """What the image is installed on: its name, and the project that it is of."""
    image = stated.of("host-image")
    usual: str = HostImageSettings.model_fields["source_project"].default
    return image.get("source-image"), image.get("source-project", usual)


def _is_public(project: str | None) -> bool:
    """Whether a project is one of those that offer their images to everybody; of others nothing is known."""
    return project is not None and project.endswith("-cloud")


IMAGE_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    source_images_are_exact,
    the_installer_fits_the_base,
    the_builder_holds_the_base,
)
