"""The same tree gives the same plan: in another process, under other hashes, and without asking anybody."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from ops.cli.options import ROOT
from ops.plan.recorder import record
from tests.plan import stacks

pytestmark = pytest.mark.plan


def recorded(*names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Record stack files in a process of its own, which may reach nothing outside."""
    return subprocess.run(
        [sys.executable, "-m", "tests.plan.recorded", *names],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_another_process_with_other_hashes_in_another_region_gives_the_same_bytes() -> None:
    other = recorded(*stacks.NAMES, PYTHONHASHSEED="4242", AWS_REGION="ap-south-2", TZ="Asia/Tokyo", HOME="/nowhere")

    here = [f"{hashlib.sha256(stacks.planned(name).to_json()).hexdigest()} {name}" for name in stacks.NAMES]
    assert other.stderr == ""
    assert other.stdout.splitlines() == here


def test_a_plan_that_reached_outside_would_be_stopped() -> None:
    reached = recorded("--outside", stacks.STAGING)

    assert reached.returncode == 1
    assert "PermissionError: the plan reaches outside: socket." in reached.stderr


@pytest.mark.parametrize("name", stacks.NAMES)
def test_two_runs_in_one_process_give_the_same_bytes(name: str) -> None:
    assert record(stacks.stack_file(name)).to_json() == stacks.planned(name).to_json()
