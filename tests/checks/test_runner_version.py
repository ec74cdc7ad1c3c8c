"""The check `runner-version`: runners that GitHub does not accept, or soon will not."""

from __future__ import annotations

import pytest

from gpu_ci.checks.images import runner_version
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import verdicts
from tests.tables import OUT

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
def test_the_version_of_a_runner_decides_the_level(version: str, level: Level) -> None:
    (verdict,) = verdicts(runner_version, {f"{IMAGE}/runner": version})

    assert (verdict.subject, verdict.level) == ("images.runner-gpu.runner", level)


def test_the_reason_names_the_minimum() -> None:
    (verdict,) = verdicts(runner_version, {f"{IMAGE}/runner": "2.321.0"})

    assert verdict.reason == "the runner 2.321.0 cannot register at GitHub, which accepts 2.329.0 and later"


def test_an_image_that_states_no_version_gets_a_warning_with_the_command_that_prints_it() -> None:
    (verdict,) = verdicts(runner_version, {f"{IMAGE}/runner": OUT})

    assert (verdict.level, verdict.subject) == (Level.WARNING, "images.runner-gpu")
    assert "--entrypoint /home/runner/bin/Runner.Listener REGISTRY/runner-gpu@sha256:" in verdict.fix


def test_an_image_that_no_runner_starts_from_needs_no_version() -> None:
    other = {"reference": "ghcr.io/example-org/tools", "tag": "1.2", "cuda": "12.9"}

    assert [one.subject for one in verdicts(runner_version, {"images/tools": other})] == ["images.runner-gpu.runner"]


@pytest.mark.parametrize(
    ("tag", "subjects"), [("2.300.0", ["images.runner-gpu.tag"]), ("cuda-12", ["images.runner-gpu"])]
)
def test_the_tag_of_githubs_own_image_is_its_version(tag: str, subjects: list[str]) -> None:
    own = {
        f"{IMAGE}/runner": OUT,
        f"{IMAGE}/repository": OUT,
        f"{IMAGE}/digest": OUT,
        f"{IMAGE}/reference": "ghcr.io/actions/actions-runner",
        f"{IMAGE}/tag": tag,
    }

    assert [verdict.subject for verdict in verdicts(runner_version, own)] == subjects
