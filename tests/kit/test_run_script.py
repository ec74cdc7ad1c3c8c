"""The script that runs the tests of a repository, where no container is started: on a machine, or in a job's container."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from gpu_ci.repository.run_script import RUN_FILE, run_script
from tests.artefacts.fake_commands import FakeCommands, Run

pytestmark = pytest.mark.artefacts

T4: Final = "Tesla T4, 580.159.03, 15360 MiB"
COMMANDS: Final = ("install 'the package'", "pytest -m gpu | tee log", 'pytest -m "$MARKER" && report')


class Checkout:
    """A repository on a machine with GPUs."""

    def __init__(self, folder: Path, variables: tuple[str, ...]) -> None:
        self.script = folder / "repository" / RUN_FILE
        self.script.parent.mkdir(parents=True)
        self.script.write_text(run_script(None, 1, COMMANDS, variables), encoding="utf-8")
        self.stubs = FakeCommands(folder)
        for name in ("install", "pytest", "report", "tee"):
            (self.stubs.path / name).unlink(missing_ok=True)
            self.stubs.add(name, "[ $0 != */tee ] || cat")
        self.gpus(T4)

    def gpus(self, *lines: str, code: int = 0) -> None:
        printed = " ".join(f"'{line}'" for line in lines)
        (self.stubs.path / "nvidia-smi").write_text(f"#!/bin/bash\nprintf '%s\\n' {printed}\nexit {code}\n")
        (self.stubs.path / "nvidia-smi").chmod(0o755)

    def run(self, *words: str, **environment: str) -> Run:
        text = "gpu_ci/repository/templates/run_gpu_tests.sh.j2"
        return self.stubs.run_as_called(text, self.script, *words, environment=environment)


@pytest.fixture
def checkout(open_path: Path) -> Checkout:
    return Checkout(open_path, ("MARKER",))


def test_without_arguments_the_commands_of_the_stack_file_run(checkout: Checkout) -> None:
    ended = checkout.run()

    assert (ended.code, ended.err) == (0, "")
    assert sorted(checkout.stubs.calls()) == sorted(
        ["install the package", "pytest -m gpu", "tee log", "pytest -m gpu", "report "]
    )


def test_a_marker_replaces_the_one_of_the_stack_file(checkout: Checkout) -> None:
    checkout.run(MARKER="slow")

    assert "pytest -m slow" in checkout.stubs.calls()


@pytest.mark.parametrize(("name", "last"), [("install", "install"), ("pytest", "tee")])
def test_a_failed_command_ends_and_fails_the_script(checkout: Checkout, name: str, last: str) -> None:
    checkout.stubs.add(name, "exit 4")

    assert checkout.run().code == 4
    assert {call.split()[0] for call in checkout.stubs.calls()} <= {"install", name, last}


def test_arguments_are_run_unchanged_as_the_command(checkout: Checkout) -> None:
    checkout.stubs.add("pytest", 'printf "<%s>" "$@"; pwd')
    ended = checkout.run("pytest", "-k", "cache and not slow", "")

    assert ended.out == f"{T4}\n<-k><cache and not slow><>{checkout.script.parents[2]}\n"
    assert [call.split()[0] for call in checkout.stubs.calls()] == ["pytest"]


def test_a_variable_states_the_number_of_gpus(checkout: Checkout) -> None:
    checkout.gpus(T4, T4)

    assert checkout.run("report", EXPECTED_GPUS="2").code == 0
