"""The steps of the workflows `drift` and `images` that keep one issue, with a `gh` that records its calls.

Tried with gh 2.86.0 against a local server: `gh issue list --json author` gives an app as `app/NAME`, `--jq` reads the
environment and prints text without quotes, `gh issue close --comment` comments first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from ops.cli.options import ROOT
from tests.artefacts.callers import Run
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter

pytestmark = pytest.mark.artefacts

BOT: Final = "app/github-actions"
TITLES: Final = {"drift": "Drift of staging", "images": "Machine images have an old base"}
LAST_RUN: Final = "[The last run](https://github.com/acme/gpu-infra/actions/runs/99)"
LIST: Final = (
    "gh issue list --limit 10000 --json author,number,title --jq"
    ' .[] | select(.author.login == "app/github-actions" and .title == env.TITLE) | .number'
)

each_workflow = pytest.mark.parametrize("workflow", TITLES)


class Job:
    """The job of a workflow in a checkout, after its comparison."""

    def __init__(self, workflow: str, folder: Path) -> None:
        document = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text())
        steps = [(step, job) for job in document["jobs"].values() for step in job["steps"]]
        self.step, self.job = next(one for one in steps if one[0].get("name") == "Open, update or close the issue")
        self.workflow = f"{workflow}.yml"
        self.text = folder / f"out/{'old-images' if workflow == 'images' else workflow}.md"
        self.text.parent.mkdir()
        self.title = TITLES[workflow]
        (folder / "ops").symlink_to(ROOT / "ops")
        self._issues = folder / "issues.json"
        self.commands = FakeCommands(folder)
        jq = linter("jq")
        self.commands.add("gh", f'[ "$2" != list ] || exec {jq} --raw-output "${{@: -1}}" {self._issues}')

    def run(self, *issues: tuple[int, str, str]) -> Run:
        """Run the step as GitHub does, with these open issues: number, author, title."""
        listed = [{"number": number, "author": {"login": author}, "title": title} for number, author, title in issues]
        self._issues.write_text(json.dumps(listed))
        environment = {"SERVER_URL": "https://github.com", "REPOSITORY": "acme/gpu-infra", "RUN_ID": "99"}
        variables = {"STACK": "staging", **{f"GITHUB_{name}": value for name, value in environment.items()}}
        return self.commands.run_step(self.workflow, self.step, self.job, environment=variables)

    def others(self) -> list[tuple[int, str, str]]:
        """Issues that the job must not touch: anyone can copy the title."""
        return [(9, "mallory", self.title), (8, "app/renovate", self.title), (7, BOT, "Drift of production")]


@each_workflow
def test_a_finding_opens_an_issue(workflow: str, tmp_path: Path) -> None:
    job = Job(workflow, tmp_path)
    job.text.write_text("found\n")
    ended = job.run(*job.others())

    path = job.text.relative_to(tmp_path)
    assert job.commands.calls() == [LIST, f"gh issue create --title {job.title} --body-file {path}"]
    assert job.text.read_text() == (
        f"found\n\n{LAST_RUN} updated this issue. It is closed when nothing is found any more.\n"
    )
    assert ended.code == (1 if workflow == "drift" else 0)


@each_workflow
def test_a_finding_updates_the_issue_of_the_bot(workflow: str, tmp_path: Path) -> None:
    job = Job(workflow, tmp_path)
    job.text.write_text("found\n")
    ended = job.run(*job.others(), (4, BOT, job.title))

    assert job.commands.calls() == [LIST, f"gh issue edit 4 --body-file {job.text.relative_to(tmp_path)}"]
    assert ended.code == (1 if workflow == "drift" else 0)


@each_workflow
def test_without_a_finding_only_the_issue_of_the_bot_is_closed(workflow: str, tmp_path: Path) -> None:
    job = Job(workflow, tmp_path)

    assert job.run(*job.others()).code == 0
    assert job.commands.calls() == [LIST]
    assert job.run(*job.others(), (4, BOT, job.title)).code == 0
    assert job.commands.calls()[1:] == [LIST, f"gh issue close 4 --comment {LAST_RUN} found nothing any more."]


@each_workflow
def test_a_refusal_of_github_fails_the_job_and_opens_no_second_issue(workflow: str, tmp_path: Path) -> None:
    job = Job(workflow, tmp_path)
    job.text.write_text("found\n")
    job.commands.failing("gh", "issue list")

    assert job.run().code == 7
    assert job.commands.calls() == []
