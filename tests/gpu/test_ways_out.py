"""What quota, money, spot plan and queue time tell a person to write, written into the stack file to the letter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from composition.demands import demands
from composition.estate import estate
from composition.waiting import queue, spot

from checks import money, queue_time, quota, spot_plan
from config.load import settings_of
from gpu.verdict import Level
from judge import verdicts
from ops.plan.stack_file import read
from tests.mistakes.catalogue import MISTAKES, OUT, Mistake, Told
from tests.mistakes.saying import write
from tests.mistakes.sound import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from config.settings import Settings
    from gpu.verdict import Verdict

pytestmark = pytest.mark.pure

CHECKS = frozenset({quota.CHECK, money.CHECK, spot_plan.CHECK, queue_time.CHECK})


def settings(change: Mapping[str, Any], folder: Path) -> Settings:
    """The sound stack file with a change put over it, read."""
    file = read(write(change, folder))
    return settings_of(file.config, file.secret_keys, file.name, file.path.name)


def at(path: str, value: object) -> dict[str, Any]:
    """The change that states a value at a path."""
    first, _, rest = path.partition(".")
    return {first: at(rest, value) if rest else value}


def both(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Two changes as one; what the second leaves out stays left out."""
    inner = {
        key: both(first[key], then[key])
        for key in first
        if all(isinstance(one.get(key), dict) for one in (first, then))
    }
    return {**first, **then, **inner}


WRITTEN: tuple[tuple[str, Callable[[re.Match[str], str], dict[str, Any]]], ...] = (
    (r"state (\d+) as (quotas\.\S+):", lambda found, _: at(found[2], int(found[1]))),
    (r"lower (\S+) to (\d+)", lambda found, _: at(found[1], int(found[2]))),
    (r"did you mean (\S+)\?", lambda found, path: both(at(path, OUT), {"quotas": {found[1]: 99}})),
    (r"^leave it out", lambda _, path: at(path, OUT)),
    (r"raise the limit to (\d+)", lambda found, path: at(path, int(found[1]))),
    (r"leave budget out", lambda _, __: {"budget": OUT}),
    (r"set it to at least (\d+), or state fewer jobs", lambda found, path: at(path, int(found[1]))),
    (r"set it to at least (\d+), and (\S+)\.max with it",
     lambda found, path: both(at(path, int(found[1])), at(f"{found[2]}.max", int(found[1])))),
    (r"set it to 0", lambda _, path: at(path, 0)),
    (r"state (\S+\.queue-target-minutes),", lambda found, _: at(found[1], 60)),
    (r"set (\S+): (true|\d+) \(", lambda found, _: at(found[1], found[2] == "true" or int(found[2]))),
    (r"name an on-demand pool in (\S+\.arc\.\w+?)( and leave (\S+) out)?(, or|$)",
     lambda found, _: both(at(found[1], "t4-on-demand"), at(found[3], OUT) if found[2] else {})),
    (r"raise it to (\d+)", lambda found, path: at(path, int(found[1]))),
    (r"leave fast-image-pull out", lambda _, path: at(path, OUT)),
)  # fmt: skip
"""What a way out says, and what is written then at the path that it was said of."""


def said(stack: Settings, mistake: Mistake) -> list[Verdict]:
    """What is told of a mistake at its path."""
    wanted = {Told.ERROR: Level.ERROR, Told.WARNING: Level.WARNING}[mistake.told]
    found = verdicts(stack, IDENTITY)
    return [one for one in found if (one.check, one.level, one.subject) == (mistake.check, wanted, mistake.path)]


@pytest.mark.parametrize(
    "mistake", [one for one in MISTAKES if one.check in CHECKS], ids=lambda one: one.name.replace(" ", "-")
)
def test_each_thing_that_is_to_be_written_ends_what_was_said(mistake: Mistake, tmp_path: Path) -> None:
    (verdict,) = said(settings(mistake.change, tmp_path), mistake)
    ways = [(found, change) for form, change in WRITTEN if (found := re.search(form, verdict.fix))]
    # A price is in no stack file: nothing can be written but what is reckoned.
    unpriced = verdict.fix.startswith("reckon it by hand")

    assert bool(ways) is not unpriced, verdict.fix
    for found, change in ways:
        written = both(mistake.change, change(found, verdict.subject))

        assert said(settings(written, tmp_path), mistake) == [], found[0]


# From the stack file to what is asked and paid for.

DECLARED: dict[str, Any] = {"mode": "declared", "zones": ["us-central1-b"], "keep": OUT}
ALONE: dict[str, Any] = {"runners": {"cirun-gcp-gpu": OUT}, "cirun": OUT}


def quotas(stack: Settings) -> dict[str, int]:
    return {need.key: need.needed for need in quota.needs(demands(stack)) if not need.key.startswith("us-west-2/")}


def test_an_image_alone_asks_for_its_builder_or_its_verifier_on_either_market(tmp_path: Path) -> None:
    assert quotas(settings(ALONE, tmp_path)) == {
        "us-central1/CPUS": 8,
        "us-central1/NVIDIA_T4_GPUS": 1,
        "us-central1/PREEMPTIBLE_NVIDIA_T4_GPUS": 1,
        "GPUS_ALL_REGIONS": 1,
    }


@pytest.mark.parametrize(
    ("change", "needed"),
    [
        (DECLARED, {"us-central1/CPUS": 8}),
        (
            {"builder": {"spot": False}, "verifier": {"machine-type": "g2-standard-4", "gpu": "l4"}},
            {"us-central1/CPUS": 8, "us-central1/NVIDIA_L4_GPUS": 1, "GPUS_ALL_REGIONS": 1},
        ),
    ],
)
def test_how_an_image_is_made_decides_what_it_asks_for(
    change: dict[str, Any], needed: dict[str, int], tmp_path: Path
) -> None:
    assert quotas(settings({**ALONE, "host-image": change}, tmp_path)) == needed


def test_a_declared_image_whose_builder_has_gone_asks_for_nothing(tmp_path: Path) -> None:
    stack = settings({**ALONE, "host-image": DECLARED}, tmp_path)
    assert stack.host_image is not None
    kept = stack.model_copy(update={"host_image": stack.host_image.model_copy(update={"phase": "image"})})

    assert quotas(kept) == {}
    assert [line.what for line in money.reckon(estate(kept)).worst.lines if line.path == "host-image"] == [
        "images of machines"
    ]


@pytest.mark.parametrize(("markets", "granted"), [([True], 2), ([True, False], 2), ([False, True], 2)])
def test_two_machines_at_once_are_two_however_they_are_to_be_had(
    markets: list[bool], granted: int, tmp_path: Path
) -> None:
    change = {"runners": {"cirun-gcp-gpu": {"cirun-gcp": {"spot": markets}}}}
    needed = quotas(settings(change, tmp_path).model_copy(update={"host_image": None}))

    assert (needed["GPUS_ALL_REGIONS"], needed["us-central1/CPUS"]) == (granted, 8)


def test_the_worst_month_of_cirun_is_the_same_in_whichever_order_markets_are_tried(tmp_path: Path) -> None:
    def worst(*markets: bool) -> object:
        change = {"runners": {"cirun-gcp-gpu": {"cirun-gcp": {"spot": list(markets)}}}}
        return money.reckon(estate(settings(change, tmp_path))).worst.total

    assert worst(True, False) == worst(False, True) == worst(False)
    assert str(worst(True)) < str(worst(False))


def test_lengths_and_support_reach_the_month(tmp_path: Path) -> None:
    def month(**change: Any) -> money.Reckoning:
        return money.reckon(estate(settings(change, tmp_path)))

    plain = month()
    wide = month(runners={"gpu-t4": {"timeout-minutes": 600, "workload": {"p95-minutes": 200}}})
    extended = month(cluster={"support": "extended"})

    assert wide.expected.total > plain.expected.total + 50
    assert extended.worst.total - plain.worst.total == 365
    assert extended.expected.total == plain.expected.total


def test_lengths_that_differ_reach_the_line_of_waiting_jobs(tmp_path: Path) -> None:
    change = {"runners": {"gpu-t4": {"timeout-minutes": 600, "workload": {"p95-minutes": 200}}}}
    held = {facts.path: facts.minutes for facts in queue(settings(change, tmp_path))}

    assert 36 < held["runners.gpu-t4"] < 45
    assert held["runners.gpu-t4-steady"] == 150


def test_interruptions_of_an_on_demand_pool_are_those_that_spot_would_have(tmp_path: Path) -> None:
    """So the figure is not lost there: the comparison with spot is reckoned with it."""

    def steady(**pool: Any) -> float:
        stack = settings({"gpu-pools": {"t4-on-demand": pool}}, tmp_path)
        return next(facts.terms.rate for facts in spot(stack) if facts.path == "runners.gpu-t4-steady")

    assert steady(**{"interruptions-per-hour": 1.5}) == 1.5
    assert steady() < 0.01
