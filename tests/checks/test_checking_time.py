"""The checks take no noticeable time. Only processor time counts, because other programs use the machine too."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.mistakes.sound import large, staging, verdicts

if TYPE_CHECKING:
    from gpu_ci.stack_file.sections.settings import Settings

pytestmark = pytest.mark.pure


def seconds(settings: Settings, runs: int) -> float:
    """Return the shortest processor time of some runs."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        verdicts(settings)
        taken.append(time.process_time() - start)
    return min(taken)


def test_a_stack_is_checked_in_a_fifth_of_a_second() -> None:
    assert seconds(staging(), 3) < 0.2


def test_three_hundred_pools_and_runners_are_checked_in_three_seconds() -> None:
    settings = large(300)

    assert (len(settings.gpu_pools), len(settings.runners)) == (300, 300)
    assert seconds(settings, 1) < 3
