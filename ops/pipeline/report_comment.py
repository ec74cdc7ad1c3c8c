"""Write the report of a pull request into one comment for each stack, and update it in place.

A job with write access runs this after the workflow `report`, with the code of the default branch. That workflow runs
the code of the pull request, which may be from a fork: everything in its artifacts is untrusted. The event has no pull
request of a fork, so the artifact states its number, which counts only if that pull request has the commit of the run.
Artifacts are read in memory, with limits, and their text loses what could notify a person or imitate another comment.

GitHub is called with `gh api`, because `gh pr comment --edit-last` edits the last comment of any job, also of another
stack or workflow. The comment of a stack is found by its first line, so a failed job can be run again. The workflow
runs one job at a time for a branch.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ops.outcome import Exit
from ops.report.marker import MARKER

if TYPE_CHECKING:
    from collections.abc import Mapping

BOT: Final = "github-actions[bot]"
"""The author of comments that a job writes with its own token."""
ARTIFACT_LIMIT: Final = 10_000_000
"""Bytes of an artifact."""
FILE_LIMIT: Final = 5_000_000
"""Bytes of a file in an artifact, when it is unpacked."""
STACKS: Final = 10
"""Reports of one run. The code of a pull request chooses their number."""
COMMENT_LIMIT: Final = 65_536
"""Characters of a comment at GitHub."""
_ARTIFACT: Final = re.compile(r"report-([a-z0-9]+(?:-[a-z0-9]+)*)", re.ASCII)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_MENTION: Final = re.compile(r"(?:@|&(?:#0*64|#x0*40|commat)(?:;|\b))(?=\S)", re.IGNORECASE)


class InvalidArtifactError(Exception):
    """An artifact is not one that the workflow `report` writes."""


class GitHubError(Exception):
    """GitHub refused a call, or did not answer."""


def gh_api(path: str, *options: str, body: str | None = None) -> bytes:
    """Return the answer to a call of `gh api` about the repository of this job.

    Raises:
        GitHubError: the call failed.

    """
    command = ["gh", "api", f"repos/{os.environ['GITHUB_REPOSITORY']}/{path}", *options]
    if body is not None:
        command += ["--field", "body=@-"]
    ended = subprocess.run(command, capture_output=True, check=False, input=body.encode() if body is not None else b"")
    if ended.returncode:
        raise GitHubError(f"gh api {path}: {' '.join(ended.stderr.decode(errors='replace').split())}")
    return ended.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The content of an artifact, checked as far as that is possible without GitHub."""

    pull_request: int
    text: str | None
    """The report; None if the job could not make one."""
    quiet: bool
    """Nothing changes, so a pull request without a comment needs none."""


def written(archive: bytes) -> Written:
    """Return the content of an artifact.

    Raises:
        InvalidArtifactError: it is not an archive, has too large files, or lacks the pull request.

    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            stated = json.loads(_file(files, "pull-request.json") or "null")
            text, data = _file(files, "report.md"), _file(files, "report.json")
        report = json.loads(data) if data is not None else None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise InvalidArtifactError(f"cannot be read ({type(error).__name__})") from None
    number = stated.get("number") if isinstance(stated, dict) else None
    if not isinstance(number, str) or not _NUMBER.fullmatch(number):
        raise InvalidArtifactError("states no number of a pull request")
    return Written(pull_request=int(number), text=text, quiet=text is not None and _is_quiet(report))


def _file(files: zipfile.ZipFile, name: str) -> str | None:
    """Return a file of an archive; None if it is missing. Nothing is written to the disk, so names do not matter."""
    if name not in files.namelist():
        return None
    with files.open(name) as file:
        content = file.read(FILE_LIMIT + 1)
    if len(content) > FILE_LIMIT:
        raise InvalidArtifactError(f"has a {name} of more than {FILE_LIMIT} bytes")
    return content.decode(errors="replace")


def _is_quiet(report: Any) -> bool:
    """Return True if a report says that nothing changes and that no finding is new or fixed."""
    try:
        return report["risk"]["level"] == "none" and not report["findings"]["new"] and not report["findings"]["fixed"]
    except (KeyError, TypeError):
        return False


def harmless(text: str) -> str:
    """Return a text without mentions and hidden markers.

    GitHub also finds a mention in an entity such as `&#64;`, because it looks for mentions after it renders Markdown.
    It reads keywords that close an issue only in descriptions of pull requests and in messages of commits (GitHub Docs,
    "Linking a pull request to an issue", 2026).
    """
    visible = _INVISIBLE.sub("", text.replace("\r\n", "\n")).replace("<!--", "&lt;!--")
    return _MENTION.sub("@\u200b", visible)


def comment_of(stack: str, run: Mapping[str, Any], text: str | None, limit: int = COMMENT_LIMIT) -> str:
    """Return the comment with a report: the marker, the run, and as much of the text as fits."""
    marker = MARKER.format(stack=stack)
    about = f"Commit {run['head_sha'][:10]}, [run {run['run_number']}]({run['html_url']})."
    if text is None:
        reason = f"## gpu-ci: {stack}\n\nThe report of {stack} failed; the log of the run has the reason."
        return f"{marker}\n{reason}\n\n{about}\n"
    body = harmless(text.removeprefix(marker)).strip("\n")
    whole = f"{marker}\n{about}\n\n{body}\n"
    if len(whole) <= limit:
        return whole
    start = f"{marker}\n{about} The report does not fit; the artifact of the run has all of it.\n\n"
    return start + body[: max(0, limit - len(start) - 1)].rpartition("\n")[0] + "\n"


def artifacts(run: int) -> dict[str, dict[str, Any]]:
    """Return the newest artifact of each stack. A run that was repeated has those of every attempt."""
    pages = json.loads(gh_api(f"actions/runs/{run}/artifacts", "--paginate", "--slurp"))
    found = [one for page in pages for one in page["artifacts"] if not one["expired"]]
    named = [(name[1], one) for one in found if (name := _ARTIFACT.fullmatch(one["name"]))]
    newest = dict(sorted(named, key=lambda entry: entry[1]["id"]))
    return dict(sorted(newest.items())[:STACKS])


def report(run: Mapping[str, Any], stack: str, artifact: Mapping[str, Any]) -> str:
    """Write the comment of one stack; return the result.

    Raises:
        InvalidArtifactError: the artifact is not one of the workflow `report`.
        GitHubError: a call failed.

    """
    if artifact["size_in_bytes"] > ARTIFACT_LIMIT:
        raise InvalidArtifactError(f"has more than {ARTIFACT_LIMIT} bytes")
    found = written(gh_api(f"actions/artifacts/{artifact['id']}/zip"))
    if json.loads(gh_api(f"pulls/{found.pull_request}"))["head"]["sha"] != run["head_sha"]:
        # Either a newer commit was pushed, or the artifact states a pull request of someone else.
        return "the stated pull request does not have the commit of the run"
    comment, body = _comment(found.pull_request, MARKER.format(stack=stack)), comment_of(stack, run, found.text)
    if comment is not None:
        gh_api(f"issues/comments/{comment}", "--method", "PATCH", body=body)
    elif found.quiet:
        return "nothing changes, so no comment is needed"
    else:
        gh_api(f"issues/{found.pull_request}/comments", body=body)
    return "the comment is current"


def _comment(pull_request: int, marker: str) -> int | None:
    """Return the comment that this program has written for a stack. Anyone can copy its marker."""
    pages = json.loads(gh_api(f"issues/{pull_request}/comments", "--paginate", "--slurp"))
    every = [one for page in pages for one in page if one["body"].startswith(marker)]
    return next((one["id"] for one in every if one["user"]["login"] == BOT and one["user"]["type"] == "Bot"), None)


def main() -> int:
    """Write the comments of the run in the event of this job; return the exit code."""
    run = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))["workflow_run"]
    code = Exit.GOOD
    try:
        for stack, artifact in artifacts(run["id"]).items():
            try:
                _say(f"{stack}: {report(run, stack, artifact)}.")
            except InvalidArtifactError as error:
                _say(f"::error::The artifact report-{stack} {error}.")
                code = Exit.FINDING
    except GitHubError as error:
        _say(f"::error::{error}")
        return Exit.OUTSIDE
    return code


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
