"""Old runners are told of before GitHub does, which says it to a pod that nobody reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.runner_version import LEAST, NEWEST_KNOWN, runner_version
from gpu.verdict import Level
from tests.composition.test_judge import verdicts
from tests.config import stacks

pytestmark = pytest.mark.pure

IMAGE = "images/runner-gpu"


@pytest.mark.parametrize(
    ("version", "level"),
    [
        ("2.321.0", Level.ERROR),
        ("2.328.9", Level.ERROR),
        ("2.329.0", Level.WARNING),
        ("2.336.9", Level.WARNING),
        ("2.337.0", Level.OK),
        ("2.400.1", Level.OK),
        ("3.0.0", Level.OK),
    ],
)
def test_a_runner_is_taken_refused_or_soon_to_be(version: str, level: Level) -> None:
    assert runner_version("images.runner-gpu.runner", version).level is level


@given(st.tuples(st.integers(2, 3), st.integers(0, 999), st.integers(0, 9)))
def test_a_newer_runner_is_never_judged_worse(version: tuple[int, int, int]) -> None:
    order = [Level.ERROR, Level.WARNING, Level.OK]
    newer = (version[0], version[1] + 1, version[2])
    older_level, newer_level = (runner_version("x", ".".join(map(str, one))).level for one in (version, newer))

    assert order.index(newer_level) >= order.index(older_level)
    assert (older_level is Level.ERROR) is (version < LEAST)
    assert (older_level is Level.OK) is (version >= NEWEST_KNOWN)


def test_it_is_judged_where_it_is_stated() -> None:
    (verdict,) = (one for one in verdicts({f"{IMAGE}/runner": "2.321.0"}) if one.check == "runner-version")

    assert (verdict.subject, verdict.level) == ("images.runner-gpu.runner", Level.ERROR)
    assert verdict.reason == "the runner 2.321.0 cannot register at GitHub, which takes 2.329.0 and later"


@pytest.mark.parametrize(("tag", "subjects"), [("2.300.0", ["images.runner-gpu.tag"]), ("cuda-12", [])])
def test_the_tag_of_githubs_own_image_is_its_version(tag: str, subjects: list[str]) -> None:
    own = {
        f"{IMAGE}/repository": stacks.OUT,
        f"{IMAGE}/digest": stacks.OUT,
        f"{IMAGE}/reference": "ghcr.io/actions/actions-runner",
        f"{IMAGE}/tag": tag,
    }

    assert [one.subject for one in verdicts(own) if one.check == "runner-version"] == subjects
