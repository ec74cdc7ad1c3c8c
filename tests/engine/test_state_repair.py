"""The decisions about interrupted creations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ops.cli.commands import state_check as command
from ops.outcome import Exit, Stop
from ops.state.state_repair import repaired

pytestmark = pytest.mark.pure

NEW = {"urn": "urn:new", "type": "aws:kms/key:Key", "custom": True, "inputs": {"description": "one"}}
OLD = {"urn": "urn:old", "type": "aws:kms/key:Key", "custom": True, "id": "1"}
CREATING = {"type": "creating", "resource": NEW}
DELETING = {"type": "deleting", "resource": OLD}


def state(*operations: dict[str, Any], resources: tuple[dict[str, Any], ...] = (OLD,)) -> dict[str, Any]:
    """An exported state."""
    return {"version": 3, "deployment": {"resources": list(resources), "pending_operations": list(operations)}}


def test_a_resource_that_exists_is_added_with_its_id() -> None:
    before = state(CREATING, DELETING)

    after = repaired(before, {"urn:new": "key-1"}, frozenset())

    assert after == {
        "version": 3,
        "deployment": {"resources": [OLD, {**NEW, "id": "key-1"}], "pending_operations": [DELETING]},
    }
    assert before == state(CREATING, DELETING)


def test_a_missing_resource_is_removed_from_the_state() -> None:
    assert repaired(state(CREATING), {}, {"urn:new"}) == state()


def test_a_replacement_takes_the_place_of_the_old_resource_which_is_deleted_next() -> None:
    old, user = {**NEW, "id": "1"}, {"urn": "urn:user", "dependencies": ["urn:new"]}

    after = repaired(state(CREATING, resources=(old, user)), {"urn:new": "2"}, frozenset())

    assert after["deployment"]["resources"] == [{**NEW, "id": "2"}, user, {**old, "delete": True}]


def test_a_replacement_of_a_deleted_resource_takes_its_place() -> None:
    old = {**NEW, "id": "1", "pendingReplacement": True}

    after = repaired(state(CREATING, resources=(old, OLD)), {"urn:new": "2"}, frozenset())

    assert after["deployment"]["resources"] == [{**NEW, "id": "2"}, OLD]


@pytest.mark.parametrize(
    ("exists", "absent", "message"),
    [
        ({}, frozenset(), "urn:new needs --exists 'URN=ID' or --absent 'URN'"),
        ({"urn:new": "1"}, {"urn:new"}, "urn:new is stated with --exists and with --absent"),
        ({"urn:old": "1"}, {"urn:new"}, "urn:old is not the URN of an interrupted creation"),
    ],
)
def test_an_incomplete_decision_is_refused(exists: dict[str, str], absent: frozenset[str], message: str) -> None:
    with pytest.raises(Stop) as stop:
        repaired(state(CREATING, DELETING), exists, absent)

    assert (stop.value.code, stop.value.message) == (Exit.WRONG, message)


def test_the_command_writes_the_state_and_prints_the_next_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported, target = tmp_path / "state.json", tmp_path / "repaired.json"
    exported.write_text(json.dumps(state(CREATING)))

    code = command.main(exported, exists=["urn:new=a=b"], repair=target)

    assert code is Exit.GOOD
    assert json.loads(target.read_text())["deployment"]["resources"][-1]["id"] == "a=b"
    assert f"pulumi stack import --file {target}\n  pulumi up\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exists": ["urn:new=1"]}, "--exists and --absent need --repair FILE"),
        ({"exists": ["urn:new"], "repair": True}, "--exists urn:new: state URN=ID"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    exported = tmp_path / "state.json"
    exported.write_text(json.dumps(state(CREATING)))
    if "repair" in options:
        options = {**options, "repair": tmp_path / "repaired.json"}

    with pytest.raises(Stop) as stop:
        command.main(exported, **options)

    assert (stop.value.code, stop.value.message) == (Exit.WRONG, message)
