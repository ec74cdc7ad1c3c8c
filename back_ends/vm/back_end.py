"""The back end `vm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from back_ends.machine import aws, gcp
from back_ends.machine.hours import Hours
from back_ends.machine.offers import machine_offer
from back_ends.machine.runner import MachineRunner, machine_title
from back_ends.machine.user_data import BootArgs, user_data
from back_ends.offer import Offer, Standing
from back_ends.protocol import RunsOn
from back_ends.vm.rules import GPU_LABEL
from back_ends.vm.section import VmSection
from gpu.machines.running import RunningTime, Schedule
from gpu.regions import region_of
from gpu.software.runner_releases import CHECKSUMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pulumi

    from back_ends.protocol import BackEnd, Repository, Site
    from config.identity import Identity
    from config.runners import RunnerSettings
    from config.services import GitHubSettings
    from config.settings import Settings

KIND: Final = "vm"
"""The start of the names of its resources."""
LABELS: Final = ("self-hosted", "linux", "x64", GPU_LABEL)
"""The labels of every machine, in addition to the name of its runner."""


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

    def declare(self, site: Site) -> Mapping[str, pulumi.Resource]:
        """Declare the machines, and export the commands for each."""
        settings, identity = site.stack.settings, site.stack.identity
        served = {name: section for name, _, section in settings.served(VmSection)}
        if not served or settings.github is None:
            return {}
        import pulumi  # noqa: PLC0415 - as the clouds' SDKs

        places: dict[str, dict[str, MachineRunner]] = {"aws": {}, "gcp": {}}
        for name, section in served.items():
            places[section.cloud][name] = MachineRunner(
                runner=settings.runners[name],
                section=section,
                user_data=user_data(_boot(name, section, settings.github, identity, settings.runners[name].needs.gpus)),
                hours=_hours(section),
            )
        on_aws, on_gcp = aws.declare(site, KIND, places["aws"]), gcp.declare(site, KIND, places["gcp"])
        checks = {name: _checks(machine_title(identity, name), settings.github.url) for name in served}
        ids = pulumi.Output.all(**{name: machine.instance_id for name, machine in on_aws.items()})
        pulumi.export(
            "vm", ids.apply(lambda known: {name: _commands(name, site, known) | checks[name] for name in served})
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
        schedule_key=f"{section}.schedule" if schedule is not None else "",
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


def _boot(name: str, section: VmSection, github: GitHubSettings, identity: Identity, gpus: int) -> BootArgs:
    """Return the settings of the software on a machine."""
    on_aws = section.cloud == "aws"
    return BootArgs(
        cloud=section.cloud,
        github_url=github.url,
        app_id=github.app_id,
        installation_id=github.installation_id,
        key=aws.key_parameter(identity.prefix) if on_aws else gcp.names(identity, KIND).key_secret,
        runner_name=machine_title(identity, name),
        labels=(*LABELS, name),
        runner_group=section.runner_group,
        runner_version=section.runner_version,
        runner_sha256=section.runner_sha256 or CHECKSUMS[section.runner_version],
        registration=section.registration,
        driver=section.driver,
        docker=section.docker,
        gpus=gpus,
        spot=section.spot,
        idle_stop_minutes=section.idle_minutes,
        max_hours=section.max_hours,
    )


def _commands(name: str, site: Site, instances: Mapping[str, str]) -> dict[str, str]:
    """Return the commands of people for one machine."""
    settings, identity = site.stack.settings, site.stack.identity
    zone = settings.runners[name].section(VmSection).zone
    if name in instances:
        return aws.commands(
            instance=instances[name], region=region_of(zone), parameter=aws.key_parameter(identity.prefix)
        )
    project = settings.gcp.project if settings.gcp is not None else ""
    secret = gcp.names(identity, KIND).key_secret
    return gcp.commands(project=project, zone=zone, title=machine_title(identity, name), key_secret=secret)


def _checks(title: str, url: str) -> dict[str, str]:
    """Return the commands that show the runner at GitHub, and its log on the machine."""
    scope = url.partition("://")[2].partition("/")[2]
    api = f"repos/{scope}" if "/" in scope else f"orgs/{scope}"
    query = f'.runners[] | select(.name | startswith("{title}")) | [.name, .status, .busy]'
    return {
        "registered": f"gh api {api}/actions/runners --paginate --jq '{query}'",
        "log": "journalctl --unit 'gpu-ci*' --follow",
    }


BACK_END: Final[BackEnd] = Vm()
