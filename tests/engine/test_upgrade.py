"""The upgrade law: today's program neither replaces nor deletes anything of the previous release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest
from pulumi import ResourceOptions

from ops.cli.commands import upgrade_check
from ops.cli.maintenance import record_release
from ops.engine import upgrade
from ops.engine.events import Outcome, Step
from ops.engine.pulumi_cli import Found
from ops.engine.upgrade import Recorded, Replay
from ops.fakes.aws import names as aws
from tests.engine.programs import SECRET, Made, aws_provider, network, stack_file

pytestmark = pytest.mark.engine

RECORDED = upgrade.recorded()


def stack_names() -> set[str]:
    """Return the names of the committed stacks."""
    return {path.stem.removeprefix("Pulumi.") for path in upgrade.stack_files()}


def test_every_recorded_state_has_a_stack_file_and_deployed_stacks_are_recorded() -> None:
    """A new example is recorded with the next release."""
    recorded = {state.stack_file.name for state in RECORDED}

    assert {"production", "staging"} <= recorded <= stack_names()


def test_no_recorded_state_contains_a_private_key() -> None:
    assert [path.name for path in upgrade.FOLDER.iterdir() if "PRIVATE KEY" in path.read_text()] == []


@pytest.mark.parametrize("state", RECORDED, ids=lambda state: state.stack_file.name)
def test_an_upgrade_replaces_and_deletes_nothing(cli: Found, state: Recorded) -> None:
    replay = upgrade.replay(cli, state)

    assert replay.outcome.fault == ""
    assert [str(step) for step in (*replay.replaced, *replay.deleted)] == []


def recorded(cli: Found, folder: Path, program: Callable[[], None]) -> Recorded:
    """The state that a small program leaves, read back from its file."""
    path = folder / "small.json"
    path.write_text(upgrade.snapshot(cli, stack_file(), "0.0.1", program))
    return Recorded.read(path)


def test_the_recorded_program_changes_nothing(cli: Found, tmp_path: Path) -> None:
    state = recorded(cli, tmp_path, network)
    replay = upgrade.replay(cli, state, network)

    assert (replay.ok, set(replay.outcome.counts)) == (True, {"same"})
    assert SECRET not in (tmp_path / "small.json").read_text()


def key(name: str, description: str, *, was: str = "", usage: str | None = None) -> Callable[[], None]:
    """A program with one key, `was` under another name."""

    def program() -> None:
        opts = ResourceOptions.merge(aws_provider(), ResourceOptions(aliases=[pulumi.Alias(name=was)] if was else []))
        Made(aws.KEY, name, {"description": description, "keyUsage": usage}, opts)

    return program


@pytest.mark.parametrize(
    ("program", "ok", "updated", "replaced", "deleted"),
    [
        pytest.param(key("disks", "disks"), True, {}, [], [], id="same"),
        pytest.param(key("disks", "volumes"), True, {"disks": ["description"]}, [], [], id="update"),
        pytest.param(key("volumes", "disks", was="disks"), True, {}, [], [], id="renamed-with-alias"),
        pytest.param(key("volumes", "disks"), False, {}, [], ["disks"], id="renamed"),
        pytest.param(key("disks", "disks", usage="SIGN_VERIFY"), False, {}, ["disks"], [], id="replaced"),
    ],
)
def test_only_an_update_in_place_is_allowed(  # a row of the table
    cli: Found,
    tmp_path: Path,
    program: Callable[[], None],
    ok: bool,
    updated: dict[str, list[str]],
    replaced: list[str],
    deleted: list[str],
) -> None:
    replay = upgrade.replay(cli, recorded(cli, tmp_path, key("disks", "disks")), program)

    assert replay.ok is ok
    assert {step.name: sorted(step.changed) for step in replay.updated} == updated
    assert [step.name for step in replay.replaced] == replaced
    assert [step.name for step in replay.deleted] == deleted
    assert json.dumps(replay.to_data())


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize(
    ("op", "code", "line"), [("update", 0, "updated"), ("replace", 1, "replaced"), ("delete", 1, "deleted")]
)
def test_the_command_reports_every_step_and_fails_on_replace_and_delete(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], op: str, code: int, line: str
) -> None:
    step = Step(
        op=op, urn=f"urn:pulumi:small::gpu-ci::{aws.KEY}::disks", type=aws.KEY, changed={"description": "update"}
    )
    outcome = Outcome(operation="preview", ok=True, steps=(step,), failed=(), diagnostics=(), seconds=0.0)
    state = Recorded(release="0.0.1", stack_file=stack_file(), resources=())
    monkeypatch.setattr(upgrade, "recorded", lambda: (state,))
    monkeypatch.setattr(upgrade, "replay", lambda _cli, state: Replay(recorded=state, outcome=outcome))

    assert upgrade_check.main() == code
    assert f"{line} {aws.KEY} disks: description" in capsys.readouterr().out


@pytest.mark.usefixtures("cli")
def test_a_release_is_recorded_for_every_stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "removed.json").write_text("{}")
    monkeypatch.setattr(upgrade, "FOLDER", tmp_path)
    monkeypatch.setattr(record_release, "ROOT", tmp_path.parent)
    monkeypatch.setattr(upgrade, "snapshot", lambda _cli, stack_file, release: f"{stack_file.name} {release}")
    record_release.main("0.2.0")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        f"{name}.json": f"{name} 0.2.0" for name in stack_names()
    }
