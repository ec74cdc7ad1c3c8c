"""Tests of docs/reference/machine-types.md: its figures are those of the tables and of the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from gpu_ci.knowledge.machines import EC2_TYPES
from tests.plan import stacks
from tools import reference_machines as machines

pytestmark = pytest.mark.plan

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = tuple(name for name in stacks.NAMES if name.startswith("examples/"))


def rows(table: str) -> dict[str, list[str]]:
    """Return the cells of each row of a Markdown table by its first cell."""
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    return {first.strip("`"): others for first, *others in cells}


def test_every_type_with_a_gpu_is_in_the_table_with_its_facts() -> None:
    found = rows(machines.ec2_machines())

    assert set(found) == {name for name, one in EC2_TYPES.items() if one.gpu is not None}
    assert found["g4dn.xlarge"][:5] == ["1 `t4`", "16 GiB", "4", "16 GiB", "0.526"]
    assert found["g4dn.xlarge"][-1] == "`L-DB2E81BA`, `L-3819A6DF`"
    assert found["p6-b200.48xlarge"][-1] == "`L-417A185B`, not known"


def test_an_unknown_price_is_not_shown_as_a_price() -> None:
    assert rows(machines.ec2_machines())["g4dn.2xlarge"][5:7] == ["not known", "0.320"]
    assert rows(machines.jarvis_machines())["a5000"][-1] == "not known"
    assert rows(machines.gce_machines())["a3-highgpu-8g"][4:6] == ["not known", "not known"]


def test_a_machine_with_attached_gpus_has_the_price_of_both() -> None:
    assert rows(machines.attachable_gpus())["t4"][2] == "0.540 / 0.264"


def test_the_page_shows_the_planned_cost_of_every_example() -> None:
    found = rows(machines.example_costs())

    assert set(found) == set(EXAMPLES)
    assert found["examples/vm-aws.yaml"] == ["14.28 USD", "46.22 USD", "54.75 USD"]
