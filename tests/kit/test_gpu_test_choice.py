"""The section `gpu-tests`: the workflow follows it, and the repository is checked for what the workflow needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.derived.outputs import gpu_test_image
from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.gpu_workflow import TESTS_FILE
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.reading.settle import settle
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.kit import stack as kit
from ops.kit.gpu_tests import Found, gpu_tests, taken_for_granted
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

GCP = "examples/cirun-gcp.yaml"
AWS = "examples/cirun-aws.yaml"
IDENTITY = Identity(project="gpu-ci", stack="staging")
STATED: dict[str, Any] = {
    "python": "3.13",
    "install": ["uv sync --locked --extra cu13"],
    "tests": ["uv run pytest -m gpu -n 4 --cov --cov-context=test", "uv run coverage xml"],
    "codecov-flag": "gpu-tests",
    "nightly": "17 3 * * 1-5",
    "switch": "ENABLE_GPU",
    "run-label": "run gpu",
    "skip-label": "skip gpu",
}
LOCK = 'name = "pytest"\nname = "pytest-cov"\nname = "pytest-xdist"\n'
REPOSITORY = frozenset({".git", "pyproject.toml", "uv.lock"})


def two() -> dict[str, Any]:
    """Return a stack with two runners that cirun serves."""
    raw = stacks.sections(AWS)
    raw["runners"]["big"] = {**raw["runners"]["cirun-aws-gpu"], "timeout-minutes": 90}
    return raw


def workflow(raw: Mapping[str, Any], repository: str | None = None) -> Any:
    assert stacks.faults(raw) == []
    text = kit.files(settle(raw, StackSettings)[0], IDENTITY, repository=repository)[TESTS_FILE]
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def warnings(raw: Mapping[str, Any], repository: str | None, found: Found) -> list[tuple[str, str]]:
    settings = settle(raw, StackSettings)[0]
    tests = gpu_tests(settings, IDENTITY, repository, gpu_test_image(settings))
    assert tests is not None
    verdicts = taken_for_granted(tests, settings, repository, found)
    assert {verdict.level for verdict in verdicts} <= {Level.WARNING}
    return [(verdict.subject, verdict.reason) for verdict in verdicts]


def test_every_key_of_an_entry_is_in_the_workflow() -> None:
    document = workflow(stacks.sections(AWS, {"gpu-tests": {"vision": STATED}}), "vision")
    job = document["jobs"]["test"]
    steps = {step["name"]: step for step in job["steps"]}

    assert steps["Set up uv"]["env"]["PYTHON_VERSION"] == "3.13"
    assert steps["Install"]["run"] == "uv sync --locked --extra cu13\n"
    assert steps["Test"]["run"] == "uv run pytest -m gpu -n 4 --cov --cov-context=test\nuv run coverage xml\n"
    assert steps["Upload coverage"]["with"]["flags"] == "gpu-tests"
    assert document["on"]["schedule"] == [{"cron": "17 3 * * 1-5"}]
    assert job["if"].startswith("vars.ENABLE_GPU == 'true' &&")
    assert "github.event.label.name == 'run gpu'" in job["if"]
    assert "github.event.label.name == 'skip gpu'" in document["jobs"]["check"]["steps"][0]["env"]["EXCUSED"]


def test_a_repository_without_an_entry_gets_the_defaults() -> None:
    stated = stacks.sections(AWS, {"gpu-tests": {"vision": STATED}})

    assert workflow(stated, "audio") == workflow(stacks.sections(AWS)) != workflow(stated, "vision")


def test_an_empty_install_adds_no_step() -> None:
    document = workflow(stacks.sections(AWS, {"gpu-tests": {"vision": {"install": []}}}), "vision")

    assert [step["name"] for step in document["jobs"]["test"]["steps"]] == [
        "Check the GPU", "Check out", "Check that this is the commit that got the label", "Set up uv", "Test",
    ]  # fmt: skip


def test_the_workflow_uses_the_stated_runner_and_its_timeout() -> None:
    raw = two() | {"gpu-tests": {"vision": {"runner": "big"}}}
    named, other = (workflow(raw, name)["jobs"]["test"] for name in ("vision", "audio"))

    assert (named["runs-on"].partition("--")[0], named["timeout-minutes"]) == ("cirun-big", "90")
    assert (other["runs-on"].partition("--")[0], other["timeout-minutes"]) == ("cirun-aws-gpu", "30")


def test_a_stack_with_several_runners_and_no_choice_gets_a_warning() -> None:
    found = Found(files=REPOSITORY, lock=LOCK)
    chosen = two() | {"gpu-tests": {"vision": {"runner": "big"}}}

    assert warnings(two(), None, found) == [
        ("gpu-tests.REPOSITORY.runner", "the workflow uses cirun-aws-gpu; the stack also has big")
    ]
    assert warnings(chosen, "vision", found) == []
    assert [path for path, _ in warnings(chosen, "visoin", found)] == ["gpu-tests.visoin", "gpu-tests.visoin.runner"]


def test_a_stack_without_runners_has_no_tests() -> None:
    alone = stacks.sections(AWS, {"gpu-tests": {"vision": {}}, "runners": {}, "cirun": OUT})

    assert "gpu-tests.vision: the stack has no runner" in [fault.partition(";")[0] for fault in stacks.faults(alone)]


@pytest.mark.parametrize(
    ("found", "reasons"),
    [
        (Found(files=REPOSITORY, lock=LOCK), []),
        (
            Found(files=frozenset({".git", "pyproject.toml"})),
            ["`uv sync --locked --all-extras` fails: the repository has no uv.lock"],
        ),
        (
            Found(files=REPOSITORY, lock='name = "pytest"\n'),
            ["`uv run pytest -m gpu --cov --cov-report=xml` fails: uv.lock has no pytest-cov"],
        ),
        (
            Found(files=frozenset()),
            ["the folder is not a repository, so uv.lock, pytest, pytest-cov could not be checked"],
        ),
    ],
)
def test_a_missing_lock_or_dependency_gets_a_warning(found: Found, reasons: list[str]) -> None:
    assert [reason for _, reason in warnings(stacks.sections(AWS), None, found)] == reasons


def test_other_commands_need_no_lock_and_no_dependency() -> None:
    raw = stacks.sections(AWS, {"gpu-tests": {"vision": {"install": ["make install"], "tests": ["make test"]}}})

    assert warnings(raw, "vision", Found(files=frozenset())) == []
    assert warnings(raw, "vision", Found(files=frozenset({".git"}))) == []


@pytest.mark.parametrize("words", [(), ("--repo", "vision"), ("--repo", "owner/vision")])
def test_the_command_writes_the_commands_of_the_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    file = stack_file(tmp_path, {"vision": {"tests": ["make gpu-tests"]}})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "pyproject.toml").touch()
    code = cli.run(["kit", "--file", str(file), "--out", str(tmp_path / "out"), *words])

    assert code == 0
    assert "make gpu-tests" in (tmp_path / "out" / TESTS_FILE).read_text()
    assert "the repository has no uv.lock" in capsys.readouterr().err


def test_the_command_needs_a_repository_if_there_are_several_entries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = stack_file(tmp_path, {"vision": {}, "audio": {}})

    assert cli.run(["kit", "--file", str(file), "--out", str(tmp_path / "out")]) == 2
    assert "gpu-tests has audio, vision; name the repository" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def stack_file(folder: Path, entries: Mapping[str, Any]) -> Path:
    document = yaml.safe_load((ROOT / AWS).read_text())
    document["config"]["gpu-ci:gpu-tests"] = entries
    file = folder / "Pulumi.test.yaml"
    file.write_text(yaml.safe_dump(document))
    return file
