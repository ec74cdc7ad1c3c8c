"""Stacks for tests of one check: the test's staging stack, with changes or with hand-made offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, OwnMachines, Standing
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks import Check
from gpu_ci.knowledge.machines import InstanceType, MachineType
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.running import RunningTime, Schedule
from gpu_ci.knowledge.machines.start_up import Step
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.knowledge.software.runner_releases import NEWEST
from gpu_ci.knowledge.verdict import Verdict
from gpu_ci.stack_file.identity import Identity
from tests.stack_file import stacks

IDENTITY: Final = Identity(project="gpu-ci", stack="staging")
RUNNER: Final = "cirun-gcp-gpu"
PATH: Final = f"runners.{RUNNER}"
SECTION: Final = f"{PATH}.section"
NEEDS: Final = f"runners/{RUNNER}/needs"


def stack(changes: Mapping[str, Any] | None = None, name: str = stacks.STAGING) -> Stack:
    """Return a committed stack with the parts at these paths changed; the steps of a path are separated by `/`."""
    return stack_of(stacks.settings(name, changes), IDENTITY)


def verdicts(check: Check, changes: Mapping[str, Any] | None = None, offer: Offer | None = None) -> list[Verdict]:
    """Return the verdicts of one check; with `offer`, the stack has only that runner's offer."""
    if offer is None:
        return list(check.check(stack(changes)))
    settings = stacks.settings(changes=changes)
    return list(check.check(Stack(settings=settings, identity=IDENTITY, offers={RUNNER: offer})))


def standing(
    *,
    schedule: Schedule | None = None,
    by_workflow: bool = False,
    idle_minutes: int = 30,
    most_hours: int = 12,
    runner: str = NEWEST,
    group: str = "gpu",
    keeps_files: bool = False,
    forks: bool = False,
) -> Standing:
    """Return a machine that exists between jobs."""
    time = RunningTime(
        by_workflow=by_workflow, schedule=schedule, idle_minutes=idle_minutes, most_hours=most_hours, alarms=4
    )
    return Standing(
        time=time,
        schedule_key=f"{SECTION}.schedule" if schedule is not None else "",
        idle_key=f"{SECTION}.idle-stop-minutes",
        most_hours_key=f"{SECTION}.max-hours",
        runner=runner,
        runner_key=f"{SECTION}.runner-version",
        group=group,
        group_key=f"{SECTION}.runner-group",
        keeps_files=keeps_files,
        files_key=f"{SECTION}.registration",
        forks=forks,
        forks_key=f"{SECTION}.forks",
    )


def offer(
    *machines: InstanceType | MachineType,
    zones: tuple[str, ...] = ("us-central1-b",),
    cloud: Cloud = Cloud.GCP,
    spot: tuple[bool, ...] = (False,),
    disk_gib: int = 100,
    image_gib: int = 0,
    host: HostSoftware | None = None,
    standing: Standing | None = None,
    steps: tuple[Step, ...] = (),
    first_steps: tuple[Step, ...] = (),
) -> Offer:
    """Return an offer of machines of a runner's own."""
    section = SECTION
    return Offer(
        path=PATH,
        section=section,
        machines=tuple(Machine(type=machine, disk_gib=disk_gib) for machine in machines),
        host=host or HostSoftware(),
        steps=steps,
        first_steps=first_steps,
        own=OwnMachines(
            cloud=cloud,
            types=tuple(machine.name for machine in machines),
            placements=tuple(
                Placement(
                    region=zone if cloud is Cloud.JARVIS else region_of(zone),
                    zones=tuple(one for one in zones if region_of(one) == region_of(zone))
                    if cloud is Cloud.GCP
                    else (),
                    spot=market,
                )
                for zone in zones
                for market in spot
            ),
            at_once=1,
            at_once_key="" if standing is not None else f"{section}.at-once",
            places_key=f"{section}.zones",
            spot_key=f"{section}.spot",
            disk_gib=disk_gib,
            disk_key=f"{section}.disk",
            disk_kind="pd-balanced",
            image_gib=image_gib,
            standing=standing,
        ),
    )
