"""The files that a repository gets to start a machine for its tests: contents, and the command as it is copied."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest

from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from tests.artefacts.callers import run_as_called
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

EXAMPLE: Final = "examples/start-stop.yaml"
ON_EC2: Final = ".github/workflows/gpu-start-stop-gpu-t4.yml"
ON_GCE: Final = ".github/workflows/gpu-start-stop-gpu-l4.yml"


def files(repository: str | None = None) -> dict[str, str]:
    return kit.files(stacks.settings(EXAMPLE), Identity(project="gpu-ci", stack="staging"), repository=repository)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path, text in files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_pull_requests_of_other_branches_are_refused() -> None:
    assert "Only pull requests from development are tested." in files()[ON_GCE]
    assert "Only pull requests from" not in files()[ON_EC2]


def test_another_repository_gets_no_workflow() -> None:
    assert not any("start-stop" in path or "gpu-ci/" in path for path in files("speech"))
    assert ON_EC2 in files("vision")


def test_the_file_of_machines_has_what_the_command_needs() -> None:
    assert json.loads(files()[".github/gpu-ci/instances.json"]) == {
        "gpu-t4": {"cloud": "aws", "max_hours": 2, "name": "gpu-ci-staging-gpu-t4", "region": "us-west-2"},
        "gpu-l4": {
            "cloud": "gcp",
            "max_hours": 2,
            "name": "gpu-ci-staging-gpu-l4",
            "project": "gpu-test-runners",
            "zone": "us-central1-b",
        },
    }


def test_the_copied_command_runs_without_this_project(checkout: Path) -> None:
    """Without its packages, too: the job that only guards a run installs none."""
    (checkout / "python3").symlink_to(sys.executable)
    script = checkout / ".github" / "gpu-ci" / "instance.py"
    text = "gpu_ci/back_ends/start_stop/templates/instance.py.j2"
    ran = run_as_called(text, script, "start", "gpu-x", world=checkout, environment={"PATH": str(checkout)})

    assert ran.code == 2
    assert ran.err == "::error::instances.json has no runner gpu-x; it has gpu-l4, gpu-t4\n"
    assert not any("back_ends" in text for text in files().values())


def test_the_command_has_pinned_packages_for_its_clouds_only() -> None:
    text = files()[".github/gpu-ci/instance.py"]
    stated = [line.strip('#, "') for line in text.splitlines() if line.startswith('#   "')]

    assert [one.partition("==")[0] for one in stated] == ["boto3", "google-cloud-compute", "requests"]
    assert all("==" in one for one in stated)
    assert ".github/gpu-ci/gpu_instance/jarvis.py" not in files()
