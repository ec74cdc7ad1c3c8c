"""`.access.yml`: who may start which runner."""

from __future__ import annotations

import pytest

from kit.cirun import read
from kit.cirun_access import judge_access, read_access, render_access
from kit.closed import FileError

pytestmark = pytest.mark.pure

ACCESS = """\
version: 1
policies:
- id: sandbox
  repo: cirun-sandbox
  teams:
  - core
  roles:
  - maintain
  users:
  - someone
  pull_request: true
access_control:
- resource: gpu-runner
  policies:
  - sandbox
"""
RUNNERS = read("runners: [{name: gpu-runner, cloud: aws, labels: [cirun-a]}]")


def test_the_documented_form_is_read_and_written_back_the_same() -> None:
    assert render_access(read_access(ACCESS)) == ACCESS
    assert judge_access(read_access(ACCESS), RUNNERS) == ()


def test_pull_requests_are_refused_unless_a_policy_says_otherwise() -> None:
    access = read_access(ACCESS.replace("  pull_request: true\n", ""))

    assert access.policies[0].pull_request is None
    assert "pull_request" not in render_access(access)


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    with pytest.raises(FileError, match=r'policies\[0\]\.team: unknown key; did you mean "teams"\?'):
        read_access(ACCESS.replace("teams:", "team:"))


@pytest.mark.parametrize(
    ("old", "new", "subject", "fix"),
    [
        ("resource: gpu-runner", "resource: gpu-runer", "access_control[0].resource", 'did you mean "gpu-runner"?'),
        ("  - sandbox\n", "  - sand-box\n", "access_control[0].policies[0]", 'did you mean "sandbox"?'),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(old: str, new: str, subject: str, fix: str) -> None:
    verdicts = judge_access(read_access(ACCESS.replace(old, new)), RUNNERS)

    assert [(verdict.subject, verdict.fix) for verdict in verdicts] == [(subject, fix)]


def test_a_policy_that_lets_nobody_in_is_an_error() -> None:
    bare = "policies: [{id: p, repo: r}]\naccess_control: [{resource: gpu-runner, policies: [p]}]\n"

    assert [verdict.reason for verdict in judge_access(read_access(bare), RUNNERS)] == ["p grants access to no one"]


def test_two_policies_of_one_id_are_an_error() -> None:
    same = "{id: p, repo: r, users: [u]}"
    text = f"policies: [{same}, {same}]\naccess_control: [{{resource: gpu-runner, policies: [p]}}]\n"

    assert [verdict.subject for verdict in judge_access(read_access(text), RUNNERS)] == ["policies[1].id"]
