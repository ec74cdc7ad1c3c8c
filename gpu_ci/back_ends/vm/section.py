"""The section `vm` of a runner."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gpu_ci.back_ends.shared.machine.section import MachineSection
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Matching

ClockTime = Annotated[str, Matching(r"([01]\d|2[0-3]):[0-5]\d", "a time of day", 'write it in quotes, as "22:30"')]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class ScheduleSettings(Section):
    """The hours in which the machine runs."""

    time_zone: Annotated[
        str,
        Matching(r"UTC|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z_+-]+\d{0,2}){1,2}", "a time zone", "write it as Europe/Prague"),
    ]
    """A name of the IANA database, as in `Europe/Prague`."""
    days: Annotated[tuple[Day, ...], Field(min_length=1, max_length=7)] = ("mon", "tue", "wed", "thu", "fri")
    """Days on which the machine starts."""
    start: ClockTime
    stop: ClockTime
    """A time before `start` is on the next day."""

    @property
    def minutes(self) -> int:
        """Minutes from the start to the stop."""
        return (_minute(self.stop) - _minute(self.start)) % (24 * 60)


def _minute(time: str) -> int:
    hour, _, minute = time.partition(":")
    return int(hour) * 60 + int(minute)


class VmSection(MachineSection):
    """Served by one virtual machine, which waits for jobs until it is idle for too long."""

    NEEDS: ClassVar = ("github",)

    registration: Literal["ephemeral", "persistent"] = "ephemeral"
    """`ephemeral` registers the runner again for each job and deletes what the job left. `persistent` keeps runner and
    files between jobs."""
    schedule: ScheduleSettings | None = None
    """The hours in which the machine runs. Without them, someone starts it with the command of the output. With them,
    an idle machine stops only if `idle-stop-minutes` is stated."""

    @property
    def idle_minutes(self) -> int:
        """Minutes without a job after which the machine stops; 0 keeps it running."""
        if self.schedule is not None and "idle_stop_minutes" not in self.model_fields_set:
            return 0
        return self.idle_stop_minutes
