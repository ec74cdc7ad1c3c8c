"""The workflows that a repository gets, through GitHub's grammar and through a security linter."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from ops.kit.scripts import LABELS_FILE
from tests.artefacts.linters import NOTHING_FOUND, linter, zizmor
from tests.kit.options import OPTIONS, RUNNERS, workflows, written
from tests.kit.test_containers import FORMS
from tests.kit.test_containers import written as images_written
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

KNOWN: Final = r'unexpected key "queue" for "concurrency"'
"""actionlint 1.7.12 is older than the key (GitHub changelog, 7 May 2026)."""


@pytest.fixture(params=[*stacks.FILES, *OPTIONS, *FORMS])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a repository with the workflows of a stack file, of an option on every kind of runner, or of images."""
    option = str(request.param)
    found: dict[str, Mapping[str, str]]
    if option in OPTIONS:
        found = {f"{number}-": written(kind, option) or {} for number, kind in enumerate(RUNNERS)}
    else:
        found = {"": images_written(FORMS[option]) if option in FORMS else written(option) or {}}
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    labels: set[str] = set()
    for prefix, texts in found.items():
        for path, text in workflows(texts).items():
            (tmp_path / ".github" / "workflows" / f"{prefix}{path.rpartition('/')[2]}").write_text(text, "utf-8")
        stated: Any = yaml.safe_load(texts.get(LABELS_FILE, "{}"))
        labels |= {*stated.get("self-hosted-runner", {"labels": ()})["labels"]}
    (tmp_path / LABELS_FILE).write_text(yaml.safe_dump({"self-hosted-runner": {"labels": sorted(labels)}}))
    return tmp_path


def test_the_workflows_pass_actionlint(repository: Path) -> None:
    command = [linter("actionlint"), "-no-color", "-ignore", KNOWN]
    result = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)

    assert list((repository / ".github" / "workflows").iterdir())
    assert (result.returncode, result.stdout) == (0, "")


def test_the_workflows_pass_zizmor(repository: Path) -> None:
    assert zizmor(repository, ".github/workflows") == NOTHING_FOUND
