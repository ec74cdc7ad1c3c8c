"""The back end `vm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pulumi

from gpu_ci.back_ends.offer import Offer, Standing
from gpu_ci.back_ends.protocol import BackEnd, ProgramContext, Repository, RunsOn
from gpu_ci.back_ends.shared.machine import github_variables
from gpu_ci.back_ends.shared.machine.aws import declaration as aws
from gpu_ci.back_ends.shared.machine.gcp import declaration as gcp
from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.back_ends.shared.machine.offers import machine_offer
from gpu_ci.back_ends.shared.machine.runner import MachineRunner
from gpu_ci.back_ends.shared.machine.section import LABELS
from gpu_ci.back_ends.shared.machine_software import boot, commands
from gpu_ci.back_ends.vm.section import VmSection
from gpu_ci.knowledge.machines.running import RunningTime, Schedule
from gpu_ci.stack_file.sections.gpu_tests import SWITCH
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings

KIND: Final = "vm"
"""The start of the names of its resources."""


class Vm:
    """One virtual machine with a runner, on EC2 or Compute Engine."""

    title = "a virtual machine"

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        stated, path = runner.section(VmSection), f"runners.{name}"
        key = f"{path}.vm"
        return machine_offer(
            path=path, key=key, runner=runner, machine=stated, settings=settings, standing=_standing(key, stated)
        )

    def runs_on(self, name: str, runner: RunnerSettings) -> RunsOn:
        """Return how a workflow asks for one runner."""
        docker = runner.section(VmSection).docker
        return RunsOn(
            line=f"runs-on: [{', '.join((*LABELS, name))}]",
            label=name,
            more=frozenset(LABELS),
            named=True,
            job_container=None if docker else False,
            container_fix="" if docker else f"state docker: true in runners.{name}.vm",
        )

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare the machines, and export the commands for each."""
        settings = context.stack.settings
        served = {name: section for name, _, section in settings.served(VmSection)}
        if not served or settings.github is None:
            return {}
        import pulumi  # noqa: PLC0415 - as the clouds' SDKs

        places: dict[str, dict[str, MachineRunner]] = {"aws": {}, "gcp": {}}
        for name, section in served.items():
            places[section.cloud][name] = MachineRunner(
                runner=settings.runners[name],
                section=section,
                user_data=boot(
                    context.stack,
                    KIND,
                    name,
                    section,
                    registration=section.registration,
                    idle_minutes=section.idle_minutes,
                ),
                hours=_hours(section),
            )
        on_aws, on_gcp = aws.declare(context, KIND, places["aws"]), gcp.declare(context, KIND, places["gcp"])
        unset = github_variables.declare(f"{KIND}-github", settings.github, {SWITCH: "true"})
        enable = {"enable-tests": unset[SWITCH]} if unset else {}
        pulumi.export(
            "vm",
            aws.instance_ids(on_aws).apply(
                lambda known: {
                    name: commands(context.stack, KIND, name, section, known.get(name)) | enable
                    for name, section in served.items()
                }
            ),
        )
        return {f"runners.{name}": machine for name, machine in (*on_aws.items(), *on_gcp.items())}

    def files(self, repository: Repository) -> Mapping[str, str]:  # noqa: ARG002 - the protocol's
        """Return no files: workflows are the same as with any other runner."""
        return {}


def _standing(section: str, stated: VmSection) -> Standing:
    """Return what starts and stops the machine, and how it registers."""
    schedule = stated.schedule
    return Standing(
        time=RunningTime(
            schedule=Schedule(days=len(schedule.days), minutes=schedule.minutes) if schedule is not None else None,
            idle_minutes=stated.idle_minutes,
            most_hours=stated.max_hours,
        ),
        hours=_hours(stated),
        schedule_key=f"{section}.schedule",
        idle_key=f"{section}.idle-stop-minutes",
        most_hours_key=f"{section}.max-hours",
        runner=stated.runner_version,
        runner_key=f"{section}.runner-version",
        group=stated.runner_group,
        group_key=f"{section}.runner-group",
        keeps_files=stated.registration == "persistent",
        files_key=f"{section}.registration",
        forks=stated.forks,
        forks_key=f"{section}.forks",
    )


def _hours(section: VmSection) -> Hours | None:
    """Return the hours of the schedule."""
    if (stated := section.schedule) is None:
        return None
    return Hours(time_zone=stated.time_zone, days=stated.days, start=stated.start, stop=stated.stop)


BACK_END: Final[BackEnd] = Vm()
