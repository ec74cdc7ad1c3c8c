"""The Pulumi CLI of the engine tests."""

from __future__ import annotations

import pytest

from ops.engine import pulumi_cli


@pytest.fixture(scope="session")
def cli() -> pulumi_cli.Found:
    """An installed Pulumi CLI; `make pulumi` installs one."""
    found = pulumi_cli.installed()
    if isinstance(found, pulumi_cli.NotFound):
        reasons = "; ".join(f"{failure.origin}: {failure.reason}" for failure in found.failures)
        pytest.skip(f"no Pulumi CLI is installed ({reasons}): run `make pulumi`")
    return found
