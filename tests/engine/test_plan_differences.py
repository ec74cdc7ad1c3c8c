"""The comparison of plan and engine reports every difference."""

from __future__ import annotations

from typing import Any

import pytest

from ops.engine import plan_differences
from ops.engine.state import State, goals, state
from ops.fakes.cloud.paths import UNKNOWN
from ops.fakes.protocol.wire import SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from ops.plan.model import SECRET, Planned
from tests.ops.small import BUCKET, KEY, STACK, plan, planned

pytestmark = pytest.mark.pure

PROVIDER = "urn:pulumi:small::gpu-ci::pulumi:providers:aws::aws"


def registered(*resources: Planned) -> dict[str, Planned]:
    """Return the registrations of these resources and of their stack."""
    return {resource.urn: resource for resource in plan(*resources)}


def differences(ours: Planned, theirs: Planned) -> list[str]:
    """Return the paths in which the two differ in a preview."""
    return [one.path for one in plan_differences.from_preview(plan(ours), registered(theirs))]


def test_equal_resources_have_no_difference() -> None:
    key = planned(KEY, "key", inputs={"a": [1, {"b": True}]}, provider=PROVIDER, dependencies=(STACK,))

    assert differences(key, key) == []


def test_a_resource_on_one_side_is_a_difference() -> None:
    found = plan_differences.from_preview(plan(planned(KEY, "ours")), registered(planned(KEY, "theirs")))

    assert [(one.urn.rpartition("::")[2], one.planned, one.engine) for one in found] == [
        ("ours", "the resource", "nothing"),
        ("theirs", "nothing", "the resource"),
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "path"),
    [
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "a.b.1"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": 1}, {}, "a"),
        ({}, {"a": {"b": None}}, "a"),
        ({"a": "1"}, {"a": 1}, "a"),
    ],
)
def test_a_different_input_is_a_difference(ours: dict[str, Any], theirs: dict[str, Any], path: str) -> None:
    assert differences(planned(KEY, "key", inputs=ours), planned(KEY, "key", inputs=theirs)) == [path]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("custom", False),
        ("delete_before_replace", True),
        ("dependencies", (STACK,)),
        ("ignore_changes", ("tags",)),
        ("parent", "urn:pulumi:small::gpu-ci::gpu-ci:aws:Box::box"),
        ("property_dependencies", {"a": (STACK,)}),
        ("protect", True),
        ("provider", PROVIDER),
    ],
)
def test_a_different_option_is_a_difference(option: str, value: object) -> None:
    assert differences(planned(KEY, "key"), planned(KEY, "key", **{option: value})) == [option]


@pytest.mark.parametrize(("option", "value"), [("retain_on_delete", True), ("deleted_with", STACK)])
def test_options_of_a_state_are_compared(option: str, value: object) -> None:
    resources = registered(planned(KEY, "key", **{option: value}))
    found = plan_differences.from_state(plan(planned(KEY, "key")), State(resources=resources, ids={}, outputs={}))

    assert [one.path for one in found] == [option]


def test_a_property_without_dependencies_can_be_omitted() -> None:
    assert differences(planned(KEY, "key", property_dependencies={"a": ()}), planned(KEY, "key")) == []


def test_a_secret_on_one_side_is_a_difference() -> None:
    ours = planned(KEY, "key", inputs={"a": "x"}, secret_paths=frozenset({"a"}))

    assert differences(ours, planned(KEY, "key", inputs={"a": "x"})) == ["a"]
    assert differences(planned(KEY, "key", inputs={"a": "x"}), ours) == ["a"]


def test_an_encrypted_secret_agrees_with_any_text() -> None:
    ours = planned(KEY, "key", inputs={"a": "x"}, secret_paths=frozenset({"a"}))
    theirs = planned(KEY, "key", inputs={"a": SECRET}, secret_paths=frozenset({"a"}))

    assert differences(ours, theirs) == []


def test_the_values_of_different_secrets_are_not_printed() -> None:
    ours = planned(KEY, "key", inputs={"a": {"b": "mine"}}, secret_paths=frozenset({"a.b"}))
    theirs = planned(KEY, "key", inputs={"a": {"b": "yours"}}, secret_paths=frozenset({"a.b"}))
    lacking = planned(KEY, "key", inputs={}, secret_paths=frozenset({"a.b"}))
    found = [
        *plan_differences.from_preview(plan(ours), registered(theirs)),
        *plan_differences.from_preview(plan(ours), registered(lacking)),
        *plan_differences.from_preview(plan(lacking), registered(theirs)),
    ]

    assert [one.path for one in found] == ["a.b", "a", "a"]
    assert not any("mine" in str(one) or "yours" in str(one) for one in found)


def test_a_value_unknown_to_one_side_is_one_difference() -> None:
    ours = planned(KEY, "key", inputs={"a": {"b": "x"}})
    theirs = planned(KEY, "key", inputs={"a": {"b": UNKNOWN}}, unknown_paths=frozenset({"a.b"}))
    found = plan_differences.from_preview(plan(ours), registered(theirs))

    assert [(one.path, one.planned, one.engine) for one in found] == [("a.b", "known", "unknown")]


def test_an_unknown_value_inside_an_encrypted_secret_is_not_compared() -> None:
    ours = planned(
        KEY, "key", inputs={"a": {"b": UNKNOWN}}, secret_paths=frozenset({"a"}), unknown_paths=frozenset({"a.b"})
    )
    theirs = planned(KEY, "key", inputs={"a": SECRET}, secret_paths=frozenset({"a"}))

    assert differences(ours, theirs) == []


def test_a_different_output_of_the_stack_is_a_difference() -> None:
    found = plan_differences.from_state(
        plan(outputs={"vpc": "vpc-1", "region": 1}),
        State(resources=registered(), ids={}, outputs={"vpc": "vpc-2", "region": 1}),
    )

    assert [(one.path, one.planned, one.engine) for one in found] == [("outputs.vpc", "'vpc-1'", "'vpc-2'")]


def test_a_saved_plan_is_read_with_its_marks() -> None:
    adds = f'{{"plain": 1, "later": "{UNKNOWN_MARK}", "hidden": {{"{SIGNATURE}": "{SECRET_SIGNATURE}", "ciphertext": "v1:x"}}}}'
    urn = f"urn:pulumi:small::gpu-ci::{BUCKET}::store"
    goal = f'"type": "{BUCKET}", "name": "store", "custom": true, "provider": "{PROVIDER}::id", "inputDiff": {{"adds": {adds}}}'
    (read,) = goals(f'{{"resourcePlans": {{"{urn}": {{"goal": {{{goal}}}}}}}}}').values()

    assert (read.inputs, read.provider) == ({"hidden": SECRET, "later": UNKNOWN, "plain": 1}, PROVIDER)
    assert (set(read.secret_paths), set(read.unknown_paths)) == ({"hidden"}, {"later"})


def test_a_decrypted_state_is_read_with_its_secrets() -> None:
    secret = {SIGNATURE: SECRET_SIGNATURE, "plaintext": '{"key":"text"}'}
    urn = f"urn:pulumi:small::gpu-ci::{BUCKET}::store"
    rows = [
        {"urn": STACK, "type": "pulumi:pulumi:Stack", "custom": False, "outputs": {"out": secret}},
        {"urn": urn, "type": BUCKET, "custom": True, "id": "store", "inputs": {"data": secret}},
        {"urn": urn, "type": BUCKET, "custom": True, "id": "old", "inputs": {}, "delete": True},
    ]
    read = state({"resources": rows})

    assert read.resources[urn].inputs == {"data": {"key": "text"}}
    assert (set(read.resources[urn].secret_paths), read.ids[urn]) == ({"data"}, "store")
    assert read.outputs == {"out": SECRET}
