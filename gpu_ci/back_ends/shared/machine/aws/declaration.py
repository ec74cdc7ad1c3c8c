"""The machines of one back end on EC2: names and image from the stack file, and their declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.back_ends.shared.machine.aws.permissions import STATUS_TAG, key_parameter
from gpu_ci.back_ends.shared.machine.runner import MachineRunner, machine_title
from gpu_ci.back_ends.shared.machine.section import OWN, STOCK, MachineSection
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    import pulumi

    from gpu_ci.back_ends.shared.machine.aws.machine import Ec2Machine


def declare(context: ProgramContext, kind: str, runners: Mapping[str, MachineRunner]) -> dict[str, Ec2Machine]:
    """Declare the machines of one back end; return them by the runner's name.

    Args:
        context: what is declared already.
        kind: the back end in names, as in `vm`.
        runners: runner name to its machine.

    """
    settings, identity = context.stack.settings, context.stack.identity
    if settings.aws is None or not runners:
        return {}
    # Imported here: a stack without AWS does not load its SDK.
    from gpu_ci.back_ends.shared.machine.aws.machine import Ec2Machine, Ec2MachineArgs  # noqa: PLC0415

    return {
        name: Ec2Machine(
            f"{kind}-{name}",
            Ec2MachineArgs(
                title=machine_title(identity, name),
                account=settings.aws.account,
                zone=one.section.zone,
                machine_type=one.section.machine_type,
                image=_image(context, one.section),
                ubuntu=one.section.os.removeprefix("ubuntu-"),
                disk_gib=gibibytes(one.section.disk),
                spot=one.section.spot,
                egress_ports=one.section.egress_ports,
                key_parameter=key_parameter(identity.prefix),
                user_data=one.user_data,
                max_hours=one.section.max_hours,
                tags=identity.tags,
                hours=one.hours,
                email=one.section.alerts.email if one.section.alerts is not None else "",
                idle_minutes=one.section.alerts.idle_minutes if one.section.alerts is not None else 0,
            ),
            context.aws,
        )
        for name, one in runners.items()
    }


def instance_ids(machines: Mapping[str, Ec2Machine]) -> pulumi.Output[dict[str, str]]:
    """Return the id of each machine by its runner's name; empty without machines."""
    import pulumi  # noqa: PLC0415 - as the clouds' SDKs

    ids = [machine.instance_id for machine in machines.values()]
    return pulumi.Output.all(*ids).apply(lambda known: dict(zip(machines, known, strict=True)))


def _image(context: ProgramContext, section: MachineSection) -> pulumi.Input[str] | None:
    """Return the AMI; none for an image of Ubuntu, which EC2 resolves when it creates the machine."""
    if section.image == OWN:
        return context.images[region_of(section.zone)]
    return None if section.image == STOCK else section.image


def commands(*, instance: str, region: str, parameter: str) -> dict[str, str]:
    """Return the commands of people for one machine."""
    place = f"--region {region} --instance-ids {instance}"
    tag = f"--filters Name=resource-id,Values={instance} Name=key,Values={STATUS_TAG}"
    return {
        "add-key": f"aws ssm put-parameter --region {region} --name {parameter} --type SecureString"
        " --value file://key.pem --overwrite",
        "start": f"aws ec2 start-instances {place}",
        "stop": f"aws ec2 stop-instances {place}",
        "status": f"aws ec2 describe-tags --region {region} {tag} --query Tags[0].Value --output text",
        "shell": f"aws ssm start-session --region {region} --target {instance}",
    }
