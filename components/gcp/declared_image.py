"""The image as a resource, and its builder as one: first the one, then the other, as the stack file states.

Nothing here waits for the builder, and nothing can look at it: that it has come to its end is for a person to read, and
to state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from ami.builder.startup_script import INSTALL_HOME, startup_script
from components.gcp.host_image import GUEST_FEATURES, HostImageArgs, share

HASH_OPTION = "GPU_HOST_HASH"


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
        share(name, host, self.name, child)
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
            metadata={
                "enable-guest-attributes": "TRUE",
                "enable-oslogin": "TRUE",
                "block-project-ssh-keys": "TRUE",
                # The serial port can be read while a machine runs; its report is to be read when it has stopped.
                "serial-port-logging-enable": "TRUE",
            },
            metadata_startup_script=script,
            labels={"gpu-image-hash": host.content.hash},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
