"""The workflow that publishes the documentation: linters, separate permissions, and the commands of the stack file."""

from __future__ import annotations

from typing import Any, Final

import pytest
import yaml

from gpu_ci.repository.docs_workflow import DOCS_FILE, docs_workflow
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from tests.stack_file import stacks

COMMANDS: Final = ("uv sync --locked --group docs", "uv run mkdocs build --strict")
GCP: Final = "examples/cirun-gcp.yaml"


def written(repository: str | None, **entry: Any) -> dict[str, str]:
    settings = stacks.settings(GCP, {"gpu-tests": {"vision": entry, "speech": {}}})
    return kit.files(settings, Identity(project="gpu-ci", stack="staging"), repository=repository)


def workflow(**entry: Any) -> Any:
    text = written("vision", docs=list(COMMANDS), **entry)[DOCS_FILE]
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


@pytest.mark.pure
def test_only_a_repository_that_states_docs_gets_the_workflow() -> None:
    assert DOCS_FILE in written("vision", docs=list(COMMANDS))
    assert DOCS_FILE not in written("vision")
    assert DOCS_FILE not in written("speech", docs=list(COMMANDS))


@pytest.mark.pure
def test_the_job_with_the_commands_cannot_publish() -> None:
    document = workflow(python="3.13")
    build, deploy = document["jobs"]["build"], document["jobs"]["deploy"]

    assert document["permissions"] == {}
    assert build["permissions"] == {"contents": "read"}
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step["name"] for step in deploy["steps"]] == ["Publish"]
    assert build["if"] == "github.ref == 'refs/heads/main'"
    assert set(document["on"]) == {"push", "workflow_dispatch"}


@pytest.mark.pure
def test_the_workflow_has_the_stated_commands() -> None:
    steps = {step["name"]: step for step in workflow(python="3.13")["jobs"]["build"]["steps"]}

    assert steps["Build"]["run"].splitlines() == list(COMMANDS)
    assert steps["Set up uv"]["with"]["python-version"] == "3.13"
    assert steps["Upload the site"]["with"] == {"path": "site"}


@pytest.mark.pure
@pytest.mark.parametrize(("branch", "command"), [("main'", "make"), ("main", "echo ${{ github.token }}")])
def test_a_value_that_breaks_the_workflow_is_refused(branch: str, command: str) -> None:
    with pytest.raises(FileError):
        docs_workflow([command], branch=branch, python="3.12")
