"""The issue about the drift of a stack: at most one is open, over an API that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from ops.pipeline.drift import MARKER, about, body
from ops.pipeline.github_api import GitHub, RefusedError
from ops.pipeline.one_issue import keep
from ops.report.changes import Change, Effect, Property
from tests.artefacts.fake_github import REPOSITORY, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.artefacts

RUN: Final = "https://github.com/acme/gpu-infra/actions/runs/7"
LINE: Final = MARKER.format(stack="staging")
TAG: Final = Change(
    effect=Effect.UPDATE,
    urn="urn:pulumi:staging::gpu-ci::aws:ec2/vpc:Vpc::network",
    type="aws:ec2/vpc:Vpc",
    properties=(Property(path="tags.Owner", old="@someone", new="ci", forces=False),),
)
DELETED: Final = Change(
    effect=Effect.CREATE, urn="urn:pulumi:staging::gpu-ci::aws:ec2/subnet:Subnet::private", type="aws:ec2/subnet:Subnet"
)
TEXT: Final = body("staging", "c0ffee" * 7, [TAG, DELETED], RUN)


@pytest.fixture
def world() -> Generator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github


def api(world: FakeGitHub) -> GitHub:
    return GitHub(REPOSITORY, TOKEN, world.api, wait=lambda _seconds: None)


def kept(world: FakeGitHub, text: str | None) -> str:
    return keep(api(world), about("staging", RUN), text)


def states(world: FakeGitHub) -> list[tuple[str, str]]:
    return [(one["state"], one["body"]) for one in world.issues]


def test_the_issue_names_the_resources_and_the_values_of_the_cloud() -> None:
    assert TEXT.startswith(f"{LINE}\nThe clouds differ from the deployed commit c0ffeec0ff of `staging`")
    assert "\n~ update   ec2/vpc network\n    tags.Owner: @\u200bsomeone -> ci\n" in TEXT
    assert "\n+ create   ec2/subnet private\n" in TEXT


def test_a_secret_and_a_fence_in_a_value_do_no_harm() -> None:
    value = "AKIA" + "B" * 16
    leaking = Property(path="description", old=f"``` {value}", new="x", forces=False)
    text = body(
        "staging", "c0ffee", [Change(effect=Effect.UPDATE, urn="a::b::c::d", type="t", properties=(leaking,))], RUN
    )

    assert value not in text
    assert "\n````text\n" in text
    assert "description: ``` [redacted] -> x" in text


def test_a_long_list_is_cut_with_a_count() -> None:
    many = [
        Change(effect=Effect.UPDATE, urn=f"a::b::c::{one}" + "x" * 99, type="t", properties=TAG.properties)
        for one in range(999)
    ]

    text = body("staging", "c0ffee", many, RUN)

    assert len(text) < 65_536
    assert " more lines: see the log of the run\n```" in text


def test_an_issue_is_opened_updated_and_closed(world: FakeGitHub) -> None:
    assert kept(world, TEXT) == "issue 1 is current"
    assert [one["title"] for one in world.issues] == ["Drift of staging"]

    assert kept(world, f"{TEXT} more") == "issue 1 is current"
    assert states(world) == [("open", f"{TEXT} more")]

    assert kept(world, None) == "the issue is closed"
    assert states(world) == [("closed", f"{TEXT} more")]
    assert [one["body"] for one in world.comments] == [f"The stack agrees with its program again ({RUN})."]
    assert kept(world, None) == "there is no issue"

    kept(world, TEXT)
    assert [one["state"] for one in world.issues] == ["closed", "open"]


def test_other_issues_are_not_touched(world: FakeGitHub) -> None:
    """Anyone can copy the marker, and GitHub lists pull requests as issues."""
    world.issue(LINE, {"login": "mallory", "type": "User"})
    world.issue(MARKER.format(stack="production"))
    world.issue(LINE, pull_request={})
    for number in range(150):
        world.issue(f"issue {number}")
    before = [dict(one) for one in world.issues]
    world.issue(f"{LINE}\nold")

    assert kept(world, TEXT) == "issue 154 is current"
    assert world.issues[:-1] == before
    assert world.issues[-1]["body"] == TEXT
    assert len([one for one in world.calls if one == "GET issues"]) == 2


def test_of_two_issues_the_older_one_stays(world: FakeGitHub) -> None:
    for _ in range(2):
        world.issue(f"{LINE}\nold")

    assert kept(world, TEXT) == "issue 1 is current"
    assert [one["state"] for one in world.issues] == ["open", "closed"]
    assert [one["body"] for one in world.comments] == ["Continued in #1."]


@pytest.mark.parametrize("executed", [True, False])
def test_a_lost_answer_opens_no_second_issue(world: FakeGitHub, executed: bool) -> None:
    world.faults.append(Fault("POST issues", 502, executed=executed))

    kept(world, TEXT)

    assert states(world) == [("open", TEXT)]


@pytest.mark.parametrize(
    ("call", "status", "headers"),
    [
        ("GET issues", 502, {}),
        ("GET issues", 429, {"Retry-After": "1"}),
        ("POST issues", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}),
        ("PATCH issues", 503, {}),
    ],
)
def test_a_call_that_fails_once_is_repeated(world: FakeGitHub, call: str, status: int, headers: dict[str, str]) -> None:
    if call.startswith("PATCH"):
        world.issue(LINE)
    world.faults.append(Fault(call, status, headers))

    kept(world, TEXT)

    assert states(world) == [("open", TEXT)]


def test_a_refusal_of_github_is_reported(world: FakeGitHub) -> None:
    world.faults.append(Fault("POST issues", 403))

    with pytest.raises(RefusedError, match="GitHub answers 403: fault 403"):
        kept(world, TEXT)
