"""Variables of a repository at GitHub: set without a token in the state, or printed as commands."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.back_ends.shared.machine.github_variables import declare
from gpu_ci.stack_file.sections.gpu_tests import SWITCH
from gpu_ci.stack_file.sections.services import GitHubSettings
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.components.made import only
from tests.ops.small import stack_file

pytestmark = pytest.mark.plan

VARIABLE: Final = "github:index/actionsVariable:ActionsVariable"
PROVIDER: Final = "pulumi:providers:github"
TOKEN: Final = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"


def settings(url: str, *, set_variables: bool = True) -> GitHubSettings:
    return GitHubSettings.model_validate(
        {"url": url, "app-id": 412345, "installation-id": 51234567, "set-variables": set_variables}
    )


def declared(github: GitHubSettings) -> tuple[Plan, dict[str, str]]:
    """The plan with one variable, and the commands."""
    commands: dict[str, str] = {}
    plan = record(stack_file(), program=lambda: commands.update(declare("vm-github", github, {SWITCH: "true"})))
    return plan, commands


def test_a_variable_is_set_in_the_repository_of_the_address() -> None:
    plan, commands = declared(settings("https://github.com/example-org/vision"))

    assert only(plan, VARIABLE).inputs == {
        "repository": "vision",
        "variableName": "ENABLE_GPU_SMOKE",
        "value": "true",
    }
    assert only(plan, PROVIDER).inputs["owner"] == "example-org"
    assert commands == {}


def test_the_token_of_the_environment_is_in_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state has the inputs. The provider itself reads the variable when it calls GitHub."""
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    plan, _ = declared(settings("https://github.com/example-org/vision"))

    assert "token" not in only(plan, PROVIDER).inputs
    assert [one.urn for one in plan if TOKEN in repr(one)] == []


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://github.com/example-org/vision", None),
        ("https://github.example.org/ml/vision", "https://github.example.org/"),
    ],
)
def test_a_server_of_an_enterprise_has_its_own_address(url: str, base: Any) -> None:
    plan, _ = declared(settings(url))

    assert only(plan, PROVIDER).inputs.get("baseUrl") == base


@pytest.mark.parametrize(
    ("url", "set_variables", "where"),
    [
        ("https://github.com/example-org/vision", False, "example-org/vision"),
        ("https://github.com/example-org", False, "example-org/REPOSITORY"),
        ("https://github.com/example-org", True, "example-org/REPOSITORY"),
        ("https://github.example.org/ml/vision", False, "github.example.org/ml/vision"),
    ],
)
def test_a_command_sets_the_variable_where_the_stack_does_not(url: str, set_variables: bool, where: str) -> None:
    plan, commands = declared(settings(url, set_variables=set_variables))

    assert commands == {SWITCH: f"gh variable set ENABLE_GPU_SMOKE --repo {where} --body true"}
    assert [one.urn for one in plan if "github" in one.type] == []
