"""The scripts in the documents of machine images: checked by ShellCheck, and run with fake commands."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.artefacts.callers import Run
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter
from tests.derived.test_aws_images import DIGEST, content, scripts

pytestmark = pytest.mark.artefacts

IMAGE: Final = f"ghcr.io/example-org/runner@{DIGEST}"
OPTIONS: Final = {"pre_pull": (IMAGE,), "sysctl": {"vm.max_map_count": 262144}}
PINNED: Final = f"{IMAGE} application/vnd.oci linux/amd64 io.cri-containerd.pinned=pinned"


def rendered(kind: str, document: str, **options: object) -> list[str]:
    """Return the scripts as Image Builder runs them, with the values of the constants."""
    made = content(kind, **options)
    text = made.build if document == "build" else made.test
    constants = {name: one["value"] for item in yaml.safe_load(text).get("constants", ()) for name, one in item.items()}
    found = scripts(text)
    for name, value in constants.items():
        found = [script.replace("{{ " + name + " }}", value) for script in found]
    return found


@pytest.mark.parametrize("document", ["build", "test"])
@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_the_scripts_pass_shellcheck(kind: str, document: str) -> None:
    # SC1091: the file is on the machine. SC2043 and SC2066: a list of options may have one entry.
    command = [linter("shellcheck"), "--shell=bash", "--exclude=SC1091,SC2043,SC2066", "-"]
    for script in rendered(kind, document, **OPTIONS):
        ended = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (0, "")


@pytest.fixture
def commands(tmp_path: Path) -> FakeCommands:
    """Commands of a machine whose GPU works."""
    fake = FakeCommands(tmp_path)
    for name in ("systemctl", "docker", "runuser", "sysctl"):
        fake.add(name)
    fake.add("nvidia-smi", 'echo "580.159.03, Enabled"')
    fake.add("sysctl", "echo 262144")
    fake.add("ctr", f'case "$*" in *list*) echo "{PINNED}";; esac')
    return fake


def codes(fake: FakeCommands, kind: str = "eks") -> list[int]:
    """Return the exit code of each step of the tests."""
    return [step.code for step in steps(fake, kind)]


def steps(fake: FakeCommands, kind: str = "eks") -> list[Run]:
    return [executed(fake, script, kind, "test") for script in rendered(kind, "test", **OPTIONS)]


def executed(fake: FakeCommands, script: str, kind: str = "eks", document: str = "build") -> Run:
    """Run a step as Image Builder does."""
    caller = "ExecuteBash of Image Builder"
    return fake.run_as_called(f"ami/{kind}-gpu/{document}.yaml", script, caller=caller)


def test_a_machine_whose_gpu_works_passes(commands: FakeCommands) -> None:
    assert codes(commands) == [0, 0, 0]
    assert any(
        call.startswith("ctr run --rm --runc-binary /usr/bin/nvidia-container-runtime") for call in commands.calls()
    )


@pytest.mark.parametrize(
    ("name", "body", "failing"),
    [
        ("nvidia-smi", "exit 9", 0),
        ("nvidia-smi", "", 0),
        ("nvidia-smi", 'echo "595.91.07, Enabled"', 0),
        ("nvidia-smi", 'echo "580.159.03, Disabled"', 0),
        ("nvidia-smi", 'printf "580.159.03, Enabled\\n595.91.07, Enabled\\n"', 0),
        ("systemctl", '[ "$1" != is-active ]', 0),
        ("ctr", '[ "$1" != run ]', 1),
        ("ctr", '[ "$2" != pull ]', 1),
        ("sysctl", "echo 65530", 2),
        ("ctr", f'case "$*" in *list*) echo "{IMAGE} without-a-label";; esac', 2),
        ("ctr", "", 2),
    ],
)
def test_a_machine_that_does_not_work_fails(commands: FakeCommands, name: str, body: str, failing: int) -> None:
    commands.add(name, body)

    assert codes(commands)[failing] != 0


@pytest.mark.parametrize(("name", "body", "failing"), [("nvidia-smi", "exit 9", 0), ("docker", "exit 1", 1)])
def test_a_machine_on_ec2_that_does_not_work_fails(commands: FakeCommands, name: str, body: str, failing: int) -> None:
    commands.add(name, body)

    assert codes(commands, "ec2")[failing] != 0


def test_a_user_that_can_become_root_fails(commands: FakeCommands) -> None:
    # The fake runuser succeeds with any command, also with sudo.
    users = steps(commands, "ec2")[2]

    assert (users.code, users.err) == (1, "runner can become root\n")


def test_images_are_pulled_by_digest_and_pinned(commands: FakeCommands) -> None:
    pull = next(script for script in rendered("eks", "build", **OPTIONS) if "images pull" in script)
    done = executed(commands, pull)

    assert done.code == 0
    assert commands.calls() == [
        "systemctl start containerd",
        f"ctr --namespace k8s.io images pull --platform linux/amd64 {IMAGE}",
        f"ctr --namespace k8s.io images label {IMAGE} io.cri-containerd.pinned=pinned",
        "systemctl stop containerd",
    ]


def test_an_image_in_ecr_is_pulled_with_a_login_of_its_region(commands: FakeCommands) -> None:
    commands.add("aws", "echo token")
    own = f"123456789012.dkr.ecr.us-east-1.amazonaws.com/gpu-ci-staging/runner@{DIGEST}"
    pull = next(script for script in rendered("eks", "build", pre_pull=(own,)) if "images pull" in script)
    executed(commands, pull)

    assert commands.calls()[1:3] == [
        "aws ecr get-login-password --region us-east-1",
        f"ctr --namespace k8s.io images pull --platform linux/amd64 --user AWS:token {own}",
    ]


def test_an_image_that_does_not_exist_fails_the_build(commands: FakeCommands) -> None:
    commands.add("ctr", "exit 1")
    pull = next(script for script in rendered("eks", "build", **OPTIONS) if "images pull" in script)

    assert executed(commands, pull).code != 0
