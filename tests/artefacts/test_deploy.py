"""The deployment of the pipeline: never backwards, and a cancelled one writes its state."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from ops.cli.options import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.artefacts

PULUMI = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["RUNNER_TEMP"])
if sys.argv[1:3] == ["stack", "history"]:
    print((folder / "history").read_text())
    sys.exit()
interrupts = []
signal.signal(signal.SIGINT, lambda *_: interrupts.append(1))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
(folder / "arguments").write_text(" ".join(sys.argv[1:]))
print("Updating", flush=True)
end = time.monotonic() + float((folder / "seconds").read_text())
while time.monotonic() < end and not interrupts:
    time.sleep(0.02)
if interrupts:
    time.sleep(0.7)
print("state written", flush=True)
(folder / "state").write_text(f"interrupts: {{len(interrupts)}}")
sys.exit(4 if interrupts else 0)
"""


class Pipeline:
    """A checkout with three commits, and a `pulumi` on PATH that records its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.checkout = folder, folder / "checkout"
        self.checkout.mkdir()
        self.environment = {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(folder),
            "PYTHONPATH": str(ROOT),
            **{f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        script = folder / "pulumi"
        script.write_text(PULUMI)
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        (folder / "seconds").write_text("0")
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

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tools.deploy", "staging", *options],
            cwd=self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *options: str) -> tuple[int, str]:
        process = self.start(*options)
        output, _ = process.communicate(timeout=60)
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

    code, output = pipeline.run()

    assert code == 0
    assert f"::notice::staging has the newer commit {three}; this commit is not deployed." in output
    assert pipeline.holds("arguments") is None


@pytest.mark.parametrize("deployed", [0, 1, 2, None, "unknown"])
def test_the_newest_commit_is_deployed_with_the_policy_pack(pipeline: Pipeline, deployed: int | str | None) -> None:
    """The same commit is deployed again. Nothing is known about a commit of another branch."""
    head = pipeline.commits[deployed] if isinstance(deployed, int) else deployed and "0" * 40
    pipeline.deployed(*([("update", head)] if head else []))

    code, output = pipeline.run()

    assert (code, "Updating\nstate written\n" in output) == (0, True)
    assert pipeline.holds("arguments") == "up --stack staging --yes --non-interactive --diff --policy-pack policy"
    assert pipeline.run("--finish") == (0, "")


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_deployment_gets_one_interrupt_and_time_to_write_its_state(
    pipeline: Pipeline, first: signal.Signals
) -> None:
    pipeline.deployed()
    (pipeline.folder / "seconds").write_text("60")
    step = pipeline.start()
    deadline = time.monotonic() + 30
    while pipeline.holds("arguments") is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)

    step.send_signal(first)
    output, _ = step.communicate(timeout=30)
    assert step.returncode == 130
    assert "::warning::The deployment is cancelled." in output
    assert pipeline.holds("state") is None

    code, output = pipeline.run("--finish")

    assert code == 0
    assert "state written" in output
    assert pipeline.holds("state") == "interrupts: 1"
