"""Rules of an instance of Jarvis Labs.

Storage: its API has a floor of 100 GB, and its website a limit of 5000 GB (jarvislabsai/skypilot, FEATURES.md, 2026).
Startup scripts do not run on virtual machines (guide of the SDK jarvislabs 0.2.19).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.start_stop.section import JarvisSettings, StartStopSection
from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.machines.jarvis import JARVIS_GPUS, MOST_GPUS
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

LEAST_GIB: Final = 100
MOST_GIB: Final = 5000


def jarvis_labs_has_the_gpus(settings: Settings) -> Iterator[Fault]:
    """Require a GPU model that Jarvis Labs rents, and a number of GPUs that one instance can have."""
    for name, runner, _ in _served(settings):
        path, needs = f"runners.{name}.needs", runner.needs
        # An unknown model is another rule's fault.
        if needs.gpu in GPU_MODELS and needs.gpu not in JARVIS_GPUS:
            problem = f"Jarvis Labs does not rent {needs.gpu}"
            yield Fault(f"{path}.gpu", problem, did_you_mean(needs.gpu, JARVIS_GPUS))
        if needs.gpus > MOST_GPUS:
            problem = f"{needs.gpus} GPUs are stated, but an instance of Jarvis Labs has at most {MOST_GPUS}"
            yield Fault(f"{path}.gpus", problem, f"write {MOST_GPUS} or fewer")


def a_container_runs_the_startup_script(settings: Settings) -> Iterator[Fault]:
    """Reject the template of virtual machines, which do not run the script that starts the runner."""
    for name, _, stated in _served(settings):
        if stated.template == "vm":
            problem = "a virtual machine of Jarvis Labs runs no startup script, so no runner would start"
            yield Fault(f"runners.{name}.start-stop.jarvis.template", problem, "write pytorch")


def storage_can_be_rented(settings: Settings) -> Iterator[Fault]:
    """Compare the storage with what Jarvis Labs rents."""
    for name, _, stated in _served(settings):
        if not LEAST_GIB <= gibibytes(stated.storage) <= MOST_GIB:
            problem = f"{stated.storage} is outside the {LEAST_GIB} to {MOST_GIB} GiB that Jarvis Labs rents"
            yield Fault(f"runners.{name}.start-stop.jarvis.storage", problem, f"write {LEAST_GIB}Gi to {MOST_GIB}Gi")


def jobs_end_before_the_instance_is_paused(settings: Settings) -> Iterator[Fault]:
    """Compare the timeout of a job with the hours after which the instance is paused in any case."""
    for name, runner, stated in _served(settings):
        if runner.timeout_minutes >= stated.max_hours * 60:
            hours = runner.timeout_minutes // 60 + 1
            problem = (
                f"the instance is paused after {stated.max_hours} h, but a job may take {runner.timeout_minutes} min"
            )
            yield Fault(
                f"runners.{name}.start-stop.jarvis.max-hours", problem, f"write {hours}, or lower timeout-minutes"
            )


def instances_serve_one_runner(settings: Settings) -> Iterator[Fault]:
    """Reject an instance name that two runners state: each would pause the instance of the other."""
    first: dict[str, str] = {}
    for name, _, stated in _served(settings):
        if (other := first.setdefault(stated.name, name)) != name:
            problem = f'"{stated.name}" is the instance of the runner {other}'
            yield Fault(f"runners.{name}.start-stop.jarvis.name", problem, "write another name")


def an_organisation_or_a_repository_has_the_runner(settings: Settings) -> Iterator[Fault]:
    """Reject the address of an enterprise: a GitHub App cannot register runners there."""
    github = settings.github
    if github is not None and "/enterprises/" in github.url and any(_served(settings)):
        problem = "a GitHub App cannot register the runner of an instance of Jarvis Labs for an enterprise"
        yield Fault("github.url", problem, "write the address of an organisation or a repository")


def _served(settings: Settings) -> Iterator[tuple[str, RunnerSettings, JarvisSettings]]:
    """Yield each runner that an instance of Jarvis Labs serves, with its settings."""
    for name, runner, section in settings.served(StartStopSection):
        if section.jarvis is not None:
            yield name, runner, section.jarvis


RULES: Final[tuple[Rule, ...]] = (
    jarvis_labs_has_the_gpus,
    a_container_runs_the_startup_script,
    storage_can_be_rented,
    jobs_end_before_the_instance_is_paused,
    instances_serve_one_runner,
    an_organisation_or_a_repository_has_the_runner,
)
