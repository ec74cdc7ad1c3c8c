"""The software of a machine from the stack file, and the commands of people for it."""

from __future__ import annotations

from typing import Literal

from gpu_ci.back_ends.shared.machine.aws import declaration as aws
from gpu_ci.back_ends.shared.machine.aws.permissions import key_parameter
from gpu_ci.back_ends.shared.machine.gcp import declaration as gcp
from gpu_ci.back_ends.shared.machine.runner import machine_title
from gpu_ci.back_ends.shared.machine.section import LABELS, MachineSection
from gpu_ci.back_ends.shared.machine.user_data import BootArgs, user_data
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.regions import region_of
from gpu_ci.knowledge.software.runner_releases import CHECKSUMS


def boot(
    stack: Stack,
    kind: str,
    name: str,
    section: MachineSection,
    *,
    registration: Literal["ephemeral", "persistent"],
    idle_minutes: int,
) -> str:
    """Return the user data of a runner's machine.

    Args:
        stack: the stack.
        kind: the back end in names, as in `vm`.
        name: the runner.
        section: its machine.
        registration: whether the runner is registered for one job or for all.
        idle_minutes: minutes without a job after which the machine stops; 0 keeps it running.

    Raises:
        ValueError: the stack was not validated: it has no section `github`.

    """
    github, identity = stack.settings.github, stack.identity
    if github is None:
        raise ValueError(f"runners.{name} needs the section github")
    on_aws = section.cloud == "aws"
    args = BootArgs(
        cloud=section.cloud,
        github_url=github.url,
        app_id=github.app_id,
        installation_id=github.installation_id,
        key=key_parameter(identity.prefix) if on_aws else gcp.names(identity, kind).key_secret,
        runner_name=machine_title(identity, name),
        labels=(*LABELS, name),
        runner_group=section.runner_group,
        runner_version=section.runner_version,
        runner_sha256=section.runner_sha256 or CHECKSUMS[section.runner_version],
        registration=registration,
        driver=section.driver,
        packages=section.packages,
        cuda=stack.settings.runners[name].needs.cuda,
        docker=section.docker,
        forks=section.forks,
        gpus=stack.settings.runners[name].needs.gpus,
        spot=section.spot,
        idle_stop_minutes=idle_minutes,
        max_hours=section.max_hours,
    )
    return user_data(args)


def commands(stack: Stack, kind: str, name: str, section: MachineSection, instance: str | None) -> dict[str, str]:
    """Return the commands of people for one machine. `instance` is its id on EC2."""
    settings, identity = stack.settings, stack.identity
    title, url = machine_title(identity, name), settings.github.url if settings.github is not None else ""
    if instance is not None:
        parameter = key_parameter(identity.prefix)
        found = aws.commands(instance=instance, region=region_of(section.zone), parameter=parameter)
    else:
        project = settings.gcp.project if settings.gcp is not None else ""
        secret = gcp.names(identity, kind).key_secret
        found = gcp.commands(project=project, zone=section.zone, title=title, key_secret=secret)
    scope = url.partition("://")[2].partition("/")[2]
    api = f"repos/{scope}" if "/" in scope else f"orgs/{scope}"
    query = f'.runners[] | select(.name | startswith("{title}")) | [.name, .status, .busy]'
    return {
        **found,
        "registered": f"gh api {api}/actions/runners --paginate --jq '{query}'",
        "log": "journalctl --unit 'gpu-ci*' --follow",
    }
