"""The host image and its builder as resources, in two phases that the stack file states.

The program does not wait for the builder. A person reads on the serial port that it has finished, and then states the
second phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from ami.builder.images import GUEST_FEATURES
from ami.builder.startup_script import HASH_OPTION, INSTALL_HOME, startup_script
from components.gcp.images.host_image import HostImageArgs, share


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredImageArgs:
    """A builder or its image."""

    host: HostImageArgs
    phase: Literal["build", "image"]
    """`build` declares the builder, `image` the image."""
    keep_on_destroy: bool
    """Whether the image outlives the stack."""


class DeclaredImage(pulumi.ComponentResource):
    """A builder, or the image that is created from its disk."""

    name: Output[str] | None
    """The name of the image; None in the phase `build`."""

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
            # By its name instead of an output: this phase deletes the builder with its disk.
            source_disk=f"projects/{host.project}/zones/{zone}/disks/{builder}",
            storage_locations=[host.content.location],
            guest_os_features=[{"type": kind} for kind in GUEST_FEATURES],
            labels={"gpu-image-hash": host.content.hash},
            opts=ResourceOptions.merge(child, ResourceOptions(retain_on_delete=args.keep_on_destroy)),
        )
        self.name = image.name
        share(name, host, self.name, child)
        self.register_outputs({"name": self.name})

    def _builder(self, name: str, host: HostImageArgs, builder: str, zone: str, script: str) -> None:
        """Declare a machine that installs, reports and stops. Its name contains the content hash."""
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
            network_interfaces=[
                {
                    "subnetwork": host.subnetwork,
                    "nic_type": "GVNIC" if host.gvnic else None,
                    "access_configs": [] if host.private else [{"network_tier": "PREMIUM"}],
                }
            ],
            scheduling={
                "provisioning_model": "SPOT" if host.spot else "STANDARD",
                "preemptible": host.spot,
                "automatic_restart": False,
                "on_host_maintenance": "TERMINATE",
                # Stopped instead of deleted: every update would recreate a deleted machine.
                "instance_termination_action": "STOP",
                "max_run_duration": {"seconds": host.build_minutes * 60},
            },
            shielded_instance_config={
                "enable_secure_boot": True,
                "enable_vtpm": True,
                "enable_integrity_monitoring": True,
            },
            metadata={
                "enable-guest-attributes": "TRUE",
                "enable-oslogin": "TRUE",
                "block-project-ssh-keys": "TRUE",
                # The log keeps the report readable after the machine stops.
                "serial-port-logging-enable": "TRUE",
            },
            metadata_startup_script=script,
            labels={"gpu-image-hash": host.content.hash},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
