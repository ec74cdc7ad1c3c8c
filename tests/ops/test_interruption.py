"""An interruption that comes at a bad moment comes again."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable
from typing import Never

import pytest

from ops.cli import interruption

pytestmark = pytest.mark.pure


class Thing:
    """Something that can be collected."""


def collect(callback: Callable[[object], object]) -> None:
    thing = Thing()
    watched = weakref.ref(thing, callback)
    del thing
    assert watched() is None


def collect_and_wait(seconds: float) -> None:
    collect(interrupted)
    time.sleep(seconds)


def interrupted(_deleted: object) -> Never:
    raise KeyboardInterrupt


def test_an_interruption_inside_a_collection_ends_the_run() -> None:
    with interruption.raise_again(), pytest.raises(KeyboardInterrupt):
        collect_and_wait(seconds=10)


def test_another_exception_in_a_collection_is_reported_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: reported.append(what.exc_type))

    def faulty(_deleted: object) -> None:
        message = "no"
        raise ValueError(message)

    with interruption.raise_again():
        collect(faulty)

    assert reported == [ValueError]
