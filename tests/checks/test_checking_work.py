"""The work of the checks is small and grows with the stack file, not with its square."""

from __future__ import annotations

import pytest

from tests.mistakes.sound import large, staging, verdicts
from tests.work import calls

pytestmark = pytest.mark.pure


def test_a_stack_is_checked_with_few_calls() -> None:
    settings = staging()

    assert calls(lambda: verdicts(settings)) < 100_000


def test_four_times_the_pools_and_runners_take_four_times_the_calls() -> None:
    few, many = large(25), large(100)

    assert (len(many.gpu_pools), len(many.runners)) == (100, 100)
    assert calls(lambda: verdicts(many)) < 5 * calls(lambda: verdicts(few))
