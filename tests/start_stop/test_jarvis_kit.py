"""The files of a repository that tests on an instance of Jarvis Labs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gpu_ci.stack_file.identity import Identity
from ops.cli.options import ROOT
from ops.kit import stack as kit
from ops.kit.scripts import scripts
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.stack_file import stacks
from tests.start_stop.jarvis_world import SECRET, TOKEN, World, serve

pytestmark = pytest.mark.artefacts

JARVIS: Final = "examples/jarvis.yaml"
WORKFLOW: Final = ".github/workflows/gpu-start-stop-jarvis-l4.yml"
SWEEP: Final = ".github/workflows/gpu-sweep.yml"
COMMAND: Final = ".github/gpu-ci/instance.py"
SETTINGS: Final = """\
import os, time
from jarvislabs import constants

constants.REGION_URLS.update(dict.fromkeys(constants.REGION_URLS, os.environ["JARVIS_API"]))
time.sleep = lambda seconds: None
"""
"""Points the SDK in a subprocess to the local server, and makes waiting free."""


def files(changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the files for the repository."""
    return kit.files(stacks.settings(JARVIS, changes), Identity(project="gpu-ci", stack="jarvis"))


def parsed(text: str) -> Any:
    """Return a workflow; `on` stays a word."""
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the files."""
    (tmp_path / ".git").mkdir()
    for name, text in files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_only_modules_and_packages_for_jarvis_labs_are_written() -> None:
    found = files()
    package = {name.rpartition("/")[2] for name in found if "/gpu_instance/" in name}

    assert {"jarvis.py", "jarvis_boot.sh", "cli.py", "life.py"} <= package
    assert not package & {"ec2.py", "gce.py"}
    assert re.findall(r'^#   "(.*)",$', found[COMMAND], re.MULTILINE) == ["jarvislabs==0.2.19"]
    assert not [name for name, text in found.items() if "back_ends" in text]


def test_the_secrets_are_in_the_environment_of_the_steps_that_need_them() -> None:
    jobs = parsed(files()[WORKFLOW])["jobs"] | parsed(files()[SWEEP])["jobs"]
    with_key = {
        name: [step["name"] for step in job["steps"] if "secrets." in json.dumps(step)] for name, job in jobs.items()
    }

    token = "Get a token that registers the runner"
    assert with_key["start"] == [token, "Start the machine and wait for its runner"]
    assert with_key["stop"] == [token, "Stop the machine and wait until it is stopped"]
    assert with_key["test"] == with_key["guard"] == []
    assert not [step for job in jobs.values() for step in job["steps"] if "secrets." in step.get("run", "")]
    assert {name for name, job in jobs.items() if "environment" in job} == {"start", "stop", "jarvis-l4"}


def test_the_stop_and_the_sweep_do_not_depend_on_the_app() -> None:
    for text in (files()[WORKFLOW], files()[SWEEP]):
        for job in parsed(text)["jobs"].values():
            tokens = [step for step in job["steps"] if "create-github-app-token" in step.get("uses", "")]
            assert [step["if"] for step in tokens] == ["github.job == 'start'"] * len(tokens)
    assert parsed(files()[WORKFLOW])["jobs"]["stop"]["if"].startswith("always()")


@pytest.mark.parametrize(
    ("url", "permission", "owner"),
    [
        ("https://github.com/example-org/vision", "permission-administration", None),
        ("https://github.com/example-org", "permission-organization-self-hosted-runners", "example-org"),
    ],
)
def test_the_token_of_the_app_may_only_register_runners(url: str, permission: str, owner: str | None) -> None:
    steps = parsed(files({"github/url": url})[WORKFLOW])["jobs"]["start"]["steps"]
    (asked,) = (step["with"] for step in steps if "create-github-app-token" in step.get("uses", ""))

    assert {name: value for name, value in asked.items() if name.startswith("permission-")} == {permission: "write"}
    assert asked.get("owner") == owner
    assert asked["client-id"] == "123456"


def test_the_sweep_runs_off_the_full_hour_with_a_group_of_its_own() -> None:
    sweep, tests = parsed(files()[SWEEP]), parsed(files()[WORKFLOW])

    assert sweep["on"]["schedule"] == [{"cron": "11,41 * * * *"}]
    assert sweep["concurrency"]["group"] not in tests["concurrency"]["group"]
    assert sweep["jobs"]["jarvis-l4"]["permissions"] == {"actions": "read", "contents": "read"}


def test_the_output_has_a_command_for_each_secret_and_no_variable() -> None:
    outputs = record(read(ROOT / JARVIS)).outputs["start_stop"]["jarvis-l4"]

    assert outputs["api-key"] == "gh secret set TOKEN_JARVIS --repo example-org/vision --env gpu-ci"
    assert outputs["github-app-key"].startswith("gh secret set GPU_APP_PRIVATE_KEY --repo example-org/vision")
    assert not [command for command in outputs.values() if "gh variable set" in command]


def test_the_entry_of_the_repository_in_gpu_tests_counts() -> None:
    changes = {"gpu-tests": {"vision": {"runner": "jarvis-l4", "switch": "ENABLE_GPU_SMOKE", "tests": ["make test"]}}}
    jobs = parsed(files(changes)[WORKFLOW])["jobs"]

    assert "vars.ENABLE_GPU_SMOKE == 'true'" in jobs["start"]["if"]
    assert jobs["test"]["steps"][-1]["run"].strip() == "make test"


def test_another_repository_gets_only_the_checks_of_the_gpu() -> None:
    identity = Identity(project="gpu-ci", stack="jarvis")
    settings = stacks.settings(JARVIS)

    assert set(kit.files(settings, identity, repository="vision")) == set(files())
    assert kit.files(settings, identity, repository="other") == scripts(settings)


@pytest.fixture
def world() -> Iterator[tuple[World, str]]:
    """Both services, where everything takes no time."""
    found = World(starting=timedelta(), pausing=timedelta())
    server = serve(found)
    yield found, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_written_command_starts_and_stops_the_instance(repository: Path, world: tuple[World, str]) -> None:
    jarvis, address = world
    (repository / "sitecustomize.py").write_text(SETTINGS)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(repository),
        "PYTHONPATH": str(repository),
        "JARVIS_API": address,
        "TOKEN_JARVIS": SECRET,
        "GITHUB_APP_TOKEN": TOKEN,
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_API_URL": f"{address}/api",
        "GITHUB_REPOSITORY": "example-org/vision",
    }

    def run(command: str) -> str:
        ended = subprocess.run(
            [sys.executable, COMMAND, command, "jarvis-l4"],
            capture_output=True,
            check=False,
            cwd=repository,
            env=environment,
            text=True,
            timeout=60,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    shown = run("start")
    assert jarvis.named("vision-ci") == ["Running"]
    assert "runner online" in run("status")
    shown += run("stop")
    assert jarvis.named("vision-ci") == ["Paused"]
    shown += run("sweep")
    assert not [secret for secret in (SECRET, TOKEN, "config-") if secret in shown]
