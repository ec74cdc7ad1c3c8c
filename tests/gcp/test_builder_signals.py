"""A signal at the start of a call of gcloud does not leave the call behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ami.builder import gcloud

pytestmark = pytest.mark.pure


def test_a_signal_while_a_call_starts_waits_for_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "gcloud"
    fake.write_text(f"#!/bin/sh\nsleep 0.3\n: > {tmp_path}/ended\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    real = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        process = real(*arguments, **options)
        # Other tests leave threads, which would accept a signal to the process. The builder has only this one.
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with pytest.raises(SystemExit):
            gcloud.Gcloud(project="p", pause_seconds=0).once("compute", "instances", "create", seconds=10)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert (tmp_path / "ended").exists()
