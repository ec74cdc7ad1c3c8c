"""Rules of the section `vm` of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from gpu_ci.back_ends.shared.machine import rules
from gpu_ci.back_ends.vm.section import VmSection
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Reference, Rule
from gpu_ci.stack_file.sections.settings import Settings

_time_zones = cache(available_timezones)  # it opens some 600 files


def names_are_no_common_labels(settings: Settings) -> Iterator[Fault]:
    """Reject names that other runners have as labels: those would get the jobs."""
    yield from rules.common_labels(name for name, _, _ in settings.served(VmSection))


def schedules_have_hours(settings: Settings) -> Iterator[Fault]:
    """Check the time zone of a schedule, and its hours against the limit of the machine."""
    for name, _, section in settings.served(VmSection):
        if (schedule := section.schedule) is None:
            continue
        path = f"runners.{name}.vm.schedule"
        if schedule.time_zone not in (known := _time_zones()):
            problem = f'"{schedule.time_zone}" is not a time zone of the IANA database'
            yield Fault(f"{path}.time-zone", problem, did_you_mean(schedule.time_zone, known))
        if schedule.start == schedule.stop:
            yield Fault(f"{path}.stop", "is the same as start", "write another time, or remove schedule")
        elif (minutes := schedule.minutes) > section.max_hours * 60:
            problem = f"{section.max_hours} hours are shorter than the {minutes} minutes from start to stop"
            yield Fault(f"runners.{name}.vm.max-hours", problem, f"write at least {-(-minutes // 60)}")


def persistent_machines_are_for_trusted_jobs(settings: Settings) -> Iterator[Fault]:
    """Reject a machine that keeps files and runs jobs that leave files or processes of root behind."""
    for name, _, section in settings.served(VmSection):
        path = f"runners.{name}.vm"
        if section.registration != "persistent":
            continue
        if section.forks:
            problem = "a persistent machine keeps the files of a fork's job, which the next job uses"
            yield Fault(f"{path}.forks", problem, "write registration: ephemeral, or remove forks")
        if section.docker:
            problem = "a persistent machine keeps what jobs do as root, and Docker gives jobs the rights of root"
            yield Fault(f"{path}.docker", problem, "write registration: ephemeral, or remove docker")


def variables_have_a_machine(settings: Settings) -> Iterator[Fault]:
    """Reject variables at GitHub where no machine needs one."""
    if settings.github is not None and settings.github.set_variables and not any(settings.served(VmSection)):
        problem = "has no effect, because vm serves no runner"
        yield Fault("github.set-variables", problem, "remove it")


RULES: Final[tuple[Rule, ...]] = (
    variables_have_a_machine,
    names_are_no_common_labels,
    schedules_have_hours,
    persistent_machines_are_for_trusted_jobs,
    *rules.RULES,
)
REFERENCES: Final[tuple[Reference, ...]] = rules.REFERENCES
