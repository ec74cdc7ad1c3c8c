"""The comment with the report of a pull request: one for each stack, from untrusted artifacts, over an API that fails."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.cli.options import ROOT
from ops.pipeline.github_api import GitHub, RefusedError, UnansweredError
from ops.pipeline.report_comment import (
    COMMENT_LIMIT,
    InvalidArtifactError,
    Run,
    artifacts,
    comment_of,
    harmless,
    report,
)
from ops.report import markdown
from ops.report.marker import MARKER
from tests.artefacts.fake_github import REPOSITORY, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.artefacts

COMMIT: Final = "a" * 40
NEWER: Final = "b" * 40
LINE: Final = "<!-- gpu-ci report: staging -->"
CHANGED: Final = {"risk": {"level": "high"}, "findings": {"new": [], "fixed": []}}
NOTHING: Final = {"risk": {"level": "none"}, "findings": {"new": [], "fixed": []}}


def run_of(number: int = 5, attempt: int = 1, commit: str = COMMIT) -> Run:
    return Run(
        id=99, number=number, attempt=attempt, commit=commit, url="https://github.com/acme/gpu-infra/actions/runs/99"
    )


def archive(**files: str | bytes) -> bytes:
    """Return an artifact; `__` in a name is a dot."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files.items():
            zipped.writestr(name.replace("__", "."), content)
    return made.getvalue()


def reported(text: str = "replaced the pool", data: Any = CHANGED, number: Any = "7", **more: str | bytes) -> bytes:
    """Return the artifact of a report."""
    stated = {"pull-request__json": json.dumps({"number": number}), "report__json": json.dumps(data)}
    return archive(**stated, report__md=f"{LINE}\n## gpu-ci: staging\n\n{text}\n", **more)


@pytest.fixture
def world() -> Generator[FakeGitHub]:
    with FakeGitHub() as ready:
        ready.pulls[7] = {"number": 7, "state": "open", "head": {"sha": COMMIT}}
        yield ready


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def github(world: FakeGitHub, waits: list[float]) -> GitHub:
    return GitHub(REPOSITORY, TOKEN, world.api, wait=waits.append)


def happens(world: FakeGitHub, github: GitHub, content: bytes | None = None, run: Run | None = None) -> str:
    """Upload an artifact of staging and write its comment; return the result."""
    world.artifacts.clear()
    world.upload("report-staging", content if content is not None else reported())
    run = run or run_of()
    ((stack, artifact),) = artifacts(github, run).items()
    return report(github, run, stack, artifact)


def bodies(world: FakeGitHub) -> list[str]:
    return [one["body"] for one in world.comments]


def test_a_report_becomes_one_comment(world: FakeGitHub, github: GitHub) -> None:
    assert happens(world, github) == "the comment is current"

    (body,) = bodies(world)
    assert body.splitlines() == [
        LINE,
        "<!-- gpu-ci run: 5.1 -->",
        "Commit aaaaaaaaaa, [run 5](https://github.com/acme/gpu-infra/actions/runs/99).",
        "",
        "## gpu-ci: staging",
        "",
        "replaced the pool",
    ]


def test_a_later_run_updates_the_comment_in_place(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)
    first = world.comments[0]["id"]
    happens(world, github, reported("replaced another pool"), run_of(6))

    assert [one["id"] for one in world.comments] == [first]
    assert "replaced another pool" in bodies(world)[0]


def test_the_same_run_changes_nothing(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)
    world.calls.clear()
    happens(world, github)

    assert [one for one in world.calls if not one.startswith("GET")] == []


def test_a_comment_says_that_nothing_changes_any_more(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)
    happens(world, github, reported("Nothing changes.", NOTHING), run_of(6))

    assert len(bodies(world)) == 1
    assert "Nothing changes." in bodies(world)[0]


def test_a_pull_request_that_changes_nothing_gets_no_comment(world: FakeGitHub, github: GitHub) -> None:
    assert happens(world, github, reported(data=NOTHING)) == "nothing changes, so no comment is needed"
    assert bodies(world) == []


@pytest.mark.parametrize(
    "data", [[], {}, {"risk": "none"}, {**NOTHING, "findings": {"new": [], "fixed": [{}]}}, {"risk": {"level": "none"}}]
)
def test_every_other_report_gets_a_comment(world: FakeGitHub, github: GitHub, data: Any) -> None:
    happens(world, github, reported(data=data))

    assert len(bodies(world)) == 1


def test_a_failed_report_says_so(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)
    happens(world, github, archive(**{"pull-request__json": '{"number": "7"}'}), run_of(6))

    assert "The report of staging failed; the log of the run has the reason." in bodies(world)[0]
    assert len(bodies(world)) == 1


def test_each_stack_has_its_comment(world: FakeGitHub, github: GitHub) -> None:
    for stack in ("production", "staging"):
        world.upload(f"report-{stack}", reported(stack))
    for stack, artifact in artifacts(github, run_of()).items():
        report(github, run_of(), stack, artifact)

    assert [body.splitlines()[0] for body in bodies(world)] == [
        MARKER.format(stack=one) for one in ("production", "staging")
    ]


def test_the_newest_artifact_of_a_repeated_run_counts(world: FakeGitHub, github: GitHub) -> None:
    world.upload("report-staging", reported("first"))
    world.upload("report-staging", reported("second"))
    world.upload("report-staging", reported("expired"), expired=True)
    world.upload("report-../staging", reported("not a stack"))
    world.upload("logs", b"")
    ((stack, artifact),) = artifacts(github, run_of()).items()
    report(github, run_of(), stack, artifact)

    assert "second" in bodies(world)[0]


def test_the_number_of_comments_of_a_run_is_limited(world: FakeGitHub, github: GitHub) -> None:
    for number in range(150):
        world.upload(f"report-a{number}", reported())

    assert len(artifacts(github, run_of())) == 10


@pytest.mark.parametrize("number", [5, 6])
def test_a_comment_is_found_behind_a_hundred_others(world: FakeGitHub, github: GitHub, number: int) -> None:
    for text in range(149):
        world.comment(f"comment {text}")
    mine = world.comment(f"{LINE}\n<!-- gpu-ci run: 4.1 -->\nold")
    for text in range(60):
        world.comment(f"comment {text}")
    happens(world, github, run=run_of(number))

    assert len(world.comments) == 210
    assert "replaced the pool" in mine["body"]


def test_a_comment_of_someone_else_is_not_changed(world: FakeGitHub, github: GitHub) -> None:
    theirs = [
        world.comment(f"{LINE}\n<!-- gpu-ci run: 999.1 -->", {"login": "mallory", "type": "User"}),
        world.comment(f"{LINE}\n<!-- gpu-ci run: 999.1 -->", {"login": "github-actions[bot]", "type": "User"}),
        world.comment(f"quotes {LINE}"),
    ]
    before = [one["body"] for one in theirs]
    happens(world, github)

    assert [one["body"] for one in theirs] == before
    assert len(world.comments) == 4


@pytest.mark.parametrize("run", [run_of(4), run_of(4, 9), run_of(5, 1)])
def test_an_older_run_does_not_overwrite_a_newer_one(world: FakeGitHub, github: GitHub, run: Run) -> None:
    happens(world, github, run=run_of(5, 2))
    newer = bodies(world)

    assert happens(world, github, reported("old"), run) == "a newer run has written the comment"
    assert bodies(world) == newer


@pytest.mark.parametrize("start", ["GET pulls/7", "GET issues/7/comments", "POST issues/7/comments"])
def test_two_runs_that_start_together_leave_one_comment(world: FakeGitHub, github: GitHub, start: str) -> None:
    other = comment_of("staging", run_of(5, 2), "of the newer run")
    world.before[start] = lambda: world.comment(other)
    happens(world, github)
    happens(world, github, reported("of the newer run"), run_of(5, 2))

    assert len(bodies(world)) == 1
    assert "of the newer run" in bodies(world)[0]


def test_two_new_comments_become_one(world: FakeGitHub, github: GitHub) -> None:
    world.before["POST issues/7/comments"] = lambda: world.comment(comment_of("staging", run_of(4), "older"))
    happens(world, github)

    assert len(bodies(world)) == 1
    assert "replaced the pool" in bodies(world)[0]


def test_a_newer_commit_gets_no_report_of_an_older_one(world: FakeGitHub, github: GitHub) -> None:
    world.before["GET issues/7/comments"] = lambda: world.pulls[7]["head"].update(sha=NEWER)
    happens(world, github)
    happens(world, github, reported("late"))

    assert "late" not in bodies(world)[0]


def test_a_report_is_not_written_to_the_pull_request_of_someone_else(world: FakeGitHub, github: GitHub) -> None:
    world.pulls[8] = {"number": 8, "state": "open", "head": {"sha": NEWER}}
    result = happens(world, github, reported(number="8"))

    assert (result, bodies(world)) == ("the stated pull request does not have the commit of the run", [])


def bomb(name: str) -> bytes:
    """Return a small artifact with a large file."""
    files: dict[str, str | bytes] = {"pull-request__json": '{"number": "7"}', "report__md": "x"}
    return archive(**{**files, name: b"0" * 6_000_000})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        reported()[:-40],
        archive(report__md="text"),
        reported(number=7),
        reported(number="7/../../issues/1"),
        reported(number="\u0667"),
        reported(number="0"),
        reported(number="9" * 30),
        reported(number="7\n"),
        reported(number="404"),
        archive(**{"pull-request__json": "[" * 100_000, "report__md": "text"}),
        archive(**{"pull-request__json": "{"}),
        bomb("report__md"),
        bomb("report__json"),
        archive(**{"pull-request__json": '{"number": "7"}', "report__md": "x", "report__json": "{"}),
        os.urandom(10_000_001),
    ],
    ids=range(17),
)  # fmt: skip
def test_an_artifact_of_another_form_is_refused(world: FakeGitHub, github: GitHub, content: bytes) -> None:
    with pytest.raises(InvalidArtifactError, match=r"^[\w .()-]+$"):
        happens(world, github, content)
    assert bodies(world) == []


def test_the_job_reports_a_refused_artifact(world: FakeGitHub, tmp_path: Path) -> None:
    world.upload("report-production", b"no archive")
    world.upload("report-staging", reported())
    ended = job(world, tmp_path)

    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.splitlines() == [
        "::error::The artifact report-production cannot be read (BadZipFile).",
        "staging: the comment is current.",
    ]
    assert len(bodies(world)) == 1


def job(world: FakeGitHub, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the step of the workflow, in an empty folder."""
    event = {"id": 99, "run_number": 5, "run_attempt": 1, "head_sha": COMMIT, "html_url": "https://github.com/x"}
    path = folder / "event.json"
    path.write_text(json.dumps({"workflow_run": event}))
    work = folder / "work"
    work.mkdir()
    environment = {
        "GITHUB_API_URL": world.api,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_TOKEN": TOKEN,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "ops.pipeline.report_comment"],
        capture_output=True, check=False, cwd=work, env=environment, text=True,
    )  # fmt: skip
    assert list(work.iterdir()) == []
    return ended


def test_the_job_needs_only_the_standard_library(world: FakeGitHub, tmp_path: Path) -> None:
    world.upload("report-staging", reported())
    ended = job(world, tmp_path)
    imports = "import sys, ops.pipeline.report_comment; print([one for one in ('pulumi', 'pydantic', 'rich') if one in sys.modules])"
    asked = subprocess.run([sys.executable, "-c", imports], capture_output=True, check=True, cwd=ROOT, text=True)

    assert (ended.returncode, ended.stdout) == (0, "staging: the comment is current.\n")
    assert asked.stdout == "[]\n"


def test_a_path_in_an_archive_writes_no_file(world: FakeGitHub, tmp_path: Path) -> None:
    outside = {"../../outside": "x", "/outside-of-the-archive": "x", "../event.json": "{}"}
    world.upload("report-staging", reported(**outside))
    before = (tmp_path / "event.json").exists()

    assert job(world, tmp_path).returncode == 0
    assert not before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["event.json", "work"]
    assert json.loads((tmp_path / "event.json").read_text()) != {}


def test_the_storage_gets_no_token(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)

    assert world.tokens_at_the_storage == [""]


@pytest.mark.parametrize(
    "text",
    [
        "@octocat", "ask @acme/team", "\\@octocat", "a@octocat", "&#64;octocat", "&#x40;octocat", "&#064;octocat",
        "&commat;octocat", "`@octocat`", "@&#111;ctocat", "&copy@octocat", "@<!-- -->octocat",
    ],
)  # fmt: skip
def test_nobody_is_mentioned(text: str) -> None:
    shown = harmless(text)

    assert re.search(r"@(?!\u200b)", shown) is None
    assert re.search(r"&(#|commat)", shown.replace("&#111;", "")) is None


def test_a_report_imitates_no_other_comment(world: FakeGitHub, github: GitHub) -> None:
    other = MARKER.format(stack="production")
    happens(world, github, reported(f"{other}\n<!-- gpu-ci run: 999.1 -->\n\u202egnp\x1b[1m"))

    (body,) = bodies(world)
    assert re.findall("<!--.*", body) == [LINE, "<!-- gpu-ci run: 5.1 -->"]
    assert "\u202e" not in body
    assert "\x1b" not in body


@given(st.text(max_size=300), st.integers(400, 2000))
def test_a_comment_fits_and_has_its_markers(text: str, limit: int) -> None:
    shown = comment_of("staging", run_of(), text, limit)

    assert len(shown) <= limit
    assert shown.startswith(f"{LINE}\n<!-- gpu-ci run: 5.1 -->\n")
    assert shown.count("<!--") == 2


def test_a_report_that_is_too_long_is_cut_at_a_line() -> None:
    text = "\n".join(f"line {number:05}" for number in range(10_000))
    shown = comment_of("staging", run_of(), text)

    assert len(shown) <= COMMENT_LIMIT
    assert "The report does not fit; the artifact of the run has all of it." in shown.splitlines()[2]
    assert re.fullmatch(r"line \d{5}", shown.splitlines()[-1])


def test_the_longest_report_fits() -> None:
    text = f"{LINE}\n" + "x\n" * ((markdown.LIMIT - len(LINE)) // 2 - 1)

    assert "does not fit" not in comment_of("staging", run_of(), text)


LATER: Final = {"Retry-After": "7"}


@pytest.mark.parametrize(
    ("fault", "waited"),
    [
        (Fault("GET actions/runs", 502), [2.0]),
        (Fault("GET issues", 503), [2.0]),
        (Fault("GET issues", 429, LATER), [7.0]),
        (Fault("GET issues", 403, LATER), [7.0]),
        (Fault("GET issues", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}), [1.0]),
        (Fault("POST issues", 429, LATER), [7.0]),
        (Fault("POST issues", 502, executed=True), []),
        (Fault("POST issues", 502), []),
    ],
    ids=lambda value: f"{value.call} {value.status}" if isinstance(value, Fault) else "",
)
def test_a_failure_that_passes_leaves_one_comment(
    world: FakeGitHub, github: GitHub, waits: list[float], fault: Fault, waited: list[float]
) -> None:
    world.faults.append(fault)
    happens(world, github)

    assert len(bodies(world)) == 1
    assert waits == waited


@pytest.mark.parametrize("executed", [True, False])
def test_an_update_is_repeated(world: FakeGitHub, github: GitHub, waits: list[float], *, executed: bool) -> None:
    happens(world, github)
    world.faults += [Fault("PATCH issues", 502, executed=executed), Fault("PATCH issues", 429, LATER)]
    happens(world, github, reported("second"), run_of(6))

    assert "second" in bodies(world)[0]
    assert waits == [2.0, 7.0]


def test_a_comment_that_is_deleted_meanwhile_is_created_again(world: FakeGitHub, github: GitHub) -> None:
    happens(world, github)
    world.before["PATCH issues/comments"] = world.comments.clear
    happens(world, github, reported("second"), run_of(6))

    assert len(bodies(world)) == 1
    assert "second" in bodies(world)[0]


def test_a_body_that_github_finds_too_long_becomes_shorter(world: FakeGitHub, github: GitHub) -> None:
    world.body_limit = 20_000
    happens(world, github, reported("a line of the report\n" * 2500))

    (body,) = bodies(world)
    assert 10_000 < len(body) <= 20_000
    assert "The report does not fit" in body


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ([Fault("POST issues", 403)], "GitHub answers 403: fault 403"),
        ([Fault("GET pulls", 401)], "GitHub answers 401: fault 401"),
        ([Fault("GET issues", 429, {"Retry-After": "4000"})], "GitHub answers 429: fault 429"),
        ([Fault("GET pulls", 502)] * 5, "GitHub answers 502: fault 502"),
    ],
)
def test_a_failure_that_remains_is_reported(
    world: FakeGitHub, github: GitHub, faults: list[Fault], message: str
) -> None:
    world.faults += faults
    with pytest.raises(RefusedError, match=re.escape(message)):
        happens(world, github)
    assert bodies(world) == []


def test_a_post_without_an_answer_is_not_repeated_blindly(world: FakeGitHub, github: GitHub) -> None:
    world.faults += [Fault("POST issues", 502)] * 8
    with pytest.raises(UnansweredError, match="could not be written in 8 rounds"):
        happens(world, github)


def test_the_job_reports_a_refusal_of_github(world: FakeGitHub, tmp_path: Path) -> None:
    world.upload("report-staging", reported())
    world.faults.append(Fault("POST issues", 403))
    ended = job(world, tmp_path)

    assert (ended.returncode, ended.stdout) == (3, "::error::GitHub answers 403: fault 403.\n")


def test_a_server_that_does_not_exist_is_no_traceback(waits: list[float]) -> None:
    with pytest.raises(UnansweredError, match="GitHub does not answer"):
        GitHub(REPOSITORY, TOKEN, "http://127.0.0.1:9", wait=waits.append).get("pulls/7")
    assert waits == [2.0, 4.0, 8.0, 16.0]
