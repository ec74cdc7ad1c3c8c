"""Tests of the plugin tests.quick: the rules select the tests that they name, and no name is out of date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_ci.back_ends.registry import BACK_ENDS
from ops.cli.options import ROOT
from tests.quick import EXAMPLES, SLOW, STACKS
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

SOURCE = """
import pytest
from tests.mistakes.catalogue import Mistake, Severity

LEVELS = {"fault": Severity.FAULT, "error": Severity.ERROR, "warning": Severity.WARNING}

def mistake(name, check, level):
    return pytest.param(Mistake(name=name, change={}, path="", words=(), check=check, level=LEVELS[level]), id=name)

each_mistake = pytest.mark.parametrize("mistake", [
    mistake("a", "", "fault"), mistake("b", "", "fault"), mistake("c", "fit", "error"), mistake("d", "fit", "error"),
    mistake("e", "fit", "warning"), mistake("f", "floor", "error"),
])
each_stack = pytest.mark.parametrize("name", ["examples/jarvis.yaml", "examples/vm-aws.yaml"])

@pytest.mark.engine
def test_engine(): pass

@pytest.mark.plan
@each_mistake
def test_mistake(mistake): pass

@pytest.mark.pure
@each_mistake
def test_pure_mistake(mistake): pass

@pytest.mark.plan
@each_stack
def test_stack(name): pass

@pytest.mark.pure
@each_stack
def test_pure_stack(name): pass

@pytest.mark.plan
@pytest.mark.parametrize("name", ["examples/jarvis.yaml"])
def test_only_stack(name): pass
"""


def test_a_part_of_the_plans_and_no_test_on_the_engine_is_selected(tmp_path: Path) -> None:
    tmp_path.joinpath("test_it.py").write_text(SOURCE)
    tmp_path.joinpath("pytest.ini").write_text("[pytest]\nmarkers = pure\n plan\n engine\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tests.quick", "-p", "no:cacheprovider", "."],
        capture_output=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
    )  # fmt: skip
    collected = [line.removeprefix("test_it.py::test_") for line in ended.stdout.splitlines() if "::" in line]

    assert collected == [
        *(f"mistake[{name}]" for name in "abcef"),
        *(f"pure_mistake[{name}]" for name in "abcdef"),
        "stack[examples/vm-aws.yaml]",
        "pure_stack[examples/jarvis.yaml]",
        "pure_stack[examples/vm-aws.yaml]",
        "only_stack[examples/jarvis.yaml]",
    ]


def test_each_back_end_has_a_stack_file() -> None:
    used = {runner.back_end for name in STACKS for runner in stacks.settings(name).runners.values()}

    assert used == set(BACK_ENDS)


def test_each_named_test_exists() -> None:
    names = [one.partition("[")[0].partition("::") for one in (*SLOW, *EXAMPLES)]

    assert [name for name, _, test in names if f"def {test}" not in (ROOT / name).read_text(encoding="utf-8")] == []
