"""The benchmark's figures: what they are held to, and how they are told."""

from __future__ import annotations

import json

import pytest

from ops import bench, bench_run
from ops.bench import Figure
from ops.stack_file import PROJECT

pytestmark = pytest.mark.pure


def run(seconds: float, resources: int, peak_mib: int = 100) -> dict[str, float]:
    return {"seconds": seconds, "resources": resources, "peak_mib": peak_mib}


def figures(recorder: float = 1.0, last: float = 3.0, peak_mib: int = 100) -> dict[str, Figure]:
    pools = {10: run(0.1, 100), 100: run(1.0, 1000), 300: run(last, 3000)}
    made = bench._figures(1.0, run(recorder, 100, peak_mib), run(1.0, 100), pools)
    return {figure.what: figure for figure in made}


def broken(made: dict[str, Figure]) -> list[str]:
    return [what for what, figure in made.items() if not figure.holds]


def test_good_figures_break_no_bound() -> None:
    assert broken(figures()) == []


def test_a_recorder_slower_than_the_sdk_breaks_its_bound() -> None:
    assert broken(figures(recorder=1.6)) == ["recorder over the SDK alone"]


def test_growth_faster_than_the_resources_breaks_its_bound() -> None:
    assert broken(figures(last=6.0)) == ["a resource with 300 pools over one with 10: 1 is linear"]


def test_too_much_memory_breaks_its_bound() -> None:
    assert broken(figures(peak_mib=401)) == ["peak memory of a plan"]


def test_a_broken_bound_is_bold_in_the_table() -> None:
    table = bench.markdown((Figure(what="a", value=2.0, unit="s", bound=1.0), Figure(what="b", value=1.0, unit="")))

    assert table.splitlines()[2:] == ["| a | 2 s | 1 s | **broken** |", "| b | 1  |  |  |"]


@pytest.mark.parametrize("pools", [1, 10, 300])
def test_the_measured_stack_has_so_many_pools_without_an_index(pools: int) -> None:
    stated = json.loads(bench_run.stack_file(pools).config[f"{PROJECT}:gpu-pools"])

    assert len(stated) == pools
    assert not any(name.rpartition("-")[2].isdigit() for name in stated)
