"""The comment with the report of a pull request: one for each stack, from untrusted artifacts."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.cli.options import ROOT
from ops.pipeline.report_comment import COMMENT_LIMIT, comment_of, harmless, main
from ops.report import markdown
from ops.report.marker import MARKER
from tests.artefacts.fake_github import REPOSITORY, FakeGitHub

pytestmark = pytest.mark.artefacts

COMMIT: Final = "a" * 40
NEWER: Final = "b" * 40
RUN: Final = {
    "id": 99,
    "run_number": 5,
    "head_sha": COMMIT,
    "html_url": "https://github.com/acme/gpu-infra/actions/runs/99",
}
LINE: Final = "<!-- gpu-ci report: staging -->"
ABOUT: Final = f"Commit aaaaaaaaaa, [run 5]({RUN['html_url']})."
NO_FINDING: Final[dict[str, list[Any]]] = {"new": [], "fixed": []}
CHANGED: Final = {"risk": {"level": "high"}, "findings": NO_FINDING}
NOTHING: Final = {"risk": {"level": "none"}, "findings": NO_FINDING}
CURRENT: Final = (0, ["staging: the comment is current."])


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


FAILED: Final = archive(**{"pull-request__json": '{"number": "7"}'})
"""The artifact of a job that could not make a report."""


class World(FakeGitHub):
    """GitHub, and the job that comments on pull request 7."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__()
        self._capsys = capsys
        self.pulls[7] = {"number": 7, "head": {"sha": COMMIT}}

    def job(self) -> tuple[int, list[str]]:
        """Run the job; return its exit code and its output."""
        code = main()
        return code, self._capsys.readouterr().out.splitlines()

    def happens(self, content: bytes) -> tuple[int, list[str]]:
        """Upload an artifact of staging, and run the job."""
        self.upload("report-staging", content)
        return self.job()

    @property
    def bodies(self) -> list[str]:
        """The comments."""
        return [one["body"] for one in self.comments]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> World:
    world = World(capsys)
    (tmp_path / "event.json").write_text(json.dumps({"workflow_run": RUN}))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
    monkeypatch.setattr(subprocess, "run", world.run)
    return world


def test_a_report_becomes_one_comment_that_later_runs_update(world: World) -> None:
    assert world.happens(reported()) == CURRENT
    assert world.bodies == [f"{LINE}\n{ABOUT}\n\n## gpu-ci: staging\n\nreplaced the pool\n"]
    first = world.comments[0]["id"]

    for content, text in (
        (reported("replaced another pool"), "replaced another pool"),
        (reported("Nothing changes.", NOTHING), "Nothing changes."),
        (FAILED, "The report of staging failed; the log of the run has the reason."),
    ):
        assert world.happens(content) == CURRENT
        assert [one["id"] for one in world.comments] == [first]
        assert text in world.bodies[0]


def test_only_a_report_without_changes_and_findings_needs_no_comment(world: World) -> None:
    assert world.happens(reported(data=NOTHING)) == (0, ["staging: nothing changes, so no comment is needed."])
    assert world.bodies == []

    others = [
        [],
        {},
        {"risk": "none"},
        {**NOTHING, "findings": {"new": [], "fixed": [{}]}},
        {"risk": {"level": "none"}},
    ]
    silent = []
    for data in others:
        world.comments.clear()
        world.happens(reported(data=data))
        silent += [data] if not world.bodies else []
    assert silent == []


def test_each_stack_has_a_comment_from_its_newest_artifact(world: World) -> None:
    for text in ("first", "second"):
        for stack in ("production", "staging"):
            world.upload(f"report-{stack}", reported(f"{text} of {stack}"))
    world.upload("report-staging", reported("expired"), expired=True)
    world.upload("report-../staging", reported("not a stack"))
    world.upload("logs", b"")
    world.job()

    lines = [(body.splitlines()[0], body.splitlines()[-1]) for body in world.bodies]
    assert lines == [(MARKER.format(stack=one), f"second of {one}") for one in ("production", "staging")]


def test_the_number_of_comments_of_a_run_is_limited(world: World) -> None:
    for number in range(150):
        world.upload(f"report-a{number}", reported())
    world.job()

    assert len(world.bodies) == 10


def test_only_a_comment_of_the_bot_is_updated_even_after_a_hundred_others(world: World) -> None:
    for login, kind in (("mallory", "User"), ("github-actions[bot]", "User"), ("other[bot]", "Bot")):
        world.comment(LINE, {"login": login, "type": kind})
    for text in range(150):
        world.comment(f"comment {text}, which quotes {LINE}")
    before = world.bodies
    mine = world.comment(f"{LINE}\nold")
    world.happens(reported())

    assert world.bodies[:-1] == before
    assert "replaced the pool" in mine["body"]


def test_a_report_of_another_commit_is_refused(world: World) -> None:
    """A push since the run, or the pull request of someone else: the artifact of a fork can state any number."""
    refused = (0, ["staging: the stated pull request does not have the commit of the run."])
    world.pulls[8] = {"number": 8, "head": {"sha": NEWER}}
    assert world.happens(reported(number="8")) == refused
    world.pulls[7]["head"]["sha"] = NEWER
    assert world.happens(reported()) == refused

    assert world.bodies == []


def bomb(name: str) -> bytes:
    """Return a small artifact with a large file."""
    files: dict[str, str | bytes] = {"pull-request__json": '{"number": "7"}', "report__md": "x"}
    return archive(**{**files, name: b"0" * 6_000_000})


def test_an_artifact_of_another_form_is_refused(world: World) -> None:
    numbers = [7, "7/../../issues/1", "\u0667", "0", "9" * 30, "7\n", None]
    contents = [
        b"",
        b"no archive",
        reported()[:-40],
        archive(report__md="text"),
        *(reported(number=number) for number in numbers),
        archive(**{"pull-request__json": "[" * 100_000, "report__md": "text"}),
        archive(**{"pull-request__json": "{"}),
        bomb("report__md"),
        bomb("report__json"),
        archive(**{"pull-request__json": '{"number": "7"}', "report__md": "x", "report__json": "{"}),
        reported(more=os.urandom(10_000_001)),
    ]
    accepted = {}
    for index, content in enumerate(contents):
        code, output = world.happens(content)
        if code != 1 or not re.fullmatch(r"::error::The artifact report-staging [\w .()-]+", "\n".join(output)):
            accepted[index] = output

    assert (accepted, world.bodies) == ({}, [])


def test_a_refused_artifact_does_not_stop_the_others(world: World) -> None:
    world.upload("report-production", b"no archive")

    assert world.happens(reported()) == (
        1,
        ["::error::The artifact report-production cannot be read (BadZipFile).", *CURRENT[1]],
    )


def test_a_path_in_an_archive_writes_no_file(world: World, tmp_path: Path) -> None:
    outside = {"../../outside": "x", "/outside-of-the-archive": "x", "../event.json": "{}", "inside": "x"}

    assert world.happens(reported(**outside)) == CURRENT
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == ["event.json", "work"]
    assert json.loads((tmp_path / "event.json").read_text()) == {"workflow_run": RUN}


def test_a_refusal_of_github_is_reported(world: World) -> None:
    world.refused = "issues/7/comments"

    path, reason = "issues/7/comments", "Resource not accessible by integration (HTTP 403)"
    assert world.happens(reported()) == (3, [f"::error::gh api {path}: gh: {reason}"])


def test_the_job_needs_only_the_standard_library() -> None:
    """It installs nothing."""
    command = [sys.executable, "-S", "-c", "import ops.pipeline.report_comment"]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=ROOT, text=True)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_report_mentions_no_user() -> None:
    texts = [
        "@octocat", "ask @acme/team", "\\@octocat", "a@octocat", "&#64;octocat", "&#x40;octocat", "&#064;octocat",
        "&commat;octocat", "`@octocat`", "@&#111;ctocat", "&copy@octocat", "@<!-- -->octocat",
    ]  # fmt: skip
    shown = {text: harmless(text) for text in texts}
    mention = re.compile(r"@(?!\u200b)|&(?:#(?!111;)|commat)")

    assert {text: one for text, one in shown.items() if mention.search(one)} == {}


def test_a_report_cannot_contain_the_marker_of_another_comment(world: World) -> None:
    world.happens(reported(f"{MARKER.format(stack='production')}\n\u202egnp\x1b[1m"))

    (body,) = world.bodies
    assert re.findall("<!--.*", body) == [LINE]
    assert re.search("[\u202e\x1b]", body) is None


@given(st.text(max_size=300), st.integers(400, 2000))
def test_a_comment_fits_and_has_its_marker(text: str, limit: int) -> None:
    shown = comment_of("staging", RUN, text, limit)

    assert len(shown) <= limit
    assert shown.startswith(f"{LINE}\n{ABOUT}")
    assert shown.count("<!--") == 1


def test_a_report_that_is_too_long_is_cut_at_a_line() -> None:
    text = "\n".join(f"line {number:05}" for number in range(10_000))
    shown = comment_of("staging", RUN, text)

    assert len(shown) <= COMMENT_LIMIT
    assert shown.splitlines()[1] == f"{ABOUT} The report does not fit; the artifact of the run has all of it."
    assert re.fullmatch(r"line \d{5}", shown.splitlines()[-1])


def test_the_longest_report_fits() -> None:
    text = f"{LINE}\n" + "x\n" * ((markdown.LIMIT - len(LINE)) // 2 - 1)

    assert "does not fit" not in comment_of("staging", RUN, text)
