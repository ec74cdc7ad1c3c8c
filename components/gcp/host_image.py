"""What both ways to the image of GPU machines share: what it is, and who else may boot it.

The image is named by its content: the same bytes and decisions are the same image. `ControlledImage` has one command
build it, which leaves nothing behind but the image; its price is that a refresh does not see it. `DeclaredImage` shows
builder and image as resources, in two phases that the stack file states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi_gcp as gcp

from ami.builder.content_hash import ImageContent, image_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pulumi import Input, Output, ResourceOptions

FOLDER = "ami/gce-gpu-host"
"""The installer, relative to the project: a path of one machine would be another image on every other."""
GUEST_FEATURES = ("GVNIC", "UEFI_COMPATIBLE", "VIRTIO_SCSI_MULTIQUEUE")
"""What an image must say that it can, or newer machine types refuse it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostImageArgs:
    """What both ways to an image need."""

    project: str
    family: str
    content: ImageContent
    zones: Sequence[str]
    """Where to build, in turn."""
    machine_type: str
    spot: bool
    build_minutes: int
    """After this Google ends the builder, whatever has become of who started it."""
    subnetwork: Input[str]
    share_with: Mapping[str, str]
    """A name for each member that may boot it, to the member."""

    @property
    def image(self) -> str:
        """The image's name, known before anything is built."""
        return image_name(self.family, self.content)


def share(name: str, host: HostImageArgs, image: Output[str], opts: ResourceOptions) -> None:
    """Let others boot the image, in their own projects."""
    for who, member in host.share_with.items():
        gcp.compute.ImageIamMember(
            f"{name}-user-{who}",
            project=host.project,
            image=image,
            role="roles/compute.imageUser",
            member=member,
            opts=opts,
        )
