"""The files that the pages about cirun show, read as cirun's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.cirun import read
from kit.cirun_access import read_access
from ops.cirun_migrate import migrate

pytestmark = pytest.mark.docs

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def shown(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_the_old_file_becomes_the_new_one_as_shown() -> None:
    old, new = shown("cirun-migrate.md")

    assert migrate(old).text == new
    assert read(new).runners[0].name == "gpu-runner"


def test_the_access_file_is_one() -> None:
    (access,) = shown("cirun-organisation.md")

    assert read_access(access).access_control[0].resource == "gpu-t4-gcp"
