"""The image that GPU machines boot, named by its content: the same bytes and decisions are the same image.

Two ways to it. `ControlledImage` runs one command that leaves nothing behind but the image; its price is that a
refresh does not see the image. `DeclaredImage` shows builder and image as resources, in two phases that the stack file
states.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pulumi
import pulumi_command as command
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from components.gcp.image_controller.content_hash import ImageContent, image_name
from components.gcp.image_controller.startup_script import INSTALL_HOME, startup_script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pulumi import Input

FOLDER = "ami/gce-gpu-host"
"""The installer, relative to the project: a path of one machine would be another image on every other."""
CONTROLLER = "python3 -m components.gcp.image_controller"
HASH_OPTION = "GPU_HOST_HASH"
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
    verify_options: Mapping[str, str]
    keep: int
    """Older images that stay."""
    folder: str = FOLDER
    """Where the controller finds the installer."""
    keep_on_destroy: bool
    export_bucket: str | None = None
    export_days: int = 30


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
            "GPU_IMAGE_PROVISIONING": "SPOT STANDARD" if host.spot else "STANDARD",
            "GPU_IMAGE_ATTEMPTS": str(args.attempts),
            "GPU_IMAGE_SUBNET": host.subnetwork,
            "GPU_IMAGE_KEEP": str(args.keep),
            "GPU_IMAGE_KEEP_ON_DESTROY": str(int(args.keep_on_destroy)),
        }
        if args.export_bucket is not None:
            bucket = gcp.storage.Bucket(
                f"{name}-archive",
                project=host.project,
                name=args.export_bucket,
                location=host.content.location.upper(),
                uniform_bucket_level_access=True,
                public_access_prevention="enforced",
                force_destroy=not args.keep_on_destroy,
                lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": args.export_days}}],
                opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
            )
            environment["GPU_IMAGE_EXPORT"] = Output.concat("gs://", bucket.name, "/images")
        build = command.local.Command(
            name,
            create=f"{CONTROLLER} build",
            # Not by replacement: that would end with deleting the old image, of which some are to be kept.
            update=f"{CONTROLLER} build",
            delete=f"{CONTROLLER} destroy",
            environment=environment,
            interpreter=["/bin/sh", "-c"],
            # Another family is another thing: the old one's images go with the old command, as it was told.
            triggers=[host.project, args.owner, host.family],
            logging=command.local.Logging.STDERR,
            opts=ResourceOptions.merge(
                child, ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="5h", update="5h", delete="30m"))
            ),
        )
        self.name = build.stdout.apply(lambda _: host.image)
        _share(name, host, self.name, child)
        self.register_outputs({"name": self.name})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredImageArgs:
    """What the declared way is told beside."""

    host: HostImageArgs
    phase: Literal["build", "image"]
    keep_on_destroy: bool


class DeclaredImage(pulumi.ComponentResource):
    """A builder and its image as resources: first the one, then the other, as the stack file states."""

    name: Output[str] | None
    """The image's name, in the phase that makes it."""

    def __init__(self, name: str, args: DeclaredImageArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:DeclaredImage", name, None, opts)
        host = args.host
        child = ResourceOptions(parent=self)
        builder, zone = f"{host.image}-build", host.zones[0]
        if args.phase == "build":
            options = {**host.content.options, HASH_OPTION: host.content.hash, "STOP_WHEN_DONE": "1"}
            script = startup_script(host.content.files, options, home=INSTALL_HOME, run="install.sh")
            self._builder(f"{name}-builder", host, builder, zone, script)
            self.name = None
            self.register_outputs({})
            return
        image = gcp.compute.Image(
            name,
            project=host.project,
            name=host.image,
            family=host.family,
            # By its name and not from the builder: this phase takes the builder down, and its disk with it.
            source_disk=f"projects/{host.project}/zones/{zone}/disks/{builder}",
            storage_locations=[host.content.location],
            guest_os_features=[{"type": kind} for kind in GUEST_FEATURES],
            labels={"gpu-image-hash": host.content.hash},
            opts=ResourceOptions.merge(child, ResourceOptions(retain_on_delete=args.keep_on_destroy)),
        )
        self.name = image.name
        _share(name, host, self.name, child)
        self.register_outputs({"name": self.name})

    def _builder(self, name: str, host: HostImageArgs, builder: str, zone: str, script: str) -> None:
        """A machine that installs, reports and stops; told apart by its content, so that another is another."""
        gcp.compute.Instance(
            name,
            project=host.project,
            name=builder,
            zone=zone,
            machine_type=host.machine_type,
            boot_disk={
                "auto_delete": True,
                "device_name": builder,
                "initialize_params": {
                    "image": "projects/{}/global/images/{}".format(*host.content.base_image.split("/")),
                    "size": host.content.disk_gib,
                    "type": "pd-balanced",
                },
            },
            network_interfaces=[{"subnetwork": host.subnetwork, "access_configs": [{"network_tier": "PREMIUM"}]}],
            scheduling={
                "provisioning_model": "SPOT" if host.spot else "STANDARD",
                "preemptible": host.spot,
                "automatic_restart": False,
                "on_host_maintenance": "TERMINATE",
                # Stopped and not deleted: a machine that vanishes would be made again at every update.
                "instance_termination_action": "STOP",
                "max_run_duration": {"seconds": host.build_minutes * 60},
            },
            shielded_instance_config={
                "enable_secure_boot": True,
                "enable_vtpm": True,
                "enable_integrity_monitoring": True,
            },
            metadata={"enable-guest-attributes": "TRUE", "enable-oslogin": "TRUE", "block-project-ssh-keys": "TRUE"},
            metadata_startup_script=script,
            labels={"gpu-image-hash": host.content.hash},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )


def _share(name: str, host: HostImageArgs, image: Output[str], opts: ResourceOptions) -> None:
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
