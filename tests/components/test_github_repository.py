"""Settings of a repository at GitHub: set by the stack, or by commands of the GitHub CLI."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from components.github.settings import ACTIONS, Label, RepositorySettings, commands
from gpu_ci.derived.repository_settings import by_hand, declared
from gpu_ci.repository.gpu_workflow import CHECK
from gpu_ci.stack_file.faults import Fault
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.components.made import only
from tests.ops.small import stack_file
from tests.stack_file import stacks

pytestmark = pytest.mark.plan

EXAMPLE: Final = "examples/start-stop.yaml"
VARIABLE, LABEL, RULESET = (
    f"github:index/{name[0].lower()}{name[1:]}:{name}"
    for name in ("ActionsVariable", "IssueLabel", "RepositoryRuleset")
)
PROVIDER: Final = "pulumi:providers:github"
TOKEN: Final = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"


def facts(**changes: Any) -> RepositorySettings:
    stated: dict[str, Any] = {
        "host": "github.com",
        "owner": "example-org",
        "repository": "vision",
        "variables": {"ENABLE_GPU_SMOKE": "true"},
        "labels": {"run": Label(name="run gpu", color="1d76db", description="It's a test")},
        "required_checks": (CHECK,),
    }
    return RepositorySettings(**{**stated, **changes})


def plan(settings: RepositorySettings) -> Plan:
    from components.github.repository import GitHubRepository, GitHubRepositoryArgs  # noqa: PLC0415 - heavy

    def program() -> None:
        GitHubRepository("github-vision", GitHubRepositoryArgs(settings=settings))

    return record(stack_file(), program=program)


def test_the_stack_sets_variables_labels_and_the_ruleset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    made = plan(facts())
    ruleset = only(made, RULESET).inputs

    assert only(made, VARIABLE).inputs == {
        "repository": "vision",
        "variableName": "ENABLE_GPU_SMOKE",
        "value": "true",
    }
    assert only(made, LABEL).inputs["name"] == "run gpu"
    assert ruleset["conditions"] == {"refName": {"includes": ["~DEFAULT_BRANCH"], "excludes": []}}
    assert ruleset["rules"]["requiredStatusChecks"] == {
        "requiredChecks": [{"context": "GPU tests", "integrationId": ACTIONS}]
    }
    assert (ruleset["enforcement"], "pullRequest" in ruleset["rules"]) == ("active", True)
    assert [one.urn for one in made if TOKEN in repr(one)] == []


def test_an_empty_list_requires_pull_requests_only() -> None:
    rules = only(plan(facts(required_checks=())), RULESET).inputs["rules"]

    assert ("pullRequest" in rules, "requiredStatusChecks" in rules) == (True, False)


def test_nothing_is_required_without_a_list() -> None:
    assert [one for one in plan(facts(required_checks=None)) if one.type == RULESET] == []


def test_a_github_enterprise_host_has_its_own_address_and_no_known_app() -> None:
    made = plan(facts(host="github.example.org"))

    assert only(made, PROVIDER).inputs["baseUrl"] == "https://github.example.org/"
    required = only(made, RULESET).inputs["rules"]["requiredStatusChecks"]["requiredChecks"]
    assert "integrationId" not in required[0]


def calls(folder: Path, lines: tuple[str, ...]) -> list[tuple[list[str], str]]:
    """Run the commands in Bash with a fake gh; return the arguments and the standard input of each call."""
    stub = folder / "gh"
    stub.write_text(
        "#!/usr/bin/env python3\nimport json, os, sys\n"
        "text = sys.stdin.read() if '--input' in sys.argv else ''\n"
        "open(os.environ['LOG'], 'a').write(json.dumps([sys.argv[1:], text]) + '\\n')\n"
    )
    stub.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "LOG": str(folder / "log")}
    subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], env=environment, check=True)
    found = (json.loads(line) for line in (folder / "log").read_text().splitlines())
    return [(words, text) for words, text in found]


def test_the_commands_set_the_same_settings_as_the_stack(tmp_path: Path) -> None:
    variable, label, ruleset = calls(tmp_path, commands(facts()))
    body = json.loads(ruleset[1])

    assert variable[0] == [
        *("variable", "set", "ENABLE_GPU_SMOKE", "--repo", "example-org/vision", "--body", "true")
    ]  # fmt: skip
    assert label[0][:5] == ["label", "create", "run gpu", "--repo", "example-org/vision"]
    assert label[0][5:] == ["--color", "1d76db", "--description", "It's a test", "--force"]
    assert ruleset[0] == ["api", "--method", "POST", "repos/example-org/vision/rulesets", "--input", "-"]
    assert [rule["type"] for rule in body["rules"]] == [
        *("deletion", "non_fast_forward", "pull_request", "required_status_checks")
    ]  # fmt: skip
    assert body["rules"][3]["parameters"]["required_status_checks"] == [
        {"context": "GPU tests", "integration_id": ACTIONS}
    ]


def test_the_commands_name_another_host() -> None:
    found = commands(facts(host="github.example.org"))

    assert "--repo github.example.org/example-org/vision" in found[0]
    assert found[2].startswith("gh api --hostname github.example.org --method POST repos/example-org/vision/rulesets ")
    assert "integration_id" not in found[2]


TEXT: Final = st.text(
    st.characters(exclude_categories=["C", "Z"]) | st.sampled_from(" '\"$`\\;&|<>(){}!*#"), min_size=1
)


@hypothesis_settings(max_examples=60, deadline=None)
@given(TEXT, TEXT, TEXT)
def test_every_text_is_quoted(value: str, label: str, check: str) -> None:
    changed = facts(
        variables={"GPU": value},
        labels={"run": Label(name=label, color="1d76db", description="x")},
        required_checks=(check,),
    )
    variable, create, ruleset = (shlex.split(line) for line in commands(changed))

    assert variable[-1] == value
    assert create[3] == label
    body = json.loads(ruleset[-1].removeprefix("<<<"))
    assert body["rules"][-1]["parameters"]["required_status_checks"][0]["context"] == check


def test_the_switch_of_the_entry_is_set_with_the_stated_variables() -> None:
    changes = {"github/repositories/vision/variables": {"REGION": "us"}}

    assert declared(stacks.settings(EXAMPLE, changes))["vision"].variables == {
        "ENABLE_GPU_SMOKE": "true",
        "REGION": "us",
    }


@pytest.mark.parametrize(
    ("stack", "repository", "where"),
    [
        (stacks.STAGING, "vision", "example-org/vision"),
        (stacks.STAGING, "other/vision", "other/vision"),
        (stacks.STAGING, None, "example-org/REPOSITORY"),
        ("examples/eks-arc.yaml", None, "example-org/vision"),
        ("examples/cirun-aws.yaml", "vision", "OWNER/vision"),
    ],
)
def test_the_repository_of_the_commands_is_the_named_one_or_that_of_the_address(
    stack: str, repository: str | None, where: str
) -> None:
    found = by_hand(stacks.settings(stack), repository, CHECK)

    assert found is not None
    assert f"{found.owner}/{found.repository}" == where


def test_a_repository_that_the_stack_sets_needs_no_commands() -> None:
    settings = stacks.settings(EXAMPLE)

    assert (by_hand(settings, "vision", None), by_hand(settings, None, None)) == (None, None)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"github/repositories": {"speech": {}}},
            Fault("github.repositories.speech", "github.url is the repository vision", "write vision"),
        ),
        (
            {"github/set-variables": True},
            Fault(
                "github.set-variables",
                "github.repositories.vision sets variables of the same repository",
                'remove it, and state variables: {ENABLE_GPU_SMOKE: "true"}',
            ),
        ),
    ],
)
def test_a_repository_outside_the_address_is_refused(changes: dict[str, Any], fault: Fault) -> None:
    assert str(fault) in stacks.faults(stacks.sections(EXAMPLE, changes))


def test_make_kit_prints_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = yaml.safe_load((ROOT / "examples/cirun-aws.yaml").read_text())
    document["config"]["gpu-ci:gpu-tests"] = {"vision": {"switch": "GPU_ON"}}
    file = tmp_path / "Pulumi.test.yaml"
    file.write_text(yaml.safe_dump(document))
    words = ["kit", "--file", str(file), "--repo", "acme/vision", "--out", str(tmp_path / "out")]

    assert cli.run([*words, "--json", str(tmp_path / "result.json")]) == 0
    printed = capsys.readouterr().out
    assert "  gh variable set GPU_ON --repo acme/vision --body true\n  gh label create run-gpu-ci " in printed
    assert json.loads((tmp_path / "result.json").read_text())["commands"][0] == (
        "gh variable set GPU_ON --repo acme/vision --body true"
    )
