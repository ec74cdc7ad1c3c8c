"""The same tree gives the same plan, in any process, with any hash seed, and without network access."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from ops.cli.options import ROOT
from ops.cli.terminal import encoded
from ops.plan.recorder import record
from tests.plan import stacks

pytestmark = pytest.mark.plan


def recorded(*names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Record stack files in a new process without access to the network."""
    return subprocess.run(
        [sys.executable, "-m", "tests.plan.recorded", *names],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_another_process_and_environment_give_the_same_bytes() -> None:
    other = recorded(*stacks.NAMES, PYTHONHASHSEED="4242", AWS_REGION="ap-south-2", TZ="Asia/Tokyo", HOME="/nowhere")

    here = [f"{hashlib.sha256(encoded(stacks.planned(name).to_data())).hexdigest()} {name}" for name in stacks.NAMES]
    assert other.stderr == ""
    assert other.stdout.splitlines() == here


def test_network_access_of_a_plan_is_refused() -> None:
    reached = recorded("--outside", stacks.STAGING)

    assert reached.returncode == 1
    assert "PermissionError: the plan reaches outside: socket." in reached.stderr


@pytest.mark.parametrize("name", stacks.NAMES)
def test_two_runs_in_one_process_give_the_same_bytes(name: str) -> None:
    assert record(stacks.stack_file(name)).to_data() == stacks.planned(name).to_data()
