"""The files of a repository that starts a machine for its tests: the workflows, and the command that they run.

The command is a copy of `gpu_instance/`, with the modules of the clouds that the stack uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.back_ends.protocol import RunsOn
from gpu_ci.back_ends.shared.machine.runner import machine_title
from gpu_ci.back_ends.stack import Stack
from gpu_ci.back_ends.start_stop import jarvis
from gpu_ci.back_ends.start_stop.gpu_instance.cli import FILE, MODULES
from gpu_ci.back_ends.start_stop.names import ENVIRONMENT, FOLDER, role_arn, start_job, testing_job, workflow_file
from gpu_ci.back_ends.start_stop.pins import BOTO3, GOOGLE_CLOUD_COMPUTE, REQUESTS
from gpu_ci.back_ends.start_stop.section import StartStopSection
from gpu_ci.knowledge.regions import region_of
from gpu_ci.repository.actions import AUTH, AWS_CREDENTIALS, STEPS
from gpu_ci.repository.gpu_workflow import entry, job_values
from gpu_ci.repository.image_workflow import PROVIDER
from gpu_ci.repository.render import render
from gpu_ci.repository.run_script import RUN_FILE, run_script
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings

if TYPE_CHECKING:
    from gpu_ci.repository.gpu_workflow import GpuTests

TEMPLATES: Final = Path(__file__).parent / "templates"
PACKAGE: Final = Path(__file__).parent / "gpu_instance"
SCRIPT: Final = f"{FOLDER}/instance.py"
SWEEP_FILE: Final = ".github/workflows/gpu-sweep.yml"
SWEEP_CRON: Final = "11,41 * * * *"
"""The times of the sweep, not at the full hour, when GitHub is late."""
STOP_MINUTES: Final = 10
"""Minutes for a stop. EC2 takes the power from an instance that does not shut down within some minutes."""

_DEPENDENCIES: Final[Mapping[str, tuple[str, ...]]] = {
    "aws": (f"boto3=={BOTO3}",),
    "gcp": (f"google-cloud-compute=={GOOGLE_CLOUD_COMPUTE}", f"requests=={REQUESTS}"),
    "jarvis": (jarvis.SDK,),
}
"""A cloud to the packages that its module imports."""
_DATA: Final = {"jarvis": ("jarvis_boot.sh",)}
"""A cloud to the files that its module reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A runner of this back end."""

    name: str
    runner: RunnerSettings
    section: StartStopSection
    runs_on: RunsOn
    repository: str
    """The repository that uses it, without its owner; empty where it is not known."""

    @property
    def cloud(self) -> str:
        """The cloud of its machine, as `gpu_instance` names it."""
        return self.section.machine.cloud if self.section.machine is not None else "jarvis"


def files(stack: Stack, runners: Iterable[Served]) -> dict[str, str]:
    """Return the files for the repository of these runners, by path."""
    served = list(runners)
    if not served:
        return {}
    machines = {one.name: facts(stack, one) for one in served}
    tests = _tests(stack, served[0])
    return {
        **{workflow_file(one.name): _workflow(stack, one) for one in served},
        SWEEP_FILE: _sweep(stack, served),
        RUN_FILE: run_script(None, tests.gpus, (*tests.install, *tests.tests), tuple(tests.variables)),
        f"{FOLDER}/{FILE}": json.dumps(machines, indent=2, sort_keys=True) + "\n",
        **_command({one.cloud for one in served}),
    }


def facts(stack: Stack, served: Served) -> dict[str, Any]:
    """Return what the command needs to know of one machine."""
    machine, settings = served.section.machine, stack.settings
    if machine is None:
        if served.section.jarvis is None or settings.github is None:
            raise ValueError(f"runners.{served.name} was not validated")
        return jarvis.jarvis_facts(
            served.name,
            served.runner,
            served.section.jarvis,
            settings.github,
            workflow=PurePosixPath(workflow_file(served.name)).name,
            job=start_job(served.name),
        )
    known = {"cloud": machine.cloud, "name": machine_title(stack.identity, served.name), "max_hours": machine.max_hours}
    if machine.cloud == "aws":
        return {**known, "region": region_of(machine.zone)}
    return {**known, "project": settings.gcp.project if settings.gcp is not None else "", "zone": machine.zone}


def _tests(stack: Stack, served: Served) -> GpuTests:
    stated = stack.settings.gpu_tests.get(served.repository, GpuTestsSettings())
    federation = stack.settings.github_federation
    return entry(
        stated,
        served.runner,
        label=served.name,
        runs_on=served.runs_on.line,
        branches=federation.branches if federation is not None else ("main",),
        own_machine=True,
    )


def _workflow(stack: Stack, served: Served) -> str:
    section, name = served.section, served.name
    return render(
        "start-stop.yml.j2",
        TEMPLATES,
        **_sign_in(stack, served),
        name=name,
        start_minutes=section.start_minutes,
        queue_minutes=section.queue_minutes,
        pull_requests_from=section.pull_requests_from,
        test_job=testing_job(name),
        **job_values(_tests(stack, served)),
        **_COMMON,
    )


def _sweep(stack: Stack, served: list[Served]) -> str:
    jobs = [{"name": one.name, **_sign_in(stack, one)} for one in served]
    return render("sweep.yml.j2", TEMPLATES, jobs=jobs, cron=SWEEP_CRON, **STEPS, **_COMMON)


_COMMON: Final = {
    "environment": ENVIRONMENT,
    "folder": FOLDER,
    "script": SCRIPT,
    "stop_minutes": STOP_MINUTES,
    "aws_credentials": AWS_CREDENTIALS,
    "auth": AUTH,
    "provider": PROVIDER,
}


def _sign_in(stack: Stack, served: Served) -> dict[str, Any]:
    """Return the values of the steps that sign in to the cloud of a machine."""
    settings, machine = stack.settings, served.section.machine
    account = settings.aws.account if settings.aws is not None else ""
    return {
        "cloud": served.cloud,
        "role": role_arn(stack.identity, account, served.name),
        "region": region_of(machine.zone) if machine is not None else "",
        **(jarvis.jarvis_values(settings.github) if settings.github is not None else {}),
    }


def _command(clouds: set[str]) -> dict[str, str]:
    """Return the files of the command for these clouds."""
    unused = {f"{module}.py" for cloud, module in MODULES.items() if cloud not in clouds}
    copied = [path for path in sorted(PACKAGE.glob("*.py")) if path.name not in unused]
    copied += [PACKAGE / name for cloud in sorted(clouds) for name in _DATA.get(cloud, ())]
    dependencies = sorted(one for cloud in clouds for one in _DEPENDENCIES[cloud])
    # In the repository, the package is next to the script.
    texts = {
        f"{FOLDER}/{PACKAGE.name}/{path.name}": path.read_text(encoding="utf-8").replace(
            "gpu_ci.back_ends.start_stop.gpu_instance", PACKAGE.name
        )
        for path in copied
    }
    return {SCRIPT: render("instance.py.j2", TEMPLATES, dependencies=dependencies, package=PACKAGE.name), **texts}
