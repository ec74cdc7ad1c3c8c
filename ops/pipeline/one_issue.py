"""One issue about one fact: opened when it appears, updated in place, and closed when it ends."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.pipeline.github_api import UnansweredError
from ops.pipeline.pulumi_run import say
from ops.pipeline.report_comment import BOT

if TYPE_CHECKING:
    from ops.pipeline.github_api import GitHub

TRIES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The fact."""

    marker: str
    """The first line of the issue, by which the next run finds it."""
    title: str
    ended: str
    """The comment when the issue is closed."""


def keep(github: GitHub, subject: Subject, text: str | None) -> str:
    """Open, update or close the issue, so that at most one is open; return the result. Without a text, close it.

    Raises:
        RefusedError: GitHub refuses a call.
        UnansweredError: GitHub does not answer.

    """
    for _ in range(TRIES):
        issues = _issues(github, subject.marker)
        if text is None:
            for issue in issues:
                _close(github, issue, subject.ended)
            return "the issue is closed" if issues else "there is no issue"
        if issues:
            first, *others = issues
            github.patch(f"issues/{first['number']}", {"body": text})
            for issue in others:
                _close(github, issue, f"Continued in #{first['number']}.")
            return f"issue {first['number']} is current"
        # After a lost answer, the issue may exist; and another run may have opened one at the same time.
        with contextlib.suppress(UnansweredError):
            github.post("issues", {"title": subject.title, "body": text})
    raise UnansweredError(f"the issue could not be found in {TRIES} rounds")


def run_address() -> str:
    """Return the address of the run of this job."""
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{os.environ['GITHUB_REPOSITORY']}/actions/runs/{os.environ.get('GITHUB_RUN_ID', '')}"


def _issues(github: GitHub, marker: str) -> list[dict[str, Any]]:
    """Return the open issues that this program has written, the oldest first. Anyone can copy a marker."""
    every = github.listed("issues?state=open&sort=created&direction=asc")
    mine = (one for one in every if "pull_request" not in one and (one.get("user") or {}).get("login") == BOT)
    return sorted((one for one in mine if (one.get("body") or "").startswith(marker)), key=lambda one: one["number"])


def _close(github: GitHub, issue: dict[str, Any], reason: str) -> None:
    github.patch(f"issues/{issue['number']}", {"state": "closed", "state_reason": "completed"})
    try:
        github.post(f"issues/{issue['number']}/comments", {"body": reason})
    except UnansweredError:
        say(f"::warning::The reason could not be written to issue {issue['number']}.")
