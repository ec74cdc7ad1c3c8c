"""The offer of a machine that exists between jobs, whichever back end declares it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, OwnMachines, Standing
from gpu_ci.back_ends.shared.machine.section import OWN, STOCK, MachineSection
from gpu_ci.knowledge.machines import attach, gpu_model
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.running import RunningTime
from gpu_ci.knowledge.machines.start_up import FIRST_BOOT, standing_machine_steps
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.knowledge.software.machine_images import on_ubuntu
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

_METRICS: Final = 3
"""The figures that a machine publishes each minute: runner online, runner busy, and use of the GPU."""
_AWS_ALARMS: Final = 3
"""Runner offline, GPU idle, and a failed time limit."""
_AWS_ALARMS_OF_HOURS: Final = 2
"""A job outside the hours of the schedule, and a failed start or stop."""
_GCP_ALARMS: Final = 2
"""Runner offline, and GPU idle."""
_GCP_ALARMS_OF_HOURS: Final = 1
"""A job outside the hours of the schedule."""
_UBUNTU_GIB: Final = 10
"""The size of Canonical's images on Google Cloud; those on AWS have 8 GiB."""


def machine_offer(
    *, path: str, key: str, runner: RunnerSettings, machine: MachineSection, settings: Settings, standing: Standing
) -> Offer:
    """Return the offer of one machine to its runner.

    Args:
        path: the runner's path in the stack file.
        key: the path of the machine's section.
        runner: the runner.
        machine: the machine's section.
        settings: the stack file.
        standing: the facts that depend on the back end.

    """
    cloud, disk_gib, needs = Cloud(machine.cloud), gibibytes(machine.disk), runner.needs
    on_gcp = cloud is Cloud.GCP
    bare = settings.machines.machine(cloud, machine.machine_type)
    attached = on_gcp and bare.gpu is None
    return Offer(
        path=path,
        section=key,
        machines=(
            Machine(
                type=attach(settings.machines.gce(machine.machine_type), gpu_model(needs.gpu), needs.gpus)
                if on_gcp
                else bare,
                disk_gib=disk_gib,
            ),
        ),
        host=_software(key, machine, settings),
        steps=standing_machine_steps(by_workflow=standing.time.by_workflow),
        first_steps=(FIRST_BOOT,) if machine.image == STOCK else (),
        own=OwnMachines(
            cloud=cloud,
            types=(machine.machine_type,),
            placements=(Placement(region=region_of(machine.zone), zones=(machine.zone,), spot=machine.spot),),
            places_key=f"{key}.zone",
            spot_key=f"{key}.spot",
            at_once=1,
            disk_gib=disk_gib,
            disk_key=f"{key}.disk",
            disk_kind=settings.machines.gce(machine.machine_type).boot_disk if on_gcp else "gp3",
            attached_gpu=needs.gpu if attached else None,
            attached_gpus=needs.gpus if attached else 0,
            image_gib=_image_gib(machine, settings),
            standing=replace(standing, time=_with_costs(standing.time, machine, settings)),
        ),
    )


def _software(key: str, machine: MachineSection, settings: Settings) -> HostSoftware:
    """Return the software below the jobs; that of an image of others is not known."""
    built = settings.ec2_image
    if machine.image == STOCK and machine.driver is not None:
        return HostSoftware(image=on_ubuntu(machine.os, machine.driver), image_key=f"{key}.driver")
    if machine.image == OWN and machine.cloud == "aws" and built is not None:
        return HostSoftware(image=on_ubuntu(built.os, built.driver), image_key="ec2-image.driver")
    return HostSoftware(builds_image=machine.image == OWN and machine.cloud == "gcp")


def _image_gib(machine: MachineSection, settings: Settings) -> int:
    """Return the size of the image, which no disk is smaller than; 0 where it is not known."""
    on_aws, on_gcp = settings.ec2_image, settings.host_image
    if machine.image == STOCK:
        return _UBUNTU_GIB
    if machine.image == OWN and machine.cloud == "aws" and on_aws is not None:
        return gibibytes(on_aws.disk)
    if machine.image == OWN and machine.cloud == "gcp" and on_gcp is not None:
        return gibibytes(on_gcp.builder.disk)
    return 0


def _with_costs(time: RunningTime, machine: MachineSection, settings: Settings) -> RunningTime:
    """Return the running time with what costs money besides the hours."""
    on_aws = machine.cloud == "aws"
    alarms = (_AWS_ALARMS if on_aws else _GCP_ALARMS) if machine.alerts is not None else 0
    if alarms and time.schedule is not None:
        alarms += _AWS_ALARMS_OF_HOURS if on_aws else _GCP_ALARMS_OF_HOURS
    public = on_aws or settings.gcp is None or settings.gcp.public_addresses
    return replace(time, public_address=public, alarms=alarms, metrics=_METRICS)
