"""The check of an exported state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.cli.commands import state_check as command
from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.protocol.wire import SECRET_SIGNATURE, SIGNATURE
from ops.outcome import Exit, Stop
from ops.state.state_check import State, faults, note, read
from tests.engine.programs import SECRET, network, stack_file

TOPIC = "aws:sns/topic:Topic"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
HIDDEN = {SIGNATURE: SECRET_SIGNATURE, "ciphertext": "v1:abc:def"}


def urn(name: str, type_: str = TOPIC) -> str:
    """The URN of a resource."""
    return f"urn:pulumi:demo::gpu-ci::{type_}::{name}"


def row(name: str = "alarms", type_: str = TOPIC, **more: Any) -> dict[str, Any]:
    """A resource of a state."""
    return {"urn": urn(name, type_), "type": type_, "custom": True, "inputs": {}, "outputs": {}, **more}


def written(folder: Path, *rows: dict[str, Any], **deployment: Any) -> Path:
    """A file of an exported state."""
    path = folder / "state.json"
    path.write_text(json.dumps({"version": 3, "deployment": {"resources": list(rows), **deployment}}))
    return path


def found(folder: Path, *rows: dict[str, Any], planned: frozenset[str] | None = None, **deployment: Any) -> list[str]:
    """The paths and the problems of a state."""
    state = read(written(folder, *rows, **deployment))
    return [f"{one.path}: {one.problem}" for one in faults(state, planned)]


@pytest.mark.pure
def test_a_good_state_has_no_fault(tmp_path: Path) -> None:
    good = row(inputs={"name": "a", "password": HIDDEN})

    assert found(tmp_path, good, planned=frozenset({urn("alarms")})) == []


@pytest.mark.pure
@pytest.mark.parametrize(
    ("inputs", "place"),
    [
        ({"password": "hunter2hunter2"}, "inputs.password"),
        ({"data": {"file": KEY}}, "inputs.data.file"),
        ({"args": ["--token", "ghp_" + "a" * 36]}, "inputs.args[1]"),
        ({"text": "AKIAIOSFODNN7EXAMPLE"}, "inputs.text"),
    ],
)
def test_a_secret_in_plain_text_is_a_fault_without_its_value(
    tmp_path: Path, inputs: dict[str, Any], place: str
) -> None:
    lines = found(tmp_path, row(inputs=inputs))

    assert lines == [f"{TOPIC} alarms: the state contains a secret in plain text: {place}"]
    assert not any(secret in lines[0] for secret in ("hunter2", "MII", "ghp_", "AKIA"))


@pytest.mark.pure
def test_an_export_with_secrets_is_a_fault(tmp_path: Path) -> None:
    shown = row(outputs={"key": {SIGNATURE: SECRET_SIGNATURE, "plaintext": '"x"'}})

    assert found(tmp_path, shown) == [
        f"{TOPIC} alarms: the file was exported with --show-secrets, so everyone who reads it knows the secrets"
    ]


@pytest.mark.pure
@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("updating", "an interrupted update was changing it, so the state may hold old values"),
        ("deleting", "an interrupted update was deleting it, so it may not exist any more"),
        ("unheard-of", "an interrupted update left it"),
    ],
)
def test_a_pending_operation_is_a_fault_with_its_fix(tmp_path: Path, kind: str, problem: str) -> None:
    state = read(written(tmp_path, pending_operations=[{"type": kind, "resource": row()}]))
    (one,) = faults(state, None)

    assert (one.path, one.problem) == (f"{TOPIC} alarms", problem)
    assert "pulumi refresh" in one.fix


@pytest.mark.pure
@pytest.mark.parametrize(
    ("inputs", "where"),
    [
        ({"name": "alarms-prod"}, "the cloud (name: alarms-prod);"),
        ({"metadata": {"name": "arc"}}, "the cloud (name: arc);"),
        ({"name": HIDDEN}, "the cloud;"),
        ({}, "the cloud;"),
    ],
)
def test_an_interrupted_creation_names_the_two_decisions(tmp_path: Path, inputs: dict[str, Any], where: str) -> None:
    state = read(written(tmp_path, pending_operations=[{"type": "creating", "resource": row(inputs=inputs)}]))
    (one,) = faults(state, None)

    assert one.problem == "an interrupted update was creating it, so it may exist without being in the state"
    assert one.fix == (
        f"look for it in {where} then run this command again with `--repair FILE` and `--exists '{urn('alarms')}=ID'`, "
        f"or with `--absent '{urn('alarms')}'`. "
        "https://www.pulumi.com/registry/packages/aws/api-docs/sns/topic/#import has the form of the ID"
    )


@pytest.mark.pure
def test_a_resource_that_the_program_does_not_know_is_a_fault(tmp_path: Path) -> None:
    rows = [row(), row("old"), row("old-group", "gpu-ci:aws:Alarms", custom=False), row("aws", "pulumi:providers:aws")]

    assert found(tmp_path, *rows, planned=frozenset({urn("alarms")})) == [
        f"{TOPIC} old: the program does not know this resource, so the next `pulumi up` deletes it",
        "gpu-ci:aws:Alarms old-group: the program does not know this component, so the next `pulumi up` deletes it",
        "pulumi:providers:aws aws: the program does not know this provider, so the next `pulumi up` deletes it",
    ]


@pytest.mark.pure
def test_a_replaced_resource_that_is_not_deleted_yet_is_a_fault(tmp_path: Path) -> None:
    assert found(tmp_path, row(delete=True), planned=frozenset()) == [
        f"{TOPIC} alarms: it was replaced, and the old one is not deleted yet"
    ]


@pytest.mark.pure
def test_a_resource_that_was_never_ready_is_a_fault(tmp_path: Path) -> None:
    assert found(tmp_path, row(initErrors=["timed out"])) == [
        f"{TOPIC} alarms: it exists, but was never ready: timed out"
    ]


@pytest.mark.pure
@pytest.mark.parametrize(("provider", "noted"), [("passphrase", True), ("service", True), ("cloud", False)])
def test_a_secrets_provider_without_a_key_service_is_noted(tmp_path: Path, provider: str, noted: bool) -> None:
    state = read(written(tmp_path, row(), secrets_providers={"type": provider}))

    assert bool(note(state)) is noted


@pytest.mark.pure
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read (No such file or directory); write it with `pulumi stack export`"),
        ("{", "is not JSON; write it with `pulumi stack export --file"),
        ("[]", "has no deployment; write it with `pulumi stack export --file"),
        ('{"deployment": null}', "has no deployment"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "state.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(Stop) as stop:
        read(path)

    assert stop.value.code is Exit.WRONG
    assert message in stop.value.message
    assert "\n" not in stop.value.message


@pytest.mark.pure
def test_an_empty_state_has_no_stack(tmp_path: Path) -> None:
    state = read(written(tmp_path))

    assert (state.stack, state.resources, note(state), list(faults(state, None))) == ("", (), "", [])


values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=4),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=4), one, max_size=3),
    max_leaves=6,
)


@pytest.mark.pure
@given(values, st.sampled_from(["inputs", "outputs"]))
def test_a_planted_key_is_found_anywhere(value: object, bag: str) -> None:
    state = State(
        stack="demo",
        resources=({**row(), bag: {"a": value, "b": {"c": [value, KEY]}}},),
        pending=(),
        secrets_provider="cloud",
    )

    assert any("secret in plain text" in one.problem for one in faults(state, None))


@pytest.mark.engine
def test_the_export_of_the_engine_has_no_secret_in_plain_text(cli: Found, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with Engine(cli, stack_file(), network) as engine:
        assert engine.up().ok
        path.write_text(engine.run("stack", "export"))

    state = read(path)

    assert SECRET not in path.read_text()
    assert list(faults(state, frozenset(str(one["urn"]) for one in state.resources))) == []


@pytest.mark.engine
def test_the_command_compares_with_the_program_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = {"urn": f"urn:pulumi:staging::gpu-ci::{TOPIC}::old", "type": TOPIC, "custom": True}

    code = command.main(written(tmp_path, old), json=tmp_path / "out.json")

    assert code is Exit.FINDING
    assert f"{TOPIC} old: the program does not know this resource" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())["faults"][0]["path"] == f"{TOPIC} old"
