"""Compare a deployed stack with the clouds, and write the text of an issue about the drift.

    python -m ops.pipeline.drift check STACK --text FILE    preview; write FILE if the stack has drifted
    python -m ops.pipeline.drift deployed STACK             print the deployed commit

The preview runs the program of the deployed commit over the refreshed state: a commit that is not deployed yet is no
drift, and neither are values that the program ignores, for example the number of nodes that the autoscaler has set.
A refresh alone would report these (tried with 3.258).

`ops/pipeline/one-issue.sh` keeps the issue. The exit code is 3 if the preview failed, so that the issue does not
change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ops.doctor.world.redaction import redacted
from ops.outcome import Exit, Stop
from ops.pipeline import deploy, pulumi_run
from ops.pipeline.pulumi_run import say
from ops.pipeline.report_comment import harmless
from ops.report.changes import Change, changes
from ops.report.text import cut_text, grouped, lines_of

LIMIT: Final = 60_000
"""Characters of the list in the issue; GitHub accepts 65,536 in all."""


def drift(stack: str) -> tuple[Change, ...]:
    """Return the changes that an update would make to the deployed stack, without components.

    Raises:
        Stop: the preview failed, for example because a cluster does not answer.

    """
    ended = pulumi_run.run(stack, "preview", "--refresh")
    if ended.code:
        raise Stop(Exit.OUTSIDE, f"the preview of {stack} failed, so nothing is known about its drift; see its output")
    return tuple(one for one in changes(ended.outcome.steps) if not one.component)


def body(stack: str, commit: str, found: Sequence[Change]) -> str:
    """Return the text of the issue."""
    listed = "\n".join(line for members in grouped(found) for line in lines_of(members))
    shown = cut_text(harmless(str(redacted(listed))), LIMIT, "the log of the run")
    fence = "`" * 3
    while fence in shown:
        fence += "`"
    return "\n".join(
        [
            f"The clouds differ from the deployed commit {commit[:10]} of `{stack}`: someone has changed or deleted",
            "resources by hand. The next deployment would do this; the old values are those of the clouds:",
            "",
            f"{fence}text",
            shown,
            fence,
            "",
            "- To keep a change, state it in the stack file, and deploy.",
            "- To undo it, run the deployment of the commit again, or `pulumi up` in a checkout of it.",
            "",
        ]
    )


def check(stack: str, text: Path) -> int:
    """Compare a stack with the clouds, and write the text of its issue if it has drifted; return the exit code."""
    text.unlink(missing_ok=True)
    if found := drift(stack):
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(body(stack, deploy.commit(), found), encoding="utf-8")
        say(f"::error::{stack} has drifted from its program.")
    else:
        say(f"{stack} agrees with its program.")
    return Exit.GOOD


def _deployed(stack: str) -> str:
    commit = deploy.deployed(stack)
    if commit is None:
        raise Stop(Exit.WRONG, f"{stack} was never deployed from a commit")
    return commit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("check", "deployed"))
    parser.add_argument("stack")
    parser.add_argument("--text", type=Path, default=Path("out/drift.md"), help="the file for the text of the issue")
    stated = parser.parse_args(arguments)
    try:
        if stated.command == "check":
            return check(stated.stack, stated.text)
        sys.stdout.write(f"{_deployed(stated.stack)}\n")
    except Stop as stop:
        # Not to standard output, which is the commit.
        sys.stderr.write(f"::error::{stop.message}.\n")
        return stop.code
    return Exit.GOOD


if __name__ == "__main__":
    sys.exit(main())
