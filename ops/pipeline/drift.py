"""Compare a deployed stack with the clouds, and keep one issue about the drift.

    python -m ops.pipeline.drift check STACK       preview; open, update or close the issue
    python -m ops.pipeline.drift deployed STACK    print the deployed commit

The preview runs the program of the deployed commit over the refreshed state: a commit that is not deployed yet is no
drift, and neither are values that the program ignores, for example the number of nodes that the autoscaler has set.
A refresh alone would report these (tried with 3.258).

The exit code is 1 if the stack has drifted, and 3 if the preview failed or GitHub did not answer; the issue then stays
as it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.doctor.redaction import redacted
from ops.outcome import Exit, Stop
from ops.pipeline import deploy, pulumi_run
from ops.pipeline.github_api import GitHub, RefusedError, UnansweredError
from ops.pipeline.one_issue import Subject, keep, run_address
from ops.pipeline.pulumi_run import say
from ops.pipeline.report_comment import harmless
from ops.report.changes import changes
from ops.report.text import cut_text, grouped, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.report.changes import Change

MARKER: Final = "<!-- gpu-ci drift: {stack} -->"
"""The first line of the issue, by which the next run finds it."""
LIMIT: Final = 60_000
"""Characters of the list in the issue; GitHub accepts 65,536 in all."""
ENDED: Final = "The stack agrees with its program again ({run})."


def drift(stack: str) -> tuple[Change, ...]:
    """Return the changes that an update would make to the deployed stack, without components.

    Raises:
        Stop: the preview failed, for example because a cluster does not answer.

    """
    ended = pulumi_run.run(stack, "preview", "--refresh")
    if ended.code:
        raise Stop(Exit.OUTSIDE, f"the preview of {stack} failed, so nothing is known about its drift; see its output")
    return tuple(one for one in changes(ended.outcome.steps) if not one.component)


def body(stack: str, commit: str, found: Sequence[Change], run: str) -> str:
    """Return the text of the issue."""
    listed = "\n".join(line for members in grouped(found) for line in lines_of(members))
    shown = cut_text(harmless(str(redacted(listed))), LIMIT, "the log of the run")
    fence = "`" * 3
    while fence in shown:
        fence += "`"
    return "\n".join(
        [
            MARKER.format(stack=stack),
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
            f"This issue is updated by [the last run]({run}), and closed when the drift has ended.",
            "",
        ]
    )


def about(stack: str, run: str) -> Subject:
    """Return the subject of the issue."""
    return Subject(marker=MARKER.format(stack=stack), title=f"Drift of {stack}", ended=ENDED.format(run=run))


def check(stack: str, output: Path | None) -> int:
    """Compare a stack with the clouds, and keep its issue; return the exit code."""
    found = drift(stack)
    commit = deploy.commit()
    if output is not None:
        data = {"stack": stack, "commit": commit, "changes": [one.to_data() for one in found]}
        output.write_text(json.dumps(redacted(data), indent=2), encoding="utf-8")
    run = run_address()
    result = keep(GitHub.of_job(), about(stack, run), body(stack, commit, found, run) if found else None)
    if found:
        say(f"::error::{stack} has drifted from its program; {result}.")
        return Exit.FINDING
    say(f"{stack} agrees with its program; {result}.")
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
    parser.add_argument("--json", type=Path, help="also write the changes to this file")
    stated = parser.parse_args(arguments)
    try:
        if stated.command == "check":
            return check(stated.stack, stated.json)
        sys.stdout.write(f"{_deployed(stated.stack)}\n")
    except Stop as stop:
        # Not to standard output, which is the commit.
        sys.stderr.write(f"::error::{stop.message}.\n")
        return stop.code
    except (RefusedError, UnansweredError) as error:
        sys.stderr.write(f"::error::{error}.\n")
        return Exit.OUTSIDE
    return Exit.GOOD


if __name__ == "__main__":
    sys.exit(main())
