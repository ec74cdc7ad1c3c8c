"""The facts that decide how long a machine runs that exists between jobs, and what it costs besides its hours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The hours in which a schedule runs a machine. It stops the machine at their end, also during a job."""

    days: int
    """Days of a week on which it starts."""
    minutes: int
    """Minutes from the start to the stop: 720 from 08:00 to 20:00, and 1440 where both are the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTime:
    """A machine that is started, runs jobs one after another, and is stopped; its disk stays."""

    by_workflow: bool = False
    """True where the workflow of the tests starts and stops it; otherwise a schedule or a person starts it."""
    schedule: Schedule | None = None
    """The hours in which it runs; None where it is only started on request."""
    idle_minutes: int = 0
    """Minutes without a job after which it stops; 0 where it does not stop."""
    most_hours: int
    """Hours after a start at which it is stopped in any case."""
    public_address: bool = True
    """Whether it has a public IPv4 address while it runs."""
    alarms: int = 0
    """Alarms, which exist also while it is stopped."""
    metrics: int = 0
    """Series of figures that it publishes while it runs."""
