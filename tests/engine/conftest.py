"""The one CLI of a run of the engine tests."""

from __future__ import annotations

import pytest

from ops.engine import pulumi_cli


@pytest.fixture(scope="session")
def cli() -> pulumi_cli.Found:
    """A Pulumi CLI that is there already; `make pulumi` gets one."""
    found = pulumi_cli.at_hand()
    if isinstance(found, pulumi_cli.NotFound):
        reasons = "; ".join(f"{failure.way}: {failure.reason}" for failure in found.failures)
        pytest.skip(f"no Pulumi CLI is at hand ({reasons}): run `make pulumi`")
    return found
