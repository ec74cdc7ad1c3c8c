"""The deployment of the pipeline: never backwards, and a cancelled one writes its state."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from ops.cli.options import ROOT
from tests.artefacts.callers import caller_of_step, started_as_called

pytestmark = pytest.mark.artefacts

PULUMI = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["RUNNER_TEMP"])
if sys.argv[1:3] == ["stack", "history"]:
    print((folder / "history").read_text())
    sys.exit()
if sys.argv[1:3] == ["stack", "export"]:
    if not (folder / "exported").exists():
        sys.exit("error: no stack named 'staging' found")
    print((folder / "exported").read_text())
    sys.exit()
if sys.argv[1:] == ["version"]:
    print("v3.258.0")
    sys.exit()
interrupts = []
signal.signal(signal.SIGINT, lambda *_: interrupts.append(1))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
(folder / "arguments").write_text(" ".join(sys.argv[1:]))
if "--save-plan" in sys.argv:
    plan = {{"resourcePlans": {{"urn": {{"steps": ["create"]}}}}}}
    pathlib.Path(sys.argv[sys.argv.index("--save-plan") + 1]).write_text(json.dumps(plan))
if (folder / "steps").exists():
    pathlib.Path(sys.argv[sys.argv.index("--event-log") + 1]).write_text((folder / "steps").read_text())
print("Updating", flush=True)
end = time.monotonic() + float((folder / "seconds").read_text())
while time.monotonic() < end and not interrupts:
    time.sleep(0.02)
while interrupts and (folder / "held").exists():
    time.sleep(0.02)
if interrupts:
    time.sleep(0.7)
print("state written", flush=True)
(folder / "state").write_text(f"interrupts: {{len(interrupts)}}")
words = folder / "error"
if words.exists():
    print(words.read_text())
sys.exit(4 if interrupts else 1 if words.exists() else 0)
"""


PLAN = "out/plan"
STEPS = {"plan": "Plan", "apply": "Deploy", "finish": "Wait for a cancelled deployment"}


class Pipeline:
    """A checkout with three commits, and a `pulumi` on PATH that records its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.checkout = folder, folder / "checkout"
        self.checkout.mkdir()
        self.environment = {
            "HOME": str(folder),
            "STACK": "staging",
            "PATH": f"{folder}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "PYTHONPATH": str(ROOT),
            **{f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        script = folder / "pulumi"
        script.write_text(PULUMI)
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        (folder / "seconds").write_text("0")
        (folder / "exported").write_text('{"deployment": {"resources": []}}')
        (folder / "pulumi-folder").write_text(str(folder))
        (self.checkout / ".venv").symlink_to(sys.prefix)
        self.plan = self.checkout / PLAN
        self.git("init", "--quiet")
        self.commits: list[str] = []
        for message in ("one", "two", "three"):
            self.git("commit", "--quiet", "--allow-empty", "--message", message)
            self.commits.append(self.git("rev-parse", "HEAD"))

    def git(self, *arguments: str) -> str:
        asked = ["git", *arguments]
        return subprocess.run(
            asked, cwd=self.checkout, env=self.environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def deployed(self, *updates: tuple[str, str | None]) -> None:
        """State the history of the stack, the newest update first."""
        entries = [f'{{"kind": "{kind}", "environment": {{"git.head": "{head or ""}"}}}}' for kind, head in updates]
        (self.folder / "history").write_text(f"[{', '.join(entries)}]")

    def start(self, phase: str) -> subprocess.Popen[str]:
        """Start the step of a phase."""
        job = yaml.safe_load((ROOT / ".github/workflows/deploy.yml").read_text())["jobs"]["deploy"]
        step = next(one for one in job["steps"] if one.get("name") == STEPS[phase])
        command, options = started_as_called(
            f"deploy.yml: {step['name']}",
            step["run"],
            world=self.folder,
            folder=self.checkout,
            environment=self.environment,
            caller=caller_of_step(step, job),
        )
        return subprocess.Popen(command, **options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, phase: str) -> tuple[int, str]:
        process = self.start(phase)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    def holds(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text() if path.exists() else None


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path)


def test_a_newer_commit_is_not_replaced_by_an_older_one(pipeline: Pipeline) -> None:
    _, two, three = pipeline.commits
    pipeline.deployed(("refresh", two), ("update", three), ("update", two))
    pipeline.git("checkout", "--quiet", two)

    code, output = pipeline.run("plan")

    assert code == 0
    assert f"::notice::staging has the newer commit {three}; this commit is not deployed." in output
    assert pipeline.holds("outputs") == "changes=false\n"
    assert pipeline.holds("arguments") is None


@pytest.mark.parametrize("deployed", [0, 2, None, "unknown"])
def test_the_newest_commit_is_planned_and_deployed_with_the_policy_pack(
    pipeline: Pipeline, deployed: int | str | None
) -> None:
    """The same commit is deployed again. Nothing is known about a commit of another branch."""
    head = pipeline.commits[deployed] if isinstance(deployed, int) else deployed and "0" * 40
    pipeline.deployed(*([("update", head)] if head else []))

    code, output = pipeline.run("plan")
    assert (code, "Updating\nstate written\n" in output) == (0, True)
    assert pipeline.holds("outputs") == "changes=true\n"
    options = "--stack staging --non-interactive --diff"
    common, events = f"{options} --policy-pack gpu_ci/policy", f"--event-log {pipeline.folder}/deploy-staging.events"
    assert pipeline.holds("arguments") == f"preview {common} --save-plan {PLAN}/plan.json {events}"

    code, output = pipeline.run("apply")
    assert (code, "Updating\nstate written\n" in output) == (0, True)
    common = f"{options} --yes --policy-pack gpu_ci/policy"
    assert pipeline.holds("arguments") == f"up {common} --plan {PLAN}/plan.json {events}"
    assert pipeline.run("finish") == (0, "")


def test_an_approved_plan_is_refused_if_a_newer_commit_is_deployed(pipeline: Pipeline) -> None:
    _, two, three = pipeline.commits
    pipeline.deployed()
    pipeline.git("checkout", "--quiet", two)
    assert pipeline.run("plan")[0] == 0
    pipeline.deployed(("update", three))

    code, output = pipeline.run("apply")

    assert code == 1
    assert f"::error::The plan is not applied: staging has the newer commit {three};" in output


def test_a_state_with_an_interrupted_creation_is_not_planned(pipeline: Pipeline) -> None:
    pipeline.deployed()
    operations = [
        {
            "type": kind,
            "resource": {"type": "aws:ec2/vpc:Vpc", "urn": f"urn:pulumi:staging::gpu-ci::aws:ec2/vpc:Vpc::{name}"},
        }
        for kind, name in (("creating", "network"), ("updating", "other"))
    ]
    (pipeline.folder / "exported").write_text(json.dumps({"deployment": {"pending_operations": operations}}))

    code, output = pipeline.run("plan")

    assert (code, pipeline.holds("arguments")) == (1, None)
    assert output.splitlines()[0] == (
        "::error::An interrupted update was creating aws:ec2/vpc:Vpc network. Without a repair, an update creates a"
        " second one."
    )
    assert "   pulumi stack import --stack staging --file repaired.json" in output


def test_without_a_plan_nothing_is_deployed(pipeline: Pipeline) -> None:
    code, output = pipeline.run("apply")

    assert code == 2
    assert f"::error::{PLAN} has no saved plan, for example because it expired" in output


def test_a_stack_that_does_not_exist_is_reported_in_one_line(pipeline: Pipeline) -> None:
    pipeline.deployed()
    (pipeline.folder / "exported").unlink()

    assert pipeline.run("plan") == (3, "::error::pulumi stack export: error: no stack named 'staging' found.\n")


def step(op: str, type_: str, name: str, **more: Any) -> str:
    """An event of the engine before a step, as `--event-log` writes it."""
    urn = f"urn:pulumi:staging::gpu-ci::{type_}::{name}"
    state = {
        "type": type_,
        "urn": urn,
        "custom": True,
        "id": "x",
        "parent": "",
        "provider": "",
        "inputs": {},
        "outputs": {},
    }
    metadata = {"op": op, "urn": urn, "type": type_, "old": state, "new": state, "provider": "", **more}
    return json.dumps({"sequence": 1, "timestamp": 1, "resourcePreEvent": {"metadata": metadata}})


def test_a_plan_that_replaces_a_running_cluster_is_refused(pipeline: Pipeline) -> None:
    pipeline.deployed()
    forced = {"kubernetesNetworkConfig.serviceIpv4Cidr": {"diffKind": "update-replace", "inputDiff": True}}
    cluster = step("replace", "aws:eks/cluster:Cluster", "cluster", detailedDiff=forced)
    inside = step("same", "kubernetes:core/v1:Namespace", "runners")
    (pipeline.folder / "steps").write_text(f"{cluster}\n{inside}\n")

    code, output = pipeline.run("plan")

    assert code == 1
    assert "::error::the cluster cannot be replaced while " in output
    assert not (pipeline.plan / "plan.json").exists()
    assert pipeline.run("apply")[0] == 2


LOCK = """error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock.
  s3://state/.pulumi/locks/organization/gpu-ci/staging/1.json: created by runner@runner-1 (pid 7) at 2026-11-22"""


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (
            LOCK,
            3,
            "::error::The state of staging is locked: s3://state/.pulumi/locks/organization/gpu-ci/staging/1.json",
        ),
        (LOCK, 3, "   pulumi cancel --stack staging --yes"),
        ("error: resource urn:x violates plan: properties changed", 1, "::error::The update deviates from the plan"),
        ("error: expected resource operations for urn:x but none were seen", 1, "::error::The update deviates from"),
        ("  - [mandatory]  no-public-address  (aws:eks)", 1, "::error::A policy refuses the stack staging."),
        ("error: AccessDenied", 3, "::error::Pulumi ended with the code 1"),
    ],
)
def test_a_failure_is_explained_with_its_fix(pipeline: Pipeline, words: str, code: int, line: str) -> None:
    pipeline.deployed()
    assert pipeline.run("plan")[0] == 0
    (pipeline.folder / "error").write_text(words)

    ended, output = pipeline.run("apply")

    assert ended == code
    assert f"\n{line}" in output
    assert pipeline.run("plan")[0] == code
    assert not (pipeline.plan / "plan.json").exists()


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_deployment_gets_one_interrupt_and_time_to_write_its_state(
    pipeline: Pipeline, first: signal.Signals
) -> None:
    pipeline.deployed()
    assert pipeline.run("plan")[0] == 0
    for name in ("arguments", "state"):
        (pipeline.folder / name).unlink()
    (pipeline.folder / "seconds").write_text("600")
    (pipeline.folder / "held").touch()
    step = pipeline.start("apply")
    deadline = time.monotonic() + 120
    while pipeline.holds("arguments") is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)

    step.send_signal(first)
    output, _ = step.communicate(timeout=120)
    assert step.returncode == 130
    assert "::warning::The run is cancelled." in output
    assert pipeline.holds("state") is None

    (pipeline.folder / "held").unlink()
    code, output = pipeline.run("finish")

    assert code == 0
    assert "state written" in output
    assert pipeline.holds("state") == "interrupts: 1"
