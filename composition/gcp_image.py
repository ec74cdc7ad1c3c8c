"""The host image on Google Cloud: its builders' network, its archive, and the image in the way that is stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.gcp.build_network import BuildNetwork
from components.gcp.controlled_image import ArchiveArgs, ControlledImage, ControlledImageArgs
from components.gcp.declared_image import DeclaredImage, DeclaredImageArgs
from components.gcp.host_image import HostImageArgs
from components.gcp.image_archive import ImageArchive, ImageArchiveArgs
from composition import host_image

if TYPE_CHECKING:
    from pathlib import Path

    from pulumi import ResourceOptions

    from config.gcp import GoogleSettings, HostImageSettings
    from config.identity import Identity


def image(
    settings: HostImageSettings, stated: GoogleSettings, identity: Identity, installer: Path, opts: ResourceOptions
) -> pulumi.Resource:
    """The network of its builders and the image itself, in the way that is stated."""
    network = BuildNetwork(
        "build-network",
        project=stated.project,
        title=f"{identity.prefix}-build",
        regions=host_image.regions(settings.zones),
        opts=opts,
    )
    args = HostImageArgs(
        project=stated.project,
        family=settings.family,
        content=host_image.content(settings, stated.region, installer),
        zones=settings.zones,
        machine_type=settings.builder.machine_type,
        spot=settings.builder.spot,
        build_minutes=settings.builder.max_minutes,
        subnetwork=network.subnetwork,
        share_with=settings.share_with,
    )
    pulumi.export("host_image", host_image.facts(args.image, settings, stated.project))
    if settings.mode == "declared":
        declared = DeclaredImageArgs(host=args, phase=settings.phase, keep_on_destroy=settings.keep_on_destroy)
        return DeclaredImage("host-image", declared, opts)
    verifier = settings.verifier
    return ControlledImage(
        "host-image",
        ControlledImageArgs(
            host=args,
            owner=identity.prefix,
            attempts=settings.builder.attempts,
            verify_machine_type=verifier.machine_type,
            verify_accelerator=host_image.accelerator(verifier),
            verify_gpus=verifier.gpus,
            verify_minutes=verifier.max_minutes,
            verify_options=host_image.verify_options(settings),
            keep=settings.keep - 1,
            keep_on_destroy=settings.keep_on_destroy,
            archive=_archive(settings, stated, identity, opts),
            folder=host_image.folder(installer),
        ),
        opts,
    )


def _archive(
    settings: HostImageSettings, stated: GoogleSettings, identity: Identity, opts: ResourceOptions
) -> ArchiveArgs | None:
    if settings.export is None:
        return None
    archive = ImageArchive(
        "host-image-archive",
        ImageArchiveArgs(
            project=stated.project,
            region=stated.region,
            bucket=settings.export.bucket,
            keep_days=settings.export.keep_days,
            keep_on_destroy=settings.keep_on_destroy,
            prefix=identity.prefix,
        ),
        opts,
    )
    return ArchiveArgs(
        bucket=archive.bucket, build_account=archive.build_account, machine_account=archive.machine_account
    )
