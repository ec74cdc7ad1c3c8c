"""The files that the pages about cirun show, read as cirun's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from gpu_ci.back_ends.shared.cirun.back_end import ACCESS
from gpu_ci.repository.cirun import read
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from ops.kit.migrate.migrate import migrate
from tests.stack_file import stacks

pytestmark = pytest.mark.docs

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def shown(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_the_old_file_is_migrated_as_shown() -> None:
    old, new = shown("cirun-migrate.md")

    assert migrate(old).text == new
    assert read(new)[0]["name"] == "gpu-runner"


def test_the_access_file_is_written_from_the_stack_file_as_shown() -> None:
    stated, written = shown("cirun-organisation.md")
    access = yaml.safe_load(stated)["gpu-ci:cirun"]["access"]
    settings = stacks.settings("examples/cirun-gcp.yaml", {"cirun/access": access})
    files = kit.files(settings, Identity(project="gpu-ci", stack="staging"))

    assert files[ACCESS] == written
