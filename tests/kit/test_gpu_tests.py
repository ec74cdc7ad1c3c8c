"""What a stack file says of a repository's tests: the workflow does it, and what it takes for granted is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from config.identity import Identity
from gpu.verdict import Level
from kit import stack as kit
from kit.cirun_workflow import TESTS_FILE, GpuTests, workflows
from kit.closed import FileError
from kit.gpu_tests import Found, taken_for_granted
from ops.cli import main as cli
from ops.cli.options import ROOT
from tests.config import stacks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.pure

GOOGLE = "examples/cirun-gcp.yaml"
AMAZON = "examples/cirun-aws.yaml"
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
    """A stack with two runners of cirun's."""
    raw = stacks.sections(AMAZON)
    raw["runners"]["big"] = {**raw["runners"]["cirun-aws-gpu"], "timeout-minutes": 90}
    return raw


def workflow(raw: Mapping[str, Any], repository: str | None = None) -> Any:
    assert stacks.faults(raw) == []
    text = kit.files(stacks.stated(raw).settings, IDENTITY, repository=repository)[TESTS_FILE]
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def told(raw: Mapping[str, Any], repository: str | None, found: Found) -> list[tuple[str, str]]:
    settings = stacks.stated(raw).settings
    tests = kit.workflow_of(settings, IDENTITY, repository=repository)
    assert tests is not None
    verdicts = taken_for_granted(tests, settings, repository, found)
    assert {verdict.level for verdict in verdicts} <= {Level.WARNING}
    return [(verdict.subject, verdict.reason) for verdict in verdicts]


def test_everything_that_is_stated_stands_in_the_workflow() -> None:
    document = workflow(stacks.sections(AMAZON, {"gpu-tests": {"vision": STATED}}), "vision")
    job = document["jobs"]["test"]
    steps = {step["name"]: step for step in job["steps"]}

    assert steps["Set up uv"]["with"]["python-version"] == "3.13"
    assert steps["Install"]["run"] == "uv sync --locked --extra cu13\n"
    assert steps["Test"]["run"] == "uv run pytest -m gpu -n 4 --cov --cov-context=test\nuv run coverage xml\n"
    assert steps["Send coverage"]["with"]["flags"] == "gpu-tests"
    assert document["on"]["schedule"] == [{"cron": "17 3 * * 1-5"}]
    assert job["if"].startswith("vars.ENABLE_GPU == 'true' &&")
    assert "github.event.label.name == 'run gpu'" in job["if"]
    assert "github.event.label.name == 'skip gpu'" in document["jobs"]["check"]["steps"][0]["env"]["EXCUSED"]


def test_a_repository_without_an_entry_gets_the_defaults() -> None:
    stated = stacks.sections(AMAZON, {"gpu-tests": {"vision": STATED}})

    assert workflow(stated, "audio") == workflow(stacks.sections(AMAZON)) != workflow(stated, "vision")


def test_nothing_to_install_is_no_step() -> None:
    document = workflow(stacks.sections(AMAZON, {"gpu-tests": {"vision": {"install": []}}}), "vision")

    assert [step["name"] for step in document["jobs"]["test"]["steps"]] == [
        "Check the GPU", "Check out", "Set up uv", "Test",
    ]  # fmt: skip


def test_the_workflow_asks_for_the_runner_that_is_named_and_gives_it_its_time() -> None:
    raw = two() | {"gpu-tests": {"vision": {"runner": "big"}}}
    named, other = (workflow(raw, name)["jobs"]["test"] for name in ("vision", "audio"))

    assert (named["runs-on"].partition("--")[0], named["timeout-minutes"]) == ("cirun-big", "90")
    assert (other["runs-on"].partition("--")[0], other["timeout-minutes"]) == ("cirun-aws-gpu", "30")


def test_which_runner_is_served_is_said_where_nobody_chose() -> None:
    found = Found(files=REPOSITORY, lock=LOCK)
    chosen = two() | {"gpu-tests": {"vision": {"runner": "big"}}}

    assert told(two(), None, found) == [
        ("gpu-tests.REPOSITORY.runner", "the workflow asks for cirun-aws-gpu alone; cirun serves big as well")
    ]
    assert told(chosen, "vision", found) == []
    assert [path for path, _ in told(chosen, "visoin", found)] == ["gpu-tests.visoin", "gpu-tests.visoin.runner"]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            {},
            "gpu-tests.vision: cirun serves cirun-aws-gpu and big, and no runner is named; state runner: cirun-aws-gpu",
        ),
        ({"runner": None}, "gpu-tests.vision: cirun serves cirun-aws-gpu and big, and no runner is named"),
        ({"runner": 5}, "gpu-tests.vision.runner: "),
        ({"runner": "Big"}, "gpu-tests.vision.runner: "),
        ({"runner": "bigg"}, 'gpu-tests.vision.runner: no runner is called "bigg"; did you mean "big"?'),
        ({"runner": "big", "skip-label": "RUN-gpu-ci"}, "gpu-tests.vision.skip-label: it is the run label too"),
        ({"runner": "big", "tests": []}, "gpu-tests.vision.tests: "),
        ({"runner": "big", "tests": ["echo ${{ github.head_ref }}"]}, "gpu-tests.vision.tests[0]: "),
        ({"runner": "big", "install": [" uv sync"]}, "gpu-tests.vision.install[0]: "),
        ({"runner": "big", "install": ["a\nb"]}, "gpu-tests.vision.install[0]: "),
        ({"runner": "big", "nightly": "daily"}, "gpu-tests.vision.nightly: "),
        ({"runner": "big", "python": 3.13}, "gpu-tests.vision.python: "),
        ({"runner": "big", "switch": "enable gpu"}, "gpu-tests.vision.switch: "),
        ({"runner": "big", "codecov": "x"}, "gpu-tests.vision.codecov: unknown key"),
    ],
)
def test_an_entry_that_could_not_be_written_is_a_fault(entry: Mapping[str, Any], fault: str) -> None:
    (found,) = stacks.faults(two() | {"gpu-tests": {"vision": dict(entry)}})

    assert found.startswith(fault)


def test_a_runner_of_another_back_end_is_none_of_cirun_s() -> None:
    raw = stacks.sections(stacks.STAGING, {"gpu-tests": {"vision": {"runner": "gpu-t4"}}})
    alone = stacks.sections("examples/eks-arc.yaml", {"gpu-tests": {"vision": {}}})

    assert [fault.partition(";")[0] for fault in stacks.faults(raw)] == [
        "gpu-tests.vision.runner: cirun does not serve gpu-t4"
    ]
    assert [fault.partition(";")[0] for fault in stacks.faults(alone)] == [
        "gpu-tests.vision: there is no runner that cirun serves"
    ]


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
            ["the folder holds no repository, so that nobody looked for uv.lock, pytest, pytest-cov"],
        ),
    ],
)
def test_what_a_repository_lacks_is_said_before_a_job_fails_of_it(found: Found, reasons: list[str]) -> None:
    assert [reason for _, reason in told(stacks.sections(AMAZON), None, found)] == reasons


def test_commands_of_ones_own_take_nothing_for_granted() -> None:
    raw = stacks.sections(AMAZON, {"gpu-tests": {"vision": {"install": ["make install"], "tests": ["make test"]}}})

    assert told(raw, "vision", Found(files=frozenset())) == []
    assert told(raw, "vision", Found(files=frozenset({".git"}))) == []


def test_a_python_that_the_container_does_not_have_is_not_passed_over() -> None:
    raw = stacks.sections(GOOGLE, {"gpu-tests": {"vision": {"python": "3.13"}}})
    on_the_machine = {name: section for name, section in raw.items() if name != "test-image"}
    found = Found(files=REPOSITORY, lock=LOCK)

    assert [path for path, _ in told(raw, "vision", found)] == ["gpu-tests.vision.python"]
    assert told(on_the_machine, "vision", found) == []


@pytest.mark.parametrize("words", [(), ("--repo", "vision"), ("--repo", "owner/vision")])
def test_the_command_writes_what_the_entry_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    file = stack_file(tmp_path, {"vision": {"tests": ["make gpu-tests"]}})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "pyproject.toml").touch()
    code = cli.run(["kit", "--file", str(file), "--out", str(tmp_path / "out"), *words])

    assert code == 0
    assert "make gpu-tests" in (tmp_path / "out" / TESTS_FILE).read_text()
    assert "the repository has no uv.lock" in capsys.readouterr().err


def test_the_command_asks_which_of_several_repositories_is_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = stack_file(tmp_path, {"vision": {}, "audio": {}})

    assert cli.run(["kit", "--file", str(file), "--out", str(tmp_path / "out")]) == 2
    assert "gpu-tests has audio, vision; name the repository" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def stack_file(folder: Path, entries: Mapping[str, Any]) -> Path:
    document = yaml.safe_load((ROOT / AMAZON).read_text())
    document["config"]["gpu-ci:gpu-tests"] = entries
    file = folder / "Pulumi.test.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


def test_values_that_reach_the_workflow_by_another_way_are_held_to_the_same_forms() -> None:
    with pytest.raises(FileError) as error:
        workflows(GpuTests(runner="cirun-a", install=("a\nb",), tests=("echo ${{ github.head_ref }}",)))

    assert [fault.path for fault in error.value.faults] == ["install", "tests"]
