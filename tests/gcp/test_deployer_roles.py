"""The page that lists the deployer's roles has every role that the declared resources need, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from bootstrap.permissions_gcp import DEPLOYER, GCP
from ops.fakes.gcp import resources as gcp
from ops.fakes.gcp import services as gcp_services

pytestmark = pytest.mark.pure

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "google-cloud-project.md"


def listed() -> set[str]:
    return set(re.findall(r"^\| `roles/([\w.]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_type_that_a_stack_can_declare_has_a_role() -> None:
    """The fake Google Cloud refuses every other type."""
    assert {kind.type for kind in (*gcp.TABLE, *gcp_services.TABLE)} == GCP.keys()


def test_the_page_lists_the_roles_of_the_deployer() -> None:
    assert listed() == set(DEPLOYER)
