"""The environment of the policy pack, and a running pack."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from pulumi.runtime.proto import analyzer_pb2_grpc

from ops.cli.options import ROOT

PACK: Final = ROOT / "gpu_ci" / "policy"
INTERPRETERS: Final = (PACK / ".venv" / "bin" / "python", Path(sys.executable))


def interpreter() -> Path:
    """The first interpreter that has pulumi-policy."""
    for python in INTERPRETERS:
        if (
            python.exists()
            and subprocess.run([python, "-c", "import pulumi_policy"], check=False, capture_output=True).returncode == 0
        ):
            return python
    pytest.skip(f"pulumi-policy is not installed: make {PACK.name}/.venv of {PACK.name}/requirements.txt")


@contextlib.contextmanager
def running(config: Mapping[str, str], day: str = "2026-11-22") -> Generator[Any]:
    """Run the pack as the engine does, with the configuration of a stack; yield a client."""
    pack = subprocess.Popen(
        [interpreter(), "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)],
        stdout=subprocess.PIPE,
        cwd=PACK,
        env={**os.environ, "PULUMI_CONFIG": json.dumps(config), "GPU_CI_TODAY": day},
        text=True,
    )
    assert pack.stdout is not None
    try:
        with grpc.insecure_channel(f"127.0.0.1:{int(pack.stdout.readline())}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        pack.terminate()
        pack.wait(timeout=120)
        pack.stdout.close()
