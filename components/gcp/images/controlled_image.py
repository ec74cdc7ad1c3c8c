"""The host image, built by one command: it builds, verifies on a GPU, and then promotes the image to its family."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_command as command
from pulumi import Input, Output, ResourceOptions

from ami.builder.images import EXPORT_SECONDS
from ami.builder.inputs import IDENTITY, PREFIX
from components.gcp.images.host_image import FOLDER, HostImageArgs, share

BUILDER: Final = "python3 -m ami.builder"
SHELL: Final = ["/bin/sh", "-c"]
REFUSAL_MINUTES: Final = 2
"""Minutes until a zone reports that it has no capacity."""
IMAGE_MINUTES: Final = 60
"""Minutes for the creation of the image, for deletions, and for repeated calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveArgs:
    """The destination of exported images."""

    bucket: Input[str]
    """The name of the bucket."""
    build_account: Input[str]
    """The email of the account that Cloud Build runs as."""
    machine_account: Input[str]
    """The email of the account that the exporting machine runs as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledImageArgs:
    """The configuration of the builder program."""

    host: HostImageArgs
    owner: str
    """The label of this stack's images: only they are counted and deleted. It is `PROJECT-STACK`."""
    attempts: int
    """The number of builds that are tried."""
    verify_machine_type: str
    """The machine type of the verifier."""
    verify_gvnic: bool = False
    """Whether that type needs a Google Virtual NIC."""
    verify_accelerator: str
    """The GPU to attach to the verifier; empty where the machine type includes one."""
    verify_gpus: int
    """The number of GPUs of the verifier."""
    verify_quota: str
    """The quota of these GPUs in a region, `NVIDIA_T4_GPUS`."""
    verify_minutes: int
    """Minutes after which Google deletes the verifier."""
    verify_options: Mapping[str, str]
    """Expected properties of a machine that boots from the image."""
    keep: int
    """The number of older images that are kept."""
    folder: str = FOLDER
    """The folder of the installer."""
    keep_on_destroy: bool
    """Whether the images outlive the stack."""
    archive: ArchiveArgs | None = None
    """The destination of exports; None exports nothing."""


class ControlledImage(pulumi.ComponentResource):
    """An image that one command builds, verifies on a GPU, and then promotes."""

    name: Output[str]
    """The name of the image, after its verification."""

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
            "GPU_IMAGE_PRIVATE": str(int(host.private)),
            "GPU_IMAGE_MACHINE_TYPE": host.machine_type,
            "GPU_IMAGE_GVNIC": str(int(host.gvnic)),
            "GPU_IMAGE_BUILD_MINUTES": str(host.build_minutes),
            "GPU_IMAGE_VERIFY_MACHINE_TYPE": args.verify_machine_type,
            "GPU_IMAGE_VERIFY_GVNIC": str(int(args.verify_gvnic)),
            "GPU_IMAGE_VERIFY_ACCELERATOR": args.verify_accelerator,
            "GPU_IMAGE_VERIFY_GPUS": str(args.verify_gpus),
            "GPU_IMAGE_VERIFY_QUOTA": args.verify_quota,
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
        # The deleting command exists before the first build, so that it cleans up after a failed one, too.
        end = command.local.Command(
            f"{name}-end",
            create="true",
            delete=f"{BUILDER} destroy",
            environment={key: environment[key] for name in IDENTITY if (key := f"{PREFIX}{name}") in environment},
            interpreter=SHELL,
            # A new family needs a new command: the old command deletes the images of the old family.
            triggers=[host.project, args.owner, host.family],
            opts=ResourceOptions.merge(child, ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(delete="30m"))),
        )
        limit = f"{longest_minutes(args)}m"
        build = command.local.Command(
            name,
            create=f"{BUILDER} build",
            # An update instead of a replacement, because some older images are kept.
            update=f"{BUILDER} build",
            environment=environment,
            interpreter=SHELL,
            logging=command.local.Logging.STDERR,
            opts=ResourceOptions.merge(
                child,
                ResourceOptions(
                    # Neither command has an input from the other.
                    depends_on=[end],
                    custom_timeouts=pulumi.CustomTimeouts(create=limit, update=limit),
                ),
            ),
        )
        self.name = build.stdout.apply(lambda _: host.image)
        share(name, host, self.name, child)
        self.register_outputs({"name": self.name})


def longest_minutes(args: ControlledImageArgs) -> int:
    """Return the time limit of the command: all machines run to their limits, and no zone has capacity at first."""
    places = len(args.host.zones) * (2 if args.host.spot else 1)
    machines = args.host.build_minutes + args.verify_minutes + 2 * places * REFUSAL_MINUTES
    export = EXPORT_SECONDS // 60 if args.archive is not None else 0
    return args.attempts * machines + IMAGE_MINUTES + export
