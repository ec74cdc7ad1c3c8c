"""Deploy a stack from a pipeline by a saved plan: never backwards, and exactly what was planned.

    python -m ops.pipeline.deploy plan STACK --folder FOLDER     preview the update, and save its plan
    python -m ops.pipeline.deploy apply STACK --folder FOLDER    update the stack as planned, or refuse
    python -m ops.pipeline.deploy finish STACK                   wait for the command of a cancelled step

The exit code is 1 if the plan or the update is refused, 2 if there is no plan, and 3 if Pulumi or a cloud failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ops.engine.running_cluster import refusal
from ops.outcome import Exit, Stop
from ops.pipeline import pulumi_run, saved_plan
from ops.pipeline.pulumi_run import Ended, say
from ops.pipeline.saved_plan import AGAIN, PLAN, Facts
from ops.pipeline.step_summary import changed, summarize
from ops.state.state_repair import CREATING

PACK: Final = ("--policy-pack", "gpu_ci/policy")
CHANGING: Final = frozenset({"update", "destroy"})
"""Kinds of updates after which the stack has the content of their commit."""
POLICY: Final = re.compile(r"mandatory\]", re.IGNORECASE)
DEVIATES: Final = re.compile(r"violates plan|is not allowed by the plan|expected resource operations for")
LOCKED: Final = re.compile(r"stack is currently locked by[^\n]*\n\s*(?P<lock>\S[^\n]*)")
LOCK_PROCEDURE: Final = (
    "1. Look at the run or the person that the line names. While it works, wait: the lock ends with the update.",
    "2. If it was killed, sign in to the account of the state, `pulumi login` there, and remove the lock:",
    "   pulumi cancel --stack {stack} --yes",
    "3. List what the killed update left, with the fix for each:",
    "   pulumi stack export --stack {stack} --file state.json && python -m ops state-check state.json",
    "4. Re-run all jobs of this workflow.",
)
"""The steps from a locked state to the next update (docs/how-to/deploy-from-a-pipeline.md)."""
REPAIR: Final = (
    "1. Sign in to the account of the state, `pulumi login` there, and read what to look for in the cloud:",
    LOCK_PROCEDURE[3],
    "2. Run the second command again with `--repair`, as it says, and then:",
    "   pulumi stack import --stack {stack} --file repaired.json",
    "3. Re-run all jobs of this workflow.",
)
"""The steps from an interrupted creation to the next update (docs/runbook.md)."""


def newer(stack: str) -> str | None:
    """Return the deployed commit if it is newer than the checkout: the checkout is one of its ancestors."""
    last = deployed(stack)
    head = commit()
    if last in {None, head}:
        return None
    return last if _git("merge-base", "--is-ancestor", head, str(last)).returncode == 0 else None


def commit() -> str:
    """Return the commit of the checkout."""
    return _git("rev-parse", "HEAD").stdout.strip()


def plan(stack: str, folder: Path) -> int:
    """Preview the update, save its plan and show it in the summary of the run; return the exit code."""
    ahead = newer(stack)
    if ahead is not None:
        say(f"::notice::{stack} has the newer commit {ahead}; this commit is not deployed.")
        _output("changes", "false")
        return Exit.GOOD
    # The state is read first: if it changes during the preview, the plan is refused.
    exported = _export(stack)
    if creations := interrupted_creations(exported):
        listed = ", ".join(creations)
        say(f"::error::An interrupted update was creating {listed}. Without a repair, an update creates a second one.")
        for line in REPAIR:
            say(line.format(stack=stack))
        return Exit.FINDING
    folder.mkdir(parents=True, exist_ok=True)
    facts = circumstances(stack, exported)
    path = folder / PLAN
    ended = pulumi_run.run(stack, "preview", *PACK, "--save-plan", str(path))
    changes = ended.code == 0 and saved_plan.changes_something(path)
    summarize(f"Plan of {stack} at {facts.commit[:10]}", ended.outcome)
    refused = refusal(ended.outcome.steps)
    if ended.code or refused:
        path.unlink(missing_ok=True)
    if ended.code:
        return failed(stack, ended)
    if refused:
        say(f"::error::{refused.lines[0]}")
        for line in refused.lines[1:]:
            say(line)
        return Exit.FINDING
    saved_plan.free_ignored_values(path)
    facts.write(folder)
    _output("changes", str(changes).lower())
    say(f"The plan of {stack} {'is saved' if changes else 'changes nothing'}.")
    return Exit.GOOD


def apply(stack: str, folder: Path) -> int:
    """Update the stack as planned; return the exit code."""
    facts, now = Facts.read(folder), circumstances(stack, _export(stack))
    ahead = newer(stack)
    reason = facts.refusal(now) or (
        f"{stack} has the newer commit {ahead}; approve the plan of that commit's run instead" if ahead else ""
    )
    if reason:
        say(f"::error::The plan is not applied: {reason}.")
        return Exit.FINDING
    ended = pulumi_run.run(stack, "up", "--yes", *PACK, "--plan", str(folder / PLAN))
    summarize(f"Update of {stack} to {facts.commit[:10]}", ended.outcome)
    return failed(stack, ended) if ended.code else Exit.GOOD


def circumstances(stack: str, exported: str) -> Facts:
    """Return the facts of now."""
    return Facts(
        stack=stack,
        commit=commit(),
        state=saved_plan.digest(exported),
        cli=_pulumi("version").strip(),
        made=saved_plan.now(),
    )


def interrupted_creations(exported: str) -> list[str]:
    """Return the names of the resources that may exist without being in the state."""
    operations = json.loads(exported)["deployment"].get("pending_operations") or []
    creating = [one["resource"] for one in operations if one["type"] == CREATING]
    return [f"{one['type']} {one['urn'].rpartition('::')[2]}" for one in creating]


def failed(stack: str, ended: Ended) -> int:
    """Print the reason why a command failed and the fix; return the exit code."""
    if lock := LOCKED.search(ended.output):
        say(f"::error::The state of {stack} is locked: {lock['lock']}")
        for line in LOCK_PROCEDURE:
            say(line.format(stack=stack))
        return Exit.OUTSIDE
    # After a refused call, the engine also reports the planned steps that it did not take.
    if DEVIATES.search(ended.output) and not ended.outcome.failed:
        done = changed(ended.outcome)
        so_far = f"{done} resources were changed as planned before that" if done else "nothing was changed"
        say(f"::error::The update deviates from the plan, so Pulumi stopped it; {so_far}. To continue, {AGAIN}.")
        return Exit.FINDING
    if POLICY.search(ended.output):
        say(f"::error::A policy refuses the stack {stack}. Correct the stack file, and push it.")
        return Exit.FINDING
    say(
        f"::error::Pulumi ended with the code {ended.code}; its last messages name the cause. Remove the cause, and"
        " re-run all jobs of this workflow: Pulumi continues where it stopped."
    )
    return Exit.OUTSIDE


def finish(stack: str) -> int:
    """Wait for the command of a cancelled step; return the exit code."""
    if pulumi_run.finish(stack):
        return Exit.GOOD
    say("::error::Pulumi still runs, and the runner will end it. The state stays locked:")
    for line in LOCK_PROCEDURE[1:]:
        say(line.format(stack=stack))
    return Exit.OUTSIDE


def deployed(stack: str) -> str | None:
    """Return the commit of the last update, also of a failed one, which has changed resources, too."""
    updates: list[dict[str, Any]] = json.loads(_pulumi("stack", "history", "--stack", stack, "--json") or "[]")
    commits = [update["environment"].get("git.head") for update in updates if update["kind"] in CHANGING]
    return next((one for one in commits if one), None)


def _export(stack: str) -> str:
    """Return the state of a stack, with encrypted secrets."""
    return _pulumi("stack", "export", "--stack", stack)


def _pulumi(*words: str) -> str:
    """Run a short command and return its output."""
    ended = subprocess.run(["pulumi", *words], capture_output=True, check=False, text=True)
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["it failed without a message"])[-1].strip()
        raise Stop(Exit.OUTSIDE, f"pulumi {' '.join(words[:2])}: {last}")
    return ended.stdout


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, check=False, text=True)


def _output(name: str, value: str) -> None:
    """Set an output of the step."""
    if path := os.environ.get("GITHUB_OUTPUT"):
        with Path(path).open("a", encoding="utf-8") as outputs:
            outputs.write(f"{name}={value}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one phase; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=("plan", "apply", "finish"))
    parser.add_argument("stack")
    parser.add_argument("--folder", type=Path, default=Path("out/plan"), help="the folder of the saved plan")
    stated = parser.parse_args(arguments)
    try:
        match stated.phase:
            case "plan":
                return plan(stated.stack, stated.folder)
            case "apply":
                return apply(stated.stack, stated.folder)
            case _:
                return finish(stated.stack)
    except Stop as stop:
        say(f"::error::{stop.message}.")
        return stop.code
    except KeyboardInterrupt:
        with contextlib.suppress(BrokenPipeError):
            say("Stopped.")
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
