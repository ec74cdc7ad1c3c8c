"""The back end `start-stop`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import pulumi

from components.aws.github_trust import subjects
from gpu_ci.back_ends.offer import Offer, Standing
from gpu_ci.back_ends.protocol import BackEnd, ProgramContext, Repository, RunsOn
from gpu_ci.back_ends.shared.machine.aws import declaration as aws
from gpu_ci.back_ends.shared.machine.gcp import declaration as gcp
from gpu_ci.back_ends.shared.machine.offers import machine_offer
from gpu_ci.back_ends.shared.machine.runner import MachineRunner, machine_title
from gpu_ci.back_ends.shared.machine.section import LABELS, MachineSection
from gpu_ci.back_ends.shared.machine_software import boot, commands
from gpu_ci.back_ends.start_stop import jarvis
from gpu_ci.back_ends.start_stop.names import ENVIRONMENT, KIND, role_name
from gpu_ci.back_ends.start_stop.repository_files import Served, files
from gpu_ci.back_ends.start_stop.section import JarvisSettings, StarterSettings, StartStopSection
from gpu_ci.knowledge.machines.running import RunningTime
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings

if TYPE_CHECKING:
    from gpu_ci.back_ends.shared.machine.aws.machine import Ec2Machine


class StartStop:
    """One machine that a workflow starts for its tests: on EC2, on Compute Engine or at Jarvis Labs."""

    title = "a machine that the workflow starts"

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        stated, path = runner.section(StartStopSection), f"runners.{name}"
        if stated.machine is None:
            return jarvis.jarvis_offer(name, runner, _jarvis(stated))
        key = f"{path}.start-stop.machine"
        return machine_offer(
            path=path,
            key=key,
            runner=runner,
            machine=stated.machine,
            settings=settings,
            standing=_standing(key, stated.machine),
        )

    def runs_on(self, name: str, runner: RunnerSettings) -> RunsOn:
        """Return how a workflow asks for one runner."""
        machine = runner.section(StartStopSection).machine
        docker = machine is not None and machine.docker
        fix = f"state docker: true in runners.{name}.start-stop.machine" if machine is not None else "use `machine`"
        labels = LABELS if machine is not None else ()
        return RunsOn(
            line=f"runs-on: [{', '.join((*labels, name))}]",
            label=name,
            more=frozenset(labels),
            named=True,
            job_container=None if docker else False,
            container_fix="" if docker else fix,
        )

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare the machines with the access of their repositories, and export the commands for each."""
        settings = context.stack.settings
        if not any(settings.served(StartStopSection)):
            return {}
        import pulumi  # noqa: PLC0415 - as the clouds' SDKs

        places: dict[str, dict[str, MachineRunner]] = {"aws": {}, "gcp": {}}
        for name, runner, machine, _ in _machines(settings):
            text = boot(
                context.stack, KIND, name, machine, registration="ephemeral", idle_minutes=machine.idle_stop_minutes
            )
            places[machine.cloud][name] = MachineRunner(runner=runner, section=machine, user_data=text)
        on_aws, on_gcp = aws.declare(context, KIND, places["aws"]), gcp.declare(context, KIND, places["gcp"])
        for name, _, machine, repository in _machines(settings):
            if name in on_aws:
                _trust_on_aws(context, name, machine, repository, on_aws[name])
            else:
                _trust_on_gcp(context, name, machine, repository)
        pulumi.export("start_stop", aws.instance_ids(on_aws).apply(lambda ids: _outputs(context, ids)))
        return {f"runners.{name}": machine for name, machine in (*on_aws.items(), *on_gcp.items())}

    def files(self, repository: Repository) -> Mapping[str, str]:
        """Return the workflows that start, test and stop, and the command that they run."""
        settings = repository.stack.settings
        served = []
        for name, runner, section in settings.served(StartStopSection):
            known = _repository(settings, section) or repository.name or ""
            if repository.name in {None, known}:
                line = self.runs_on(name, runner)
                served.append(Served(name=name, runner=runner, section=section, runs_on=line, repository=known))
        return files(repository.stack, served)


def _repository(settings: Settings, section: StartStopSection) -> str | None:
    """Return the only repository that can use a machine: the stated one, or the one in `github.url`."""
    if section.repository is not None:
        return section.repository.name
    found = jarvis.owner(settings.github.url) if settings.github is not None else ""
    return found.rpartition("/")[2] if found.startswith("repos/") else None


def _jarvis(stated: StartStopSection) -> JarvisSettings:
    """Return the instance of Jarvis Labs, which a section without a machine has.

    Raises:
        ValueError: the section was not validated.

    """
    if stated.jarvis is None:
        raise ValueError("the section has neither machine nor jarvis")
    return stated.jarvis


def _machines(settings: Settings) -> Iterator[tuple[str, RunnerSettings, MachineSection, StarterSettings]]:
    """Yield each runner with a machine on AWS or Google Cloud: its name, the runner, the machine, the repository."""
    for name, runner, section in settings.served(StartStopSection):
        if section.machine is not None and section.repository is not None:
            yield name, runner, section.machine, section.repository


def _standing(key: str, machine: MachineSection) -> Standing:
    """Return what starts and stops the machine, and how it registers."""
    return Standing(
        time=RunningTime(by_workflow=True, idle_minutes=machine.idle_stop_minutes, most_hours=machine.max_hours),
        idle_key=f"{key}.idle-stop-minutes",
        most_hours_key=f"{key}.max-hours",
        runner=machine.runner_version,
        runner_key=f"{key}.runner-version",
        group=machine.runner_group,
        group_key=f"{key}.runner-group",
    )


def _owner(settings: Settings) -> str:
    """Return the owner in `github.url`."""
    return settings.github.url.split("/")[3] if settings.github is not None else ""


def _trust_on_aws(
    context: ProgramContext, name: str, machine: MachineSection, repository: StarterSettings, made: Ec2Machine
) -> None:
    from components.aws.job_role import TrustedJobs  # noqa: PLC0415
    from gpu_ci.back_ends.start_stop.aws_access import StarterRole, StarterRoleArgs  # noqa: PLC0415

    settings = context.stack.settings
    StarterRole(
        f"{KIND}-{name}-role",
        StarterRoleArgs(
            role=role_name(context.stack.identity, name),
            account=settings.aws.account if settings.aws is not None else "",
            region=region_of(machine.zone),
            instance=made.arn,
            jobs=TrustedJobs(
                repository=f"{_owner(settings)}/{repository.name}",
                repository_id=repository.id,
                owner_id=repository.owner_id,
                environment=ENVIRONMENT,
            ),
        ),
        context.aws,
    )


def _trust_on_gcp(context: ProgramContext, name: str, machine: MachineSection, repository: StarterSettings) -> None:
    from gpu_ci.back_ends.start_stop.gcp_access import StarterAccess, StarterAccessArgs  # noqa: PLC0415

    settings, title = context.stack.settings, machine_title(context.stack.identity, name)
    StarterAccess(
        f"{KIND}-{name}-access",
        StarterAccessArgs(
            project=settings.gcp.project if settings.gcp is not None else "",
            zone=machine.zone,
            instance=title,
            role=f"{title}_{KIND}".replace("-", "_"),
            pool=context.identity_pool,
            subjects=subjects(
                f"{_owner(settings)}/{repository.name}",
                repository.owner_id,
                repository.id,
                environment=ENVIRONMENT,
            ),
        ),
        context.gcp,
    )


def _outputs(context: ProgramContext, instances: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the commands of people for each runner."""
    found: dict[str, dict[str, str]] = {}
    for name, _, section in context.stack.settings.served(StartStopSection):
        if section.machine is None or section.repository is None:
            url = context.stack.settings.github.url if context.stack.settings.github is not None else ""
            found[name] = jarvis.secret_commands(ENVIRONMENT, url)
            continue
        slug = f"{_owner(context.stack.settings)}/{section.repository.name}"
        found[name] = {
            **commands(context.stack, KIND, name, section.machine, instances.get(name)),
            "environment": f"gh api --method PUT repos/{slug}/environments/{ENVIRONMENT}",
            "files": f"make kit OUT=../{section.repository.name} REPO={section.repository.name}",
        }
    return found


BACK_END: Final[BackEnd] = StartStop()
