"""The hours of a machine: times of cron, and minutes of the week in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.shared.machine.hours import DAY, DAYS, WEEK, Hours

pytestmark = pytest.mark.pure

WORK = ("mon", "tue", "wed", "thu", "fri")
TIMES = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))
ZONES = st.sampled_from(
    ["UTC", "Europe/Prague", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland", "Africa/Casablanca"]
)


@pytest.mark.parametrize(
    ("days", "start", "stop", "crons"),
    [
        (WORK, "07:30", "19:00", ("30 7 * * 1,2,3,4,5", "0 19 * * 1,2,3,4,5")),
        (("sat",), "22:00", "06:05", ("0 22 * * 6", "5 6 * * 0")),
        (("sun", "mon"), "00:00", "00:00", ("0 0 * * 0,1", "0 0 * * 1,2")),
    ],
)
def test_a_stop_that_is_not_after_the_start_is_on_the_next_day(
    days: tuple[str, ...], start: str, stop: str, crons: tuple[str, str]
) -> None:
    hours = Hours(time_zone="UTC", days=days, start=start, stop=stop)

    assert (hours.start_cron, hours.stop_cron) == crons


def test_hours_in_utc_are_exact_where_clocks_do_not_change() -> None:
    hours = Hours(time_zone="UTC", days=("mon", "tue"), start="08:00", stop="10:00")

    assert hours.in_utc == ((DAY + 480, DAY + 600), (2 * DAY + 480, 2 * DAY + 600))


def test_hours_in_utc_include_summer_and_winter() -> None:
    """Prague is one hour ahead of UTC in winter, and two in summer."""
    hours = Hours(time_zone="Europe/Prague", days=("mon",), start="08:00", stop="10:00")

    assert hours.in_utc == ((DAY + 360, DAY + 540),)
    assert Hours(time_zone="Africa/Casablanca", days=(), start="08:00", stop="10:00").offsets == (0, 60)  # Ramadan


def test_a_night_from_saturday_to_sunday_is_two_spans_of_the_week() -> None:
    hours = Hours(time_zone="UTC", days=("sat",), start="22:00", stop="06:00")

    assert hours.in_utc == ((0, 360), (WEEK - 120, WEEK))


@given(
    zone=ZONES,
    days=st.lists(st.sampled_from(DAYS), min_size=1, max_size=7, unique=True),
    start=TIMES,
    stop=TIMES,
    week=st.integers(0, 51),
)
def test_every_start_of_the_year_is_in_the_hours(zone: str, days: list[str], start: str, stop: str, week: int) -> None:
    hours = Hours(time_zone=zone, days=days, start=start, stop=stop)
    sunday = datetime(2026, 1, 4, int(start[:2]), int(start[3:]), tzinfo=ZoneInfo(zone)) + timedelta(weeks=week)
    for day in days:
        at = (sunday + timedelta(days=DAYS.index(day))).astimezone(UTC)
        minute = (at.isoweekday() % 7) * DAY + at.hour * 60 + at.minute

        assert any(first <= minute < last for first, last in hours.in_utc)
