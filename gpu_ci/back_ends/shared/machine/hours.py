"""The hours in which a machine runs, as times of cron and as minutes of the week in UTC. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
"""Days as cron numbers them, from 0."""
DAY: Final = 24 * 60
WEEK: Final = 7 * DAY
"""Minutes of a day and of a week."""
_SEASONS: Final = (datetime(2026, 1, 1, 12), datetime(2026, 7, 1, 12))  # noqa: DTZ001 - local times of any zone
"""A day in winter and one in summer."""


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
        """Spans of minutes of the week in UTC, from Sunday 00:00, in which the machine runs in winter or in summer."""
        length = _minutes(self.stop) - _minutes(self.start) + self.next_day * DAY
        spans = []
        for offset in {_offset(self.time_zone, season) for season in _SEASONS}:
            for day in self.days:
                first = (DAYS.index(day) * DAY + _minutes(self.start) - offset) % WEEK
                spans += [(first, min(first + length, WEEK)), (0, first + length - WEEK)]
        return _merged(spans)


def _minutes(time: str) -> int:
    hour, minute = time.split(":")
    return int(hour) * 60 + int(minute)


def _cron(time: str, days: list[int]) -> str:
    hour, minute = time.split(":")
    return f"{int(minute)} {int(hour)} * * {','.join(map(str, sorted(days)))}"


def _offset(time_zone: str, at: datetime) -> int:
    """Return the minutes by which local time is ahead of UTC."""
    offset = at.replace(tzinfo=ZoneInfo(time_zone)).utcoffset()
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
