"""Machine images that node groups name by their ids: a tag keeps each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import ResourceOptions

from components.aws.images.image_content import IN_USE_TAG


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedImagesArgs:
    """Images in use."""

    amis: Sequence[str]
    """AMIs in the region of the provider, each once."""


class PinnedImages(pulumi.ComponentResource):
    """The tags of images in use. The lifecycle policy of an image factory does not delete an AMI with this tag."""

    def __init__(self, name: str, args: PinnedImagesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:PinnedImages", name, None, opts)
        for ami in args.amis:
            aws.ec2.Tag(
                f"{name}-{ami}", resource_id=ami, key=IN_USE_TAG, value="true", opts=ResourceOptions(parent=self)
            )
        self.register_outputs({})
