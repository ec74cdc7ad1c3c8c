"""The common part of both modes of the host image: its content, and the projects that may boot it.

The content determines the name of the image: equal files and options give the same image. `ControlledImage` runs one
command that leaves only the image; a refresh does not see it. `DeclaredImage` declares builder and image as resources,
in two phases that the stack file states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions

from ami.builder.content_hash import ImageContent, image_name

FOLDER = "ami/gce-gpu-host"
"""The installer, relative to the project: an absolute path would cause a diff on every other machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostImageArgs:
    """An image and its builder."""

    project: str
    family: str
    """The image family."""
    content: ImageContent
    """The files and options from which the name of the image is derived."""
    zones: Sequence[str]
    """Zones in which a build is tried, in order."""
    machine_type: str
    """The machine type of the builder."""
    gvnic: bool = False
    """Whether that type needs a Google Virtual NIC."""
    spot: bool
    """Whether the builder is a spot machine."""
    build_minutes: int
    """Minutes after which Google stops the builder, even if the deploying process is no longer running."""
    subnetwork: Input[str]
    """The name of the builder's subnetwork."""
    private: bool = False
    """Whether the machines have no public address."""
    share_with: Mapping[str, str]
    """A name for each member that may boot the image, to the member."""

    @property
    def image(self) -> str:
        """The name of the image. It is known before the build."""
        return image_name(self.family, self.content)


def share(name: str, host: HostImageArgs, image: Output[str], opts: ResourceOptions) -> None:
    """Grant other members the permission to boot the image in their own projects."""
    for who, member in host.share_with.items():
        gcp.compute.ImageIamMember(
            f"{name}-user-{who}",
            project=host.project,
            image=image,
            role="roles/compute.imageUser",
            member=member,
            opts=opts,
        )
