"""The hours in which a machine runs, as times of cron and as minutes of the week in UTC. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
"""Days as cron numbers them, from 0."""
DAY: Final = 24 * 60
WEEK: Final = 7 * DAY
"""Minutes of a day and of a week."""
_YEAR: Final = tuple(datetime(2026, 1, 1, 12) + timedelta(days=day) for day in range(365))  # noqa: DTZ001 - of any zone
"""The days of a year: some zones have another time in Ramadan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """The hours in which a machine runs."""

    time_zone: str
    """A name of the IANA database."""
    days: Sequence[str]
    """Days on which the machine starts, as in `mon`."""
    start: str
    """The time of day of the start, as in `07:30`."""
    stop: str
    """The time of day of the stop. A time that is not after `start` is on the next day."""

    @property
    def next_day(self) -> bool:
        """Return whether the machine stops on the day after it started."""
        return _minutes(self.stop) <= _minutes(self.start)

    @property
    def start_cron(self) -> str:
        """The starts in five fields of cron, in the time zone."""
        return _cron(self.start, [DAYS.index(day) for day in self.days])

    @property
    def stop_cron(self) -> str:
        """The stops in five fields of cron, in the time zone."""
        return _cron(self.stop, [(DAYS.index(day) + self.next_day) % 7 for day in self.days])

    @property
    def in_utc(self) -> tuple[tuple[int, int], ...]:
        """Spans of minutes of the week in UTC, from Sunday 00:00, in which the machine runs at any time of the year."""
        spans = []
        for first in (start for offset in self.offsets for start in self.starts(offset)):
            spans += [(first, min(first + self.length, WEEK)), (0, first + self.length - WEEK)]
        return _merged(spans)

    @property
    def length(self) -> int:
        """Minutes from a start to its stop."""
        return _minutes(self.stop) - _minutes(self.start) + self.next_day * DAY

    @property
    def offsets(self) -> tuple[int, ...]:
        """The minutes by which local time is ahead of UTC during a year, each once, from the least."""
        zone = ZoneInfo(self.time_zone)
        return tuple(sorted({_offset(day.replace(tzinfo=zone)) for day in _YEAR}))

    def starts(self, offset: int) -> list[int]:
        """Return the starts as minutes of the week in UTC, while local time is `offset` minutes ahead."""
        return [(DAYS.index(day) * DAY + _minutes(self.start) - offset) % WEEK for day in self.days]


def _minutes(time: str) -> int:
    hour, minute = time.split(":")
    return int(hour) * 60 + int(minute)


def _cron(time: str, days: list[int]) -> str:
    hour, minute = time.split(":")
    return f"{int(minute)} {int(hour)} * * {','.join(map(str, sorted(days)))}"


def _offset(at: datetime) -> int:
    """Return the minutes by which local time is ahead of UTC."""
    offset = at.utcoffset()
    return int(offset.total_seconds()) // 60 if offset is not None else 0


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return spans that neither overlap nor touch, in their order."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if last <= first:
            continue
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
