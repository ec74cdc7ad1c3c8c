"""What every test gets: strict outputs, and an event loop that no other test has touched."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# An Output inside an f-string raises, where by default a warning's sentence would end up in a resource. Set before
# the SDK is imported, which reads it once.
os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "1"
# What is printed is held against texts: neither colours nor a width of whoever runs the tests belong into it.
for name in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(name, None)

# A deadline measures the machine; what a test takes is read in the summary.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _fresh_event_loop() -> Iterator[None]:
    """What one test leaves pending would be resolved in the next."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
