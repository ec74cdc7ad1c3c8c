"""The base of the comparisons: the state that staging leaves on fake clouds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.cli.options import ROOT
from ops.engine import pulumi_cli, upgrade
from ops.plan.stack_file import read
from ops.report.base import Base

STAGING = ROOT / "tests/stacks/staging.yaml"


@pytest.fixture(scope="session")
def staging(cli: pulumi_cli.Found, tmp_path_factory: pytest.TempPathFactory) -> Base:
    """Staging as this checkout leaves it."""
    path: Path = tmp_path_factory.mktemp("base") / "state.json"
    path.write_text(upgrade.snapshot(cli, read(STAGING), "base"))
    return Base(name="origin/main", commit="0123456789", state=upgrade.Recorded.read(path))
