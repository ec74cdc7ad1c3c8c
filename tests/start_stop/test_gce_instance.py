"""The command on Compute Engine, in a process of its own.

Pulumi and Google's client both define the message google.rpc.Status, and one process can load it once only.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.pure

ROOT: Final = Path(__file__).resolve().parents[2]
CASES: Final = Path(__file__).with_name("gce_instance_cases.py")


def test_the_cases_of_compute_engine_pass_in_their_own_process() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(CASES)]

    run = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, encoding="utf-8")

    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout
