"""One long-lived machine on EC2, with a role that only it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import service_trust
from gpu_ci.back_ends.shared.machine.aws import permissions as aws_permissions
from gpu_ci.back_ends.shared.machine.aws.alarms import MachineAlarms, MachineAlarmsArgs
from gpu_ci.back_ends.shared.machine.aws.instance import Instance
from gpu_ci.back_ends.shared.machine.aws.network import MachineNetwork, MachineNetworkArgs
from gpu_ci.back_ends.shared.machine.aws.schedule import MachineSchedule, MachineScheduleArgs
from gpu_ci.back_ends.shared.machine.aws.time_limit import TimeLimit, TimeLimitArgs
from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.knowledge.regions import region_of
from gpu_ci.knowledge.software.machine_images import ubuntu_parameter

_SERIES: Final = {"22.04": "jammy", "24.04": "noble"}
"""The names of Ubuntu's releases: a name of a resource contains no version."""
_ROOT_DEVICE: Final = "/dev/sda1"
"""The root device of Ubuntu's images."""
_HOPS: Final = 1
"""Routers between the metadata and a process that reads them; a container would be one more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2MachineArgs:
    """The machine, its software and its network."""

    title: str
    """The `Name` tag, unique in the account."""
    account: str
    zone: str
    """The availability zone; the region follows from it."""
    machine_type: str
    """The instance type."""
    image: Input[str] | None
    """The AMI; none for Canonical's newest image of `ubuntu` at the time of the first start."""
    ubuntu: str
    """The release of Ubuntu without an AMI, for example `24.04`."""
    disk_gib: int
    """The size of the encrypted root disk."""
    spot: bool
    """Whether EC2 may stop the machine when it needs the capacity."""
    egress_ports: Sequence[int]
    """TCP ports on which the machine reaches the internet."""
    key_parameter: str
    """The SSM parameter with the private key of the GitHub App."""
    user_data: str
    """The boot configuration as text. It contains no secret."""
    max_hours: int
    """Hours after each start at which the machine is stopped."""
    tags: Mapping[str, str]
    """The tags of the stack, for the launch template: it does not pass on the default tags of the provider."""
    hours: Hours | None = None
    """The hours in which the machine runs; none without a schedule."""
    email: str = ""
    """The address of alarms; empty without alarms."""
    idle_minutes: int = 60
    """Minutes without use of the GPU before an alarm."""


class Ec2Machine(pulumi.ComponentResource):
    """A machine in a network of its own. It stops instead of terminating, and keeps its disk."""

    instance_id: Output[str]
    arn: Output[str]

    def __init__(self, name: str, args: Ec2MachineArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Ec2Machine", name, None, opts)
        child = ResourceOptions(parent=self)
        region = region_of(args.zone)
        network = MachineNetwork(
            name, MachineNetworkArgs(title=args.title, zone=args.zone, egress_ports=args.egress_ports), child
        )
        role = aws.iam.Role(
            name,
            assume_role_policy=service_trust("ec2.amazonaws.com"),
            description=f"The machine {args.title}",
            opts=child,
        )
        permissions = aws.iam.RolePolicy(
            name,
            role=role.name,
            policy=aws_permissions.machine(account=args.account, region=region, parameter=args.key_parameter),
            opts=child,
        )
        profile = aws.iam.InstanceProfile(name, role=role.name, opts=child)
        instance = aws.ec2.Instance(
            name,
            region=region,
            instance_type=args.machine_type,
            ami=args.image,
            launch_template=_template(name, args, child),
            subnet_id=network.subnet_id,
            vpc_security_group_ids=[network.security_group_id],
            # The machine reads the App's key during its first boot.
            iam_instance_profile=Output.all(profile.name, permissions.id).apply(lambda values: str(values[0])),
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": _HOPS,
            },
            # With a template, the disk is there. For this block the provider looks up the template's image, and
            # DescribeImages refuses `resolve:ssm:` (https://github.com/hashicorp/terraform-provider-aws/issues/43488).
            root_block_device={
                "volume_type": "gp3",
                "volume_size": args.disk_gib,
                "encrypted": True,
                "delete_on_termination": True,
                "tags": {"Name": args.title},
            }
            if args.image is not None
            else None,
            user_data=args.user_data,
            # cloud-init reads user data at the first boot only. A machine that keeps running on the old one would
            # contradict the stack file.
            user_data_replace_on_change=True,
            instance_initiated_shutdown_behavior="stop",
            # A one-time request cannot be stopped, only terminated.
            instance_market_options={
                "market_type": "spot",
                "spot_options": {"spot_instance_type": "persistent", "instance_interruption_behavior": "stop"},
            }
            if args.spot
            else None,
            maintenance_options={"auto_recovery": "default"},
            tags={"Name": args.title},
            opts=ResourceOptions.merge(
                child,
                ResourceOptions(
                    # Two machines would need twice the quota, and could have one runner's name.
                    delete_before_replace=True,
                    # The machine writes this tag.
                    ignore_changes=[f'{key}["{aws_permissions.STATUS_TAG}"]' for key in ("tags", "tagsAll")],
                ),
            ),
        )
        aws.iam.RolePolicy(
            f"{name}-status", role=role.name, policy=instance.arn.apply(aws_permissions.own_status), opts=child
        )
        self.instance_id, self.arn = instance.id, instance.arn
        self._watch(name, args, region)
        self.register_outputs({"instance_id": self.instance_id, "arn": self.arn})

    def _watch(self, name: str, args: Ec2MachineArgs, region: str) -> None:
        """Declare the limit of the running time, the schedule and the alarms."""
        child = ResourceOptions(parent=self)
        instance = Instance(title=args.title, account=args.account, region=region, id=self.instance_id, arn=self.arn)
        limit = TimeLimit(f"{name}-limit", TimeLimitArgs(instance=instance, hours=args.max_hours), child)
        schedule = None
        if args.hours is not None:
            schedule = MachineSchedule(
                f"{name}-schedule", MachineScheduleArgs(instance=instance, hours=args.hours), child
            )
        if args.email:
            MachineAlarms(
                f"{name}-alarms",
                MachineAlarmsArgs(
                    instance=instance,
                    email=args.email,
                    idle_minutes=args.idle_minutes,
                    hours=args.hours,
                    function=limit.function,
                    failed=schedule.failed if schedule is not None else None,
                ),
                child,
            )


def _template(name: str, args: Ec2MachineArgs, child: ResourceOptions) -> aws.ec2.InstanceLaunchTemplateArgs | None:
    """Return a launch template with the newest image of Ubuntu and the root disk; none for a machine with an AMI.

    EC2 resolves the parameter when the machine is created, so that a later image does not replace it. Another release
    of Ubuntu has another template, and another disk replaces the template; each replaces the machine. Tags do not
    update the template: no machine would start from the new version, and the provider tags instance and disk itself.
    """
    if args.image is not None:
        return None
    template = aws.ec2.LaunchTemplate(
        f"{name}-{_SERIES[args.ubuntu]}",
        region=region_of(args.zone),
        image_id=f"resolve:ssm:{ubuntu_parameter(args.ubuntu)}",
        block_device_mappings=[
            {
                "device_name": _ROOT_DEVICE,
                "ebs": {
                    "volume_type": "gp3",
                    "volume_size": args.disk_gib,
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            "http_put_response_hop_limit": _HOPS,
        },
        tag_specifications=[
            {"resource_type": kind, "tags": {**args.tags, "Name": args.title}} for kind in ("instance", "volume")
        ],
        opts=ResourceOptions.merge(
            child,
            ResourceOptions(replace_on_changes=["blockDeviceMappings"], ignore_changes=["tagSpecifications"]),
        ),
    )
    return aws.ec2.InstanceLaunchTemplateArgs(id=template.id, version="1")
