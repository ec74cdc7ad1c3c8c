"""Write the report of a pull request into one comment for each stack, and update it in place.

A job with write access runs this after the workflow `report`, with the code of the default branch. That workflow runs
the code of the pull request, which may be from a fork: everything in its artifacts is untrusted. The number of the pull
request counts only if that pull request has the commit of the run. Artifacts are read in memory, with limits, and their
text loses what could notify a person or imitate another comment.

Several runs may overlap. A comment states the run that wrote it, and an older run does not overwrite it.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ops.outcome import Exit
from ops.pipeline.github_api import GitHub, RefusedError, TooLargeError, UnansweredError
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
TRIES: Final = 8
"""Rounds in which a comment is looked for and written, while others change or delete it."""
_ARTIFACT: Final = re.compile(r"report-([a-z0-9]+(?:-[a-z0-9]+)*)", re.ASCII)
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_RUN: Final = "<!-- gpu-ci run: {number}.{attempt} -->"
_RUN_OF: Final = re.compile(r"<!-- gpu-ci run: (\d+)\.(\d+) -->", re.ASCII)
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_MENTION: Final = re.compile(r"(?:@|&(?:#0*64|#x0*40|commat)(?:;|\b))(?=\S)", re.IGNORECASE)


class InvalidArtifactError(Exception):
    """An artifact is not one that the workflow `report` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the workflow `report`, as GitHub states it."""

    id: int
    number: int
    attempt: int
    commit: str
    """The head of the pull request."""
    url: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """Return the run of an event `workflow_run`."""
        run = event["workflow_run"]
        return cls(
            id=run["id"],
            number=run["run_number"],
            attempt=run["run_attempt"],
            commit=run["head_sha"],
            url=run["html_url"],
        )

    @property
    def order(self) -> tuple[int, int]:
        """Later runs have a higher one."""
        return self.number, self.attempt


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
    """
    visible = _INVISIBLE.sub("", text.replace("\r\n", "\n")).replace("<!--", "&lt;!--")
    return _MENTION.sub("@\u200b", visible)


def comment_of(stack: str, run: Run, text: str | None, limit: int = COMMENT_LIMIT) -> str:
    """Return the comment with a report: the markers, the run, and as much of the text as fits."""
    marker = MARKER.format(stack=stack)
    head = [marker, _RUN.format(number=run.number, attempt=run.attempt)]
    about = f"Commit {run.commit[:10]}, [run {run.number}]({run.url})."
    if text is None:
        reason = f"## gpu-ci: {stack}\n\nThe report of {stack} failed; the log of the run has the reason."
        return "\n".join([*head, reason, "", about, ""])
    body = harmless(text.removeprefix(marker)).strip("\n")
    whole = "\n".join([*head, about, "", body, ""])
    if len(whole) <= limit:
        return whole
    cut = f"{about} The report does not fit; the artifact of the run has all of it."
    start = "\n".join([*head, cut, "", ""])
    return start + body[: max(0, limit - len(start) - 1)].rpartition("\n")[0] + "\n"


def put(github: GitHub, stack: str, run: Run, found: Written) -> str:
    """Create or update the comment of a stack, so that the pull request has exactly one; return the result.

    Raises:
        RefusedError: GitHub refuses the comment.
        UnansweredError: GitHub does not answer.

    """
    limit = COMMENT_LIMIT
    for _ in range(TRIES):
        try:
            result = _round(github, stack, run, found, limit)
        except UnansweredError:
            continue  # the comment may exist
        except RefusedError as error:
            if error.status not in {404, 422}:
                raise
            # Someone has deleted the comment, or it must be shorter.
            limit = limit // 2 if error.status == 422 else limit
            continue
        if result is not None:
            return result
    raise UnansweredError(f"the comment of {stack} could not be written in {TRIES} rounds")


def _round(github: GitHub, stack: str, run: Run, found: Written, limit: int) -> str | None:
    """Look for the comment and write it once; return None if it must be looked for again."""
    pull_request = found.pull_request
    if github.get(f"pulls/{pull_request}")["head"]["sha"] != run.commit:
        # Either a newer commit was pushed, or the artifact states a pull request of someone else.
        return "the stated pull request does not have the commit of the run"
    comments = _comments(github, pull_request, MARKER.format(stack=stack))
    if any(_order(comment) > run.order for comment in comments):
        return "a newer run has written the comment"
    body = comment_of(stack, run, found.text, limit)
    if not comments:
        if found.quiet:
            return "nothing changes, so no comment is needed"
        github.post(f"issues/{pull_request}/comments", {"body": body})
        return None  # another run may have created one at the same time
    for duplicate in comments[1:]:
        github.delete(f"issues/comments/{duplicate['id']}")
    if comments[0]["body"] != body:
        github.patch(f"issues/comments/{comments[0]['id']}", {"body": body})
    return "the comment is current"


def _comments(github: GitHub, pull_request: int, marker: str) -> list[dict[str, Any]]:
    """Return the comments that this program has written for a stack, the oldest first. Anyone can copy a marker."""
    every = github.listed(f"issues/{pull_request}/comments")
    mine = (one for one in every if (one.get("user") or {}).get("login") == BOT and one["user"].get("type") == "Bot")
    return sorted((one for one in mine if one["body"].startswith(marker)), key=lambda one: one["id"])


def _order(comment: Mapping[str, Any]) -> tuple[int, int]:
    """Return the order of the run that wrote a comment."""
    stated = _RUN_OF.fullmatch(next(iter(comment["body"].splitlines()[1:2]), "").strip())
    return (int(stated[1]), int(stated[2])) if stated else (0, 0)


def artifacts(github: GitHub, run: Run) -> dict[str, dict[str, Any]]:
    """Return the newest artifact of each stack. A run that was repeated has those of every attempt."""
    newest: dict[str, dict[str, Any]] = {}
    for one in github.listed(f"actions/runs/{run.id}/artifacts", "artifacts"):
        name = _ARTIFACT.fullmatch(one["name"])
        if name and not one["expired"] and one["id"] > newest.get(name[1], {"id": 0})["id"]:
            newest[name[1]] = one
    return dict(sorted(newest.items())[:STACKS])


def report(github: GitHub, run: Run, stack: str, artifact: Mapping[str, Any]) -> str:
    """Write the comment of one stack; return the result.

    Raises:
        InvalidArtifactError: the artifact is not one of the workflow `report` for the commit of the run.

    """
    try:
        found = written(github.download(f"actions/artifacts/{artifact['id']}/zip", ARTIFACT_LIMIT))
    except TooLargeError:
        raise InvalidArtifactError(f"has more than {ARTIFACT_LIMIT} bytes") from None
    try:
        github.get(f"pulls/{found.pull_request}")
    except RefusedError as error:
        if error.status == 404:
            raise InvalidArtifactError("states a pull request that does not exist") from None
        raise
    return put(github, stack, run, found)


def main() -> int:
    """Write the comments of the run in the event of this job; return the exit code."""
    github = GitHub.of_job()
    run = Run.of(json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8")))
    code = Exit.GOOD
    try:
        for stack, artifact in artifacts(github, run).items():
            try:
                _say(f"{stack}: {report(github, run, stack, artifact)}.")
            except InvalidArtifactError as error:
                _say(f"::error::The artifact report-{stack} {error}.")
                code = Exit.FINDING
    except (RefusedError, UnansweredError) as error:
        _say(f"::error::{error}.")
        return Exit.OUTSIDE
    return code


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
