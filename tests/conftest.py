"""Fixtures of every test: strict outputs, an event loop of its own, and the Pulumi CLI."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ops.engine import pulumi_cli

# An Output inside an f-string raises, where by default a warning's sentence would end up in a resource. Set before
# the SDK is imported, which reads it once.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "1"
# The end of an exception depends on the day.
os.environ["GPU_CI_TODAY"] = "2026-11-22"
# Tests compare printed text, so the colours and the width of the terminal must not change it.
for name in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(name, None)

# A deadline measures the machine; what a test takes is read in the summary.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

# In the background of a script and under nohup, a process ignores SIGINT, and so do its children. Tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _fresh_event_loop() -> Iterator[None]:
    """Replace the event loop, because pending tasks of one test would run in the next one."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user can enter. Those of pytest are closed."""
    with tempfile.TemporaryDirectory(prefix="gpu-ci-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def cli() -> pulumi_cli.Found:
    """An installed Pulumi CLI; `make pulumi` installs one."""
    found = pulumi_cli.installed()
    if isinstance(found, pulumi_cli.NotFound):
        reasons = "; ".join(f"{failure.origin}: {failure.reason}" for failure in found.failures)
        pytest.skip(f"no Pulumi CLI is installed ({reasons}): run `make pulumi`")
    return found
