"""One long-lived machine on Compute Engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import pulumi
import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions

from gpu_ci.back_ends.shared.machine.gcp.alarms import GcpAlarms, GcpAlarmsArgs
from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.knowledge.machines import MachineType
from gpu_ci.knowledge.regions import region_of

if TYPE_CHECKING:
    from gpu_ci.back_ends.shared.machine.gcp.base import GcpBase

STOCK_IMAGES: Final = {
    "ubuntu-24.04": "projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-amd64-v20260918",
    "ubuntu-22.04": "projects/ubuntu-os-cloud/global/images/ubuntu-2204-jammy-v20260906",
}
"""Canonical's images (Google Cloud, project ubuntu-os-cloud, September 2026). A family would change between runs."""
_LOCAL_SSD: Final = ("a2-ultragpu", "a3-", "a4-")
"""Machine types that always have Local SSDs (Google Cloud, "About Local SSD disks", 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpMachineArgs:
    """The machine, its software and its connections."""

    title: str
    """The name of the instance."""
    project: str
    zone: str
    """The zone; the region follows from it."""
    machine: MachineType
    """The machine type, with attached GPUs where it has none of its own."""
    image: Input[str]
    """The path of the image, `projects/PROJECT/global/images/NAME`."""
    signed_driver: bool
    """Whether the driver has Canonical's signature, so that Secure Boot can load it."""
    disk_gib: int
    """The size of the boot disk."""
    spot: bool
    """Whether Compute Engine may stop the machine when it needs the capacity."""
    public_address: bool
    """Whether the machine has a public address."""
    egress_ports: Sequence[int]
    """TCP ports on which the machine reaches the internet."""
    user_data: str
    """The boot configuration as text. It contains no secret."""
    max_hours: int
    """Hours after each start at which Compute Engine stops the machine."""
    base: GcpBase
    """What the machines share."""
    hours: Hours | None = None
    """The hours in which the machine runs; none without a schedule."""
    email: str = ""
    """The address of alarms; empty without alarms."""
    idle_minutes: int = 60
    """Minutes without use of the GPU before an alarm."""


class GcpMachine(pulumi.ComponentResource):
    """A machine that is started and stopped outside of Pulumi, and that Compute Engine stops after a stated time.

    The limit is part of the instance: Compute Engine sets the time of the stop at each start, and nothing on the
    machine, at GitHub or in a workflow is needed for it (Google Cloud, "Limit the run time of a VM", 2026).
    """

    instance_id: Output[str]
    """The number of the instance."""

    def __init__(self, name: str, args: GcpMachineArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:Machine", name, None, opts)
        child = ResourceOptions(parent=self)
        # Its name is its address: the old machine must be deleted before the new one is created.
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        region, machine = region_of(args.zone), args.machine
        ports = gcp.compute.Firewall(
            name,
            project=args.project,
            name=f"{args.title}-egress",
            network=args.base.network,
            direction="EGRESS",
            # Before the rule of the network that denies all.
            priority=900,
            allows=[{"protocol": "tcp", "ports": [str(port) for port in args.egress_ports]}],
            destination_ranges=["0.0.0.0/0"],
            target_tags=[args.title],
            description=f"The ports on which {args.title} reaches the internet",
            opts=fixed,
        )
        schedule = self._schedule(name, args, args.hours, region) if args.hours is not None else None
        instance = gcp.compute.Instance(
            name,
            project=args.project,
            name=args.title,
            zone=args.zone,
            machine_type=machine.name,
            boot_disk={
                "initialize_params": {"image": args.image, "size": args.disk_gib, "type": machine.boot_disk},
            },
            guest_accelerators=_attached(machine),
            network_interfaces=[
                {
                    "subnetwork": args.base.subnetworks[region],
                    "nic_type": "GVNIC" if machine.gvnic else None,
                    "access_configs": [{"network_tier": "PREMIUM"}] if args.public_address else [],
                }
            ],
            tags=[args.title],
            scheduling=_scheduling(args),
            resource_policies=schedule.self_link if schedule is not None else None,
            service_account={"email": args.base.email, "scopes": ["cloud-platform"]},
            shielded_instance_config={
                "enable_secure_boot": args.signed_driver,
                "enable_vtpm": True,
                "enable_integrity_monitoring": True,
            },
            metadata={
                "enable-guest-attributes": "TRUE",
                "enable-oslogin": "TRUE",
                "block-project-ssh-keys": "TRUE",
                "user-data": args.user_data,
            },
            # Other edits, as of the machine type, need a stopped machine.
            allow_stopping_for_update=True,
            opts=ResourceOptions.merge(
                fixed,
                ResourceOptions(
                    depends_on=[*args.base.ready, ports],
                    # cloud-init reads user data at the first boot only. A machine that keeps running on the old one
                    # would contradict the stack file.
                    replace_on_changes=["metadata"],
                ),
            ),
        )
        self.instance_id = instance.instance_id
        if args.email:
            GcpAlarms(
                name,
                GcpAlarmsArgs(
                    project=args.project,
                    title=args.title,
                    instance_id=instance.instance_id,
                    email=args.email,
                    idle_minutes=args.idle_minutes,
                    hours=args.hours,
                ),
                child,
            )
        self.register_outputs({"instance_id": self.instance_id})

    def _schedule(self, name: str, args: GcpMachineArgs, hours: Hours, region: str) -> gcp.compute.ResourcePolicy:
        """Declare the schedule by which Compute Engine starts and stops the machine."""
        content = f"{hours.time_zone}/{hours.start_cron}/{hours.stop_cron}"
        return gcp.compute.ResourcePolicy(
            name,
            project=args.project,
            # A schedule in use cannot be deleted. With another name, the new one is attached before that.
            name=f"{args.title}-{sha256(content.encode()).hexdigest()[:6]}",
            region=region,
            instance_schedule_policy={
                "time_zone": hours.time_zone,
                "vm_start_schedule": {"schedule": hours.start_cron},
                "vm_stop_schedule": {"schedule": hours.stop_cron},
            },
            opts=ResourceOptions(parent=self),
        )


def _attached(machine: MachineType) -> list[gcp.compute.InstanceGuestAcceleratorArgs] | None:
    """Return the GPUs to attach; none where the machine type has its own."""
    if not machine.attached or machine.gpu is None or machine.gpu.gcp is None:
        return None
    return [gcp.compute.InstanceGuestAcceleratorArgs(type=machine.gpu.gcp, count=machine.gpus)]


def _scheduling(args: GcpMachineArgs) -> gcp.compute.InstanceSchedulingArgs:
    """Return when Compute Engine stops the machine. It cannot move a machine with a GPU to another host."""
    discard = gcp.compute.InstanceSchedulingOnInstanceStopActionArgs(discard_local_ssd=True)
    return gcp.compute.InstanceSchedulingArgs(
        provisioning_model="SPOT" if args.spot else "STANDARD",
        preemptible=args.spot,
        automatic_restart=not args.spot,
        on_host_maintenance="TERMINATE",
        instance_termination_action="STOP",
        max_run_duration=gcp.compute.InstanceSchedulingMaxRunDurationArgs(seconds=args.max_hours * 3600),
        on_instance_stop_action=discard if args.machine.name.startswith(_LOCAL_SSD) else None,
    )
