"""The image by one command: built, proved on a GPU, and only then promoted to its family."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pulumi
import pulumi_command as command
from pulumi import Output, ResourceOptions

from ami.builder.archive import EXPORT_SECONDS
from components.gcp.host_image import FOLDER, HostImageArgs, share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulumi import Input

CONTROLLER: Final = "python3 -m ami.builder"
SHELL: Final = ["/bin/sh", "-c"]
WHOSE: Final = tuple(
    f"GPU_IMAGE_{name}"
    for name in (
        "PROJECT", "FAMILY", "OWNER", "KEEP_ON_DESTROY", "SUBNET", "EXPORT", "EXPORT_BUILD", "EXPORT_MACHINE"
    )
)  # fmt: skip
"""What says what there is to take down. The network and the accounts are among it so that they go afterwards."""
MINUTES_A_REFUSAL: Final = 2
"""How long a zone may take to say that it has no such machine."""
MINUTES_OF_IMAGE: Final = 60
"""For the image itself, for deletions, and for calls that are made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveArgs:
    """Where a copy of each image goes, and as whom."""

    bucket: Input[str]
    build_account: Input[str]
    machine_account: Input[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledImageArgs:
    """What the controller is told beside."""

    host: HostImageArgs
    owner: str
    """Whose images of the family are counted and let go: `PROJECT-STACK`."""
    attempts: int
    verify_machine_type: str
    verify_accelerator: str
    """The GPU to attach; empty where the machine brings its own."""
    verify_gpus: int
    """How many of it."""
    verify_minutes: int
    """After this Google ends the machine that tries it."""
    verify_options: Mapping[str, str]
    keep: int
    """Older images that stay."""
    folder: str = FOLDER
    """Where the controller finds the installer."""
    keep_on_destroy: bool
    archive: ArchiveArgs | None = None


class ControlledImage(pulumi.ComponentResource):
    """An image that one command builds, proves on a GPU, and only then promotes."""

    name: Output[str]
    """The image's name, once it is proved."""

    def __init__(self, name: str, args: ControlledImageArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:ControlledImage", name, None, opts)
        host = args.host
        child = ResourceOptions(parent=self)
        environment: dict[str, Input[str]] = {
            "GPU_IMAGE_PROJECT": host.project,
            "GPU_IMAGE_ZONES": " ".join(host.zones),
            "GPU_IMAGE_FAMILY": host.family,
            "GPU_IMAGE_NAME": host.image,
            "GPU_IMAGE_OWNER": args.owner,
            "GPU_IMAGE_FOLDER": args.folder,
            "GPU_IMAGE_BASE": host.content.base_image,
            "GPU_IMAGE_OPTIONS": json.dumps(dict(host.content.options), sort_keys=True),
            "GPU_IMAGE_VERIFY_OPTIONS": json.dumps(dict(args.verify_options), sort_keys=True),
            "GPU_IMAGE_DISK_GIB": str(host.content.disk_gib),
            "GPU_IMAGE_LOCATION": host.content.location,
            "GPU_IMAGE_MACHINE_TYPE": host.machine_type,
            "GPU_IMAGE_BUILD_MINUTES": str(host.build_minutes),
            "GPU_IMAGE_VERIFY_MACHINE_TYPE": args.verify_machine_type,
            "GPU_IMAGE_VERIFY_ACCELERATOR": args.verify_accelerator,
            "GPU_IMAGE_VERIFY_GPUS": str(args.verify_gpus),
            "GPU_IMAGE_VERIFY_MINUTES": str(args.verify_minutes),
            "GPU_IMAGE_PROVISIONING": "SPOT STANDARD" if host.spot else "STANDARD",
            "GPU_IMAGE_ATTEMPTS": str(args.attempts),
            "GPU_IMAGE_SUBNET": host.subnetwork,
            "GPU_IMAGE_KEEP": str(args.keep),
            "GPU_IMAGE_KEEP_ON_DESTROY": str(int(args.keep_on_destroy)),
        }
        if args.archive is not None:
            environment |= {
                "GPU_IMAGE_EXPORT": Output.concat("gs://", args.archive.bucket, "/images"),
                "GPU_IMAGE_EXPORT_BUILD": args.archive.build_account,
                "GPU_IMAGE_EXPORT_MACHINE": args.archive.machine_account,
            }
        # What takes it down is there before anything is built, and so after a first build that failed.
        end = command.local.Command(
            f"{name}-end",
            create="true",
            delete=f"{CONTROLLER} destroy",
            environment={key: environment[key] for key in WHOSE if key in environment},
            interpreter=SHELL,
            # Another family is another thing: the old one's images go with the old command, as it was told.
            triggers=[host.project, args.owner, host.family],
            opts=ResourceOptions.merge(child, ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(delete="30m"))),
        )
        limit = f"{longest_minutes(args)}m"
        build = command.local.Command(
            name,
            create=f"{CONTROLLER} build",
            # Not by replacement: of the older images some are to be kept.
            update=f"{CONTROLLER} build",
            environment=environment,
            interpreter=SHELL,
            logging=command.local.Logging.STDERR,
            opts=ResourceOptions.merge(
                child,
                ResourceOptions(
                    # No input of the one comes from the other.
                    depends_on=[end],
                    custom_timeouts=pulumi.CustomTimeouts(create=limit, update=limit),
                ),
            ),
        )
        self.name = build.stdout.apply(lambda _: host.image)
        share(name, host, self.name, child)
        self.register_outputs({"name": self.name})


def longest_minutes(args: ControlledImageArgs) -> int:
    """How long the command may take: every machine to its limit, and every zone without capacity."""
    places = len(args.host.zones) * (2 if args.host.spot else 1)
    machines = args.host.build_minutes + args.verify_minutes + 2 * places * MINUTES_A_REFUSAL
    export = EXPORT_SECONDS // 60 if args.archive is not None else 0
    return args.attempts * machines + MINUTES_OF_IMAGE + export
