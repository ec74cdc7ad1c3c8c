"""Missing tools are reported before the first resource is created, and only if a resource is created."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pulumi
import pytest

import gpu_ci.program
from gpu_ci.derived.prerequisites import Tool, ToolMissing, check, fault
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.plan import stacks as plans
from tests.stack_file import stacks

pytestmark = pytest.mark.plan

GCP: Final = "examples/cirun-gcp.yaml"
AWS: Final = "examples/cirun-aws.yaml"
DECLARED: Final = {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"]}
SETS_VARIABLES: Final = "examples/vm-gcp.yaml"


Faults = Callable[[Tool], str | None]


def without(*tools: str) -> Faults:
    return lambda tool: "is not on PATH" if tool.name in tools else None


def updated(fault_of: Faults | None, *, preview: bool = False) -> Plan:
    return record(plans.stack_file(GCP), program=lambda: gpu_ci.program.run(fault_of), preview=preview)


def test_an_update_without_gcloud_fails_before_its_first_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(pulumi.ProviderResource, "__init__", lambda *_, **__: made.append(1))
    with pytest.raises(ToolMissing) as refused:
        updated(without("gcloud"))

    assert str(refused.value) == (
        "gcloud is not on PATH: install the Google Cloud CLI where this runs, or state host-image.mode: declared. "
        "Nothing was started."
    )
    assert made == []


def test_a_preview_without_gcloud_continues_with_a_warning() -> None:
    plan = updated(without("gcloud"), preview=True)

    assert len(plan.of("command:local:Command")) == 2


def test_every_missing_program_is_reported_in_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    monkeypatch.setattr(pulumi.log, "warn", logged.append)
    check(stacks.settings(GCP), without("gcloud", "python3"))

    assert len(logged) == 1
    assert logged[0].startswith("the update will fail: gcloud is not on PATH: ")
    assert "; python3 is not on PATH: " in logged[0]


@pytest.mark.parametrize(("stack", "change"), [(AWS, {}), (GCP, DECLARED)])
def test_a_stack_that_builds_no_image_by_command_needs_no_gcloud(stack: str, change: dict[str, object]) -> None:
    check(stacks.settings(stack, change), without("gcloud", "python3"))


@pytest.mark.parametrize(("stack", "needed"), [("examples/eks-arc.yaml", True), (AWS, False)])
def test_only_a_stack_with_a_cluster_needs_the_aws_cli(stack: str, needed: bool) -> None:
    """The kubeconfig calls `aws`; without it an update fails after the control plane exists."""
    settings = stacks.settings(stack)
    if not needed:
        check(settings, without("aws"))
        return
    with pytest.raises(ToolMissing, match=r"^aws is not on PATH: install version 2 of the AWS CLI where this runs"):
        check(settings, without("aws"))


def test_an_update_that_sets_variables_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(ToolMissing) as refused:
        check(stacks.settings(SETS_VARIABLES), without())

    assert str(refused.value) == (
        "GITHUB_TOKEN is not set: export a token that may write the settings of the repository, or remove "
        "github.set-variables. Nothing was started."
    )


def test_an_update_with_a_token_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "any")

    check(stacks.settings(SETS_VARIABLES), without())


def test_a_preview_that_sets_variables_needs_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    monkeypatch.setattr(pulumi.log, "warn", logged.append)
    check(stacks.settings(SETS_VARIABLES), without())

    assert [text.partition(":")[0] for text in logged] == ["the update will fail"]


def test_a_plan_does_not_read_path() -> None:
    """It must come out the same where gcloud is and where it is not."""
    assert [one.urn for one in updated(None)] == [one.urn for one in updated(without())]


def test_the_pulumi_program_looks_up_tools_on_path() -> None:
    called = ast.parse((Path(gpu_ci.program.__file__).parents[2] / "__main__.py").read_text()).body[-1]

    assert ast.unparse(called) == "run(fault)"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (None, "is not on PATH"),
        ("echo Python 3.12.1", None),
        ("echo aws-cli/3.9.0 Python/3.13.0", None),
        ("echo Python 3.8.18", "is 3.8.18 ({path}), and 3.9 or newer is needed"),
        ("echo hello", "is of an unknown version ({path}), and 3.9 or newer is needed"),
        # As pyenv answers for a command of a version that is not selected.
        ("echo 'pyenv: python3: command not found' >&2; exit 127", "does not run ({path}: pyenv: python3: command not found)"),
    ],
)  # fmt: skip
def test_a_program_that_is_old_or_does_not_run_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str | None, found: str | None
) -> None:
    """Pulumi puts the environment of the program first on its PATH, but not on the PATH of the commands."""
    for name, text in (("venv/bin", "echo Python 3.13.0"), ("bin", body)):
        (tmp_path / name).mkdir(parents=True)
        if text is not None:
            (tmp_path / name / "python3").write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name / "python3").chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    monkeypatch.setenv("PATH", f"{tmp_path}/venv/bin:{tmp_path}/bin")

    assert fault(Tool(name="python3", fix="", least=(3, 9))) == (found and found.format(path=tmp_path / "bin/python3"))


def test_an_image_builder_needs_a_newer_python_than_the_check_of_listeners() -> None:
    least: dict[str, tuple[int, ...]] = {}
    for stack in ("examples/eks-arc.yaml", GCP):

        def kept(tool: Tool, stack: str = stack) -> None:
            least[f"{stack} {tool.name}"] = tool.least

        check(stacks.settings(stack), kept)

    assert least["examples/eks-arc.yaml python3"] == (3, 9)
    assert least[f"{GCP} python3"] == (3, 11)
    assert least["examples/eks-arc.yaml aws"] == (1, 27, 160)
