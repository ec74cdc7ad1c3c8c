"""Judging a stack takes no time that anybody waits for, and grows as the stack does. Processor seconds: see `ops.bench`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from judge import verdicts
from tests.mistakes.sound import IDENTITY, large, staging

if TYPE_CHECKING:
    from config.settings import Settings

pytestmark = pytest.mark.pure


def seconds(settings: Settings, runs: int) -> float:
    """The least processor time of some runs: a busy machine only ever adds."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        verdicts(settings, IDENTITY)
        taken.append(time.process_time() - start)
    return min(taken)


def test_a_stack_is_judged_in_a_fifth_of_a_second() -> None:
    taken = seconds(staging(), 3)

    assert taken < 0.2, f"judging staging took {taken:.3f} s"


def test_three_hundred_pools_with_as_many_runners_are_judged_in_three_seconds() -> None:
    settings = large(300)
    taken = seconds(settings, 1)

    assert (len(settings.gpu_pools), len(settings.runners)) == (300, 300)
    assert taken < 3, f"judging 300 pools with 300 runners took {taken:.2f} s"
