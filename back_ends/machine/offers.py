"""The offer of a machine that exists between jobs, whichever back end declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from back_ends.machine.section import OWN, STOCK
from back_ends.offer import HostSoftware, Machine, Offer, OwnMachines
from config.values import gibibytes
from gpu.machines import attach, gpu_model
from gpu.machines.groups import Placement
from gpu.machines.start_up import own_machine_steps
from gpu.regions import Cloud, region_of
from gpu.software.machine_images import on_ubuntu

if TYPE_CHECKING:
    from back_ends.machine.section import MachineSection
    from back_ends.offer import Standing
    from config.runners import RunnerSettings
    from config.settings import Settings


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
        host=_software(key, machine),
        steps=own_machine_steps(),
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
            standing=standing,
        ),
    )


def _software(key: str, machine: MachineSection) -> HostSoftware:
    """Return the software below the jobs; that of an image of others is not known."""
    if machine.image == STOCK and machine.driver is not None:
        return HostSoftware(image=on_ubuntu(machine.os, machine.driver), image_key=f"{key}.driver")
    return HostSoftware(builds_image=machine.image == OWN and machine.cloud == "gcp")
