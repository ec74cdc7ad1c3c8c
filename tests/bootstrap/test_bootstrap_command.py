"""`make bootstrap`: one line for each obstacle, no traceback, and the commands that connect the pipelines."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from ops.cli.options import ROOT
from ops.engine.pulumi_cli_get import WANTED
from tests.bootstrap.declared import COMMITTED

pytestmark = pytest.mark.artefacts

AWS: Final = 'echo "$AWS_ACCOUNT"; [ -z "$AWS_FAILS" ] || { echo "The SSO session has expired." >&2; exit 255; }'
GCLOUD: Final = 'echo "gcloud $*" >> "$CALLS"; [ -z "$GCLOUD_FAILS" ] || { echo "ERROR: no credentials." >&2; exit 1; }'
PULUMI: Final = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
words = sys.argv[1:]
if words == ["version"]:
    print("v{WANTED}")
    sys.exit()
calls = pathlib.Path(os.environ["CALLS"])
with calls.open("a") as log:
    where = f"{{os.environ['PULUMI_BACKEND_URL']}} {{os.environ['PULUMI_CONFIG_PASSPHRASE']!r}}"
    log.write(f"pulumi {{' '.join(words)}} in {{pathlib.Path.cwd().name}} with {{where}}\\n")
if "output" in words:
    deploy = {{"AWS_REGION": "us-west-2", "PULUMI_BACKEND_URL": "s3://state?region=us-west-2"}}
    preview = {{"AWS_PREVIEW_ROLE_ARN": "arn:aws:iam::123456789012:role/preview"}}
    images = {{"AWS_IMAGES_ROLE_ARN": "arn:aws:iam::123456789012:role/images"}}
    key = "awskms://alias/x?region=us-west-2"
    plan = {{"AWS_PREVIEW_ROLE_ARN": "arn:aws:iam::123456789012:role/plan"}}
    variables = {{"deploy_variables": deploy, "preview_variables": preview, "plan_variables": plan, "images_variables": images}}
    print(json.dumps({{**variables, "secrets_provider": key}}))
if words[0] == "up":
    interrupts = []
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(1))
    print("Updating", flush=True)
    end = time.monotonic() + float(os.environ.get("SECONDS_OF_UPDATE", "0"))
    while time.monotonic() < end and not interrupts:
        time.sleep(0.02)
    if interrupts:
        time.sleep(0.5)
        with calls.open("a") as log:
            log.write("state written\\n")
    sys.exit(int(os.environ.get("UPDATE_FAILS", "0")) or (1 if interrupts else 0))
"""
PROGRAM: Final = """
import pathlib, sys
from ops.cli import main
from ops.cli.commands import bootstrap
bootstrap.FOLDER = pathlib.Path(sys.argv[1])
sys.exit(main.run(["bootstrap", *sys.argv[2:]]))
"""


class Machine:
    """A folder with the settings, and fake commands on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bootstrap"
        self.calls = folder / "calls"
        self.commands = folder / "commands"
        self.folder.mkdir()
        self.commands.mkdir()
        shutil.copy(COMMITTED.path, self.folder)
        for name, script in (("aws", AWS), ("gcloud", GCLOUD)):
            self.put(name, f"#!/bin/sh\n{script}\n")
        self.put("pulumi", PULUMI)

    def put(self, name: str, script: str) -> None:
        """Put a command on PATH."""
        path = self.commands / name
        path.write_text(script)
        path.chmod(0o755)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start the command in a process group of its own, as a terminal does."""
        own = {"PATH": f"{self.commands}:/bin:/usr/bin", "CALLS": str(self.calls), "AWS_ACCOUNT": "123456789012"}
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.folder), *words],
            cwd=ROOT,
            env={
                **os.environ,
                "COLUMNS": "200",
                "NO_COLOR": "1",
                **own,
                "AWS_FAILS": "",
                "GCLOUD_FAILS": "",
                **environment,
            },
            start_new_session=True,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, **environment: str) -> tuple[int, list[str], list[str]]:
        """Run the command; return the exit code and the lines of its outputs."""
        running = self.start(*words, **environment)
        out, err = running.communicate(timeout=60)
        return running.returncode, out.splitlines(), [line for line in err.splitlines() if "Looking for" not in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def environment(name: str, reviewers: str) -> str:
    """The command that creates an environment."""
    policy = '{"protected_branches": false, "custom_branch_policies": true}'
    body = f'{{"reviewers": {reviewers}, "deployment_branch_policy": {policy}}}'
    return f"gh api --method PUT repos/example-org/gpu-infra/environments/{name} --input - <<< '{body}'"


def test_the_variables_are_printed_as_commands(machine: Machine) -> None:
    code, out, err = machine.run("--stack", "staging")

    assert (code, err) == (0, [])
    assert out == [
        "Updating",
        "# The environments, limited to a branch. If people approve the deployment, replace TEAM_ID by the number of",
        "# their team (gh api orgs/example-org/teams/NAME --jq .id); otherwise write an empty list of reviewers:",
        environment("staging", '[{"type": "Team", "id": TEAM_ID}]'),
        "gh api --method POST repos/example-org/gpu-infra/environments/staging/deployment-branch-policies -f name=main",
        environment("staging-plan", "[]"),
        "gh api --method POST repos/example-org/gpu-infra/environments/staging-plan/deployment-branch-policies -f name=main",
        "gh api --method PUT repos/example-org/gpu-infra/environments/staging-preview",
        "# The variables of the deployment:",
        "gh variable set AWS_REGION --repo example-org/gpu-infra --env staging --body us-west-2",
        "gh variable set PULUMI_BACKEND_URL --repo example-org/gpu-infra --env staging --body 's3://state?region=us-west-2'",
        "# The variables of previews of pull requests:",
        "gh variable set AWS_PREVIEW_ROLE_ARN --repo example-org/gpu-infra --env staging-preview --body arn:aws:iam::123456789012:role/preview",
        "# The variables of plans and of drift:",
        "gh variable set AWS_PREVIEW_ROLE_ARN --repo example-org/gpu-infra --env staging-plan --body arn:aws:iam::123456789012:role/plan",
        "# The variables of the workflow that pushes container images:",
        "gh variable set AWS_IMAGES_ROLE_ARN --repo example-org/vision --body arn:aws:iam::123456789012:role/images",
        "# The stack, unless it exists:",
        "pulumi login 's3://state?region=us-west-2'",
        "pulumi stack init staging --secrets-provider 'awskms://alias/x?region=us-west-2'",
        "# Last, the switch of the deployment in .github/workflows/ci.yml:",
        "gh variable set DEPLOY_STAGING --repo example-org/gpu-infra --body true",
    ]


def test_the_state_is_a_local_file_without_a_passphrase(machine: Machine) -> None:
    machine.run()
    first, *_, last = [line for line in machine.calls.read_text().splitlines() if line.startswith("pulumi")]

    assert first == (
        "pulumi --non-interactive stack select --create --secrets-provider passphrase --stack staging"
        f" in bootstrap with file://{machine.folder}/state?metadata=skip ''"
    )
    assert last.startswith("pulumi --non-interactive stack output --json --stack staging in bootstrap")


def test_gcloud_enables_the_first_two_apis(machine: Machine) -> None:
    machine.run()

    assert (
        "gcloud services enable cloudresourcemanager.googleapis.com serviceusage.googleapis.com"
        " --project gpu-test-runners" in machine.calls.read_text()
    )


@pytest.mark.parametrize(
    ("environment", "lines"),
    [
        ({"AWS_FAILS": "1"}, ["AWS: The SSO session has expired; run aws sso login, or set AWS_PROFILE"]),
        (
            {"AWS_ACCOUNT": "210987654321"},
            [
                "aws.account: the credentials are for the account 210987654321, not for 123456789012; set AWS_PROFILE, or correct the account"
            ],
        ),
        (
            {"AWS_FAILS": "1", "GCLOUD_FAILS": "1"},
            [
                "AWS: The SSO session has expired; run aws sso login, or set AWS_PROFILE",
                "Google Cloud: ERROR: no credentials; run gcloud auth application-default login",
            ],
        ),
    ],
)
def test_each_missing_credential_is_reported_in_one_line(
    machine: Machine, environment: dict[str, str], lines: list[str]
) -> None:
    code, out, err = machine.run(**environment)

    assert (code, out, err) == (3, [], [*lines, "Nothing was changed."])
    assert "pulumi" not in (machine.calls.read_text() if machine.calls.exists() else "")


def test_each_missing_tool_is_reported_in_one_line(machine: Machine) -> None:
    for name in ("aws", "gcloud"):
        (machine.commands / name).unlink()
    code, _, err = machine.run(PATH=str(machine.commands))

    assert code == 3
    assert err == [
        "aws is not on PATH: install version 2 of the AWS CLI",
        "gcloud is not on PATH: install the Google Cloud CLI",
        "Nothing was changed.",
    ]


def test_wrong_settings_are_reported_before_any_call(machine: Machine) -> None:
    path = machine.folder / "Pulumi.staging.yaml"
    path.write_text(
        path.read_text().replace("region: us-west-2", "region: us-west").replace("branch: main", "branches: main")
    )
    code, out, err = machine.run()

    assert (code, out) == (2, [])
    assert err == [
        'aws.region: "us-west" is not an AWS region; write it as us-west-2, without a zone\'s letter',
        'deploy.branches: unknown key; did you mean "branch"?',
        'images.branches: unknown key; did you mean "branch"?',
        "3 faults in the stack file. Nothing was changed.",
    ]
    assert not machine.calls.exists()


def test_a_stack_without_settings_is_reported_in_one_line(machine: Machine) -> None:
    code, _, err = machine.run("--stack", "stagin")

    assert code == 2
    assert len(err) == 1
    assert err[0].endswith("Pulumi.stagin.yaml: no such stack file. Did you mean staging?")


def test_a_failed_update_can_continue(machine: Machine) -> None:
    code, out, err = machine.run(UPDATE_FAILS="255")

    assert (code, out) == (3, ["Updating"])
    assert err == [
        (
            "the update failed; fix the cause and run the command again, which continues. If the account already has a"
            " provider for GitHub, state aws.oidc-provider: existing."
        )
    ]


def test_after_ctrl_c_pulumi_writes_its_state(machine: Machine) -> None:
    running = machine.start(SECONDS_OF_UPDATE="600")
    assert running.stdout is not None
    assert running.stdout.readline() == "Updating\n"
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=300)

    assert running.returncode == 130
    assert machine.calls.read_text().splitlines()[-1] == "state written"
    assert "Traceback" not in err


def test_the_program_imports_the_project_from_any_folder(tmp_path: Path) -> None:
    """Pulumi starts it in its own folder, without the project on the path."""
    ended = subprocess.run(
        [sys.executable, str(ROOT / "bootstrap")], capture_output=True, check=False, cwd=tmp_path, text=True
    )

    assert ended.stderr.splitlines()[-1] == "  deploy: missing; state deploy"
