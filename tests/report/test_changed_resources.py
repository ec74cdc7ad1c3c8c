"""The changes of a preview: properties, values, consequences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.fakes.protocol.wire import SIGNATURE, UNKNOWN_MARK
from ops.fakes.tables import kind_of
from ops.report.changes import Effect, changes
from ops.report.meaning import MEANINGS
from ops.report.text import group_line, grouped, lines
from tests.report.made import GROUP, LOG, REPLACED, UPDATED, comparison, step, urn
from tests.report.test_edits import shown

pytestmark = pytest.mark.pure

RELEASE = "kubernetes:helm.sh/v3:Release"
TAG = "aws:autoscaling/tag:Tag"


def shown_lines(*steps: Any) -> list[str]:
    """The lines of all changes."""
    return [line for change in changes(steps) for line in lines(change)]


def test_a_replacement_names_the_property_that_forces_it_and_the_safer_way() -> None:
    assert shown_lines(REPLACED) == [
        "± replace  eks/nodeGroup pool-t4",
        "    instanceTypes[0]: g4dn.xlarge -> g5.xlarge  (forces the replacement)",
        "    ! every node of the group ends, and the jobs on them fail",
        (
            "      Safer: add a pool under another name, move the runners to it, and remove the old one in a later update "
            "when no job runs"
        ),
    ]


def test_an_update_shows_the_old_and_the_new_value() -> None:
    assert shown_lines(UPDATED) == ["~ update   cloudwatch/logGroup cluster", "    retentionInDays: 14 -> 30"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[secret]", "[secret]", "value: (secret) -> (secret)"),
        ({SIGNATURE: "x", "ciphertext": "[secret]"}, "a", "value: (secret) -> a"),
        ("a", UNKNOWN_MARK, "value: a -> (known after the update)"),
        (True, False, "value: true -> false"),
        (None, ["a", {"b": 1}], "value: null -> [a, {b: 1}]"),
        ([{"a": 1}], [{"a": True}], "value[0].a: 1 -> true"),
        ('{"a": {"b": 1, "c": 2}}', '{"a": {"b": 3, "c": 2}}', "value.a.b: 1 -> 3"),
        ('{"not json', '{"other', 'value: {"not json -> {"other'),
    ],
)
def test_a_value_is_shown_as_text(old: object, new: object, line: str) -> None:
    changed = step("update", LOG, "cluster", changed={"value": "update"}, old={"value": old}, new={"value": new})

    assert shown_lines(changed)[1:] == [f"    {line}"]


def test_a_new_property_has_no_old_value() -> None:
    changed = step(
        "update", LOG, "cluster", changed={'tags["a.b"]': "add"}, old={"tags": {}}, new={"tags": {"a.b": "c"}}
    )

    assert shown_lines(changed)[1:] == ['    tags["a.b"]: (none) -> c']


def test_a_hidden_map_hides_its_members() -> None:
    changed = step(
        "update", LOG, "cluster", changed={"data.key": "update"}, old={"data": "[secret]"}, new={"data": "[secret]"}
    )

    assert shown_lines(changed)[1:] == ["    data.key: (secret) -> (secret)"]


def test_lists_of_a_chart_are_compared_by_name() -> None:
    old = {"values": {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}}
    new = {"values": {"env": [{"name": "B", "value": "3"}]}}
    changed = {"values.env[0].name": "update", "values.env[0].value": "update", "values.env[1]": "delete"}

    assert shown_lines(step("update", RELEASE, "arc", changed=changed, old=old, new=new))[1:] == [
        "    values.env[A]: {name: A, value: 1} -> (none)",
        "    values.env[B].value: 2 -> 3",
    ]


def test_only_the_release_of_a_runner_has_a_consequence() -> None:
    loud = step("delete", RELEASE, "runner", old={"chart": "oci://ghcr.io/x/gha-runner-scale-set"})
    quiet = step("delete", RELEASE, "autoscaler", old={"chart": "cluster-autoscaler"})

    assert [change.meaning is not None for change in changes([loud, quiet])] == [False, True]


@pytest.mark.parametrize("path", ["launchTemplate.version", "releaseVersion", "version"])
def test_an_update_that_replaces_nodes_has_a_consequence(path: str) -> None:
    found = changes([step("update", GROUP, "pool", changed={path: "update"})])[0].meaning

    assert found is not None
    assert found.loses == "EKS replaces every node of the group; jobs that do not end in time fail"


def test_a_change_of_the_scaling_limits_has_no_consequence() -> None:
    assert changes([step("update", GROUP, "pool", changed={"scalingConfig.maxSize": "update"})])[0].meaning is None


def test_a_resource_that_follows_another_replacement_is_only_counted() -> None:
    tag = step(
        "replace", TAG, "tag", changed={"autoscalingGroupName": "update-replace"},
        old={"autoscalingGroupName": "a"}, new={"autoscalingGroupName": UNKNOWN_MARK},
    )  # fmt: skip
    found = comparison(REPLACED, tag)

    assert "± replace  autoscaling/tag tag (because of another replacement)\n" in shown(found)
    assert "1 to replace, 1 replaced because of another replacement; 150 unchanged." in shown(found)


def test_a_moved_resource_shows_its_old_name() -> None:
    moved = step("same", LOG, "new", was=urn(LOG, "old"))

    assert shown_lines(moved) == ["> move     cloudwatch/logGroup new", "    was old"]


def test_an_unchanged_resource_is_not_a_change() -> None:
    assert changes([step("same", LOG, "a")]) == ()


def test_a_new_grant_shows_every_input() -> None:
    entry = step("create", "aws:eks/accessEntry:AccessEntry", "partner", new={"principalArn": "arn:aws:iam::2:role/x"})

    assert shown_lines(entry)[1:] == ["    principalArn: arn:aws:iam::2:role/x"]


def test_many_similar_resources_are_in_one_line() -> None:
    found = changes([step("create", TAG, f"pool-t4-{letter}") for letter in "abcd"])

    assert [group_line(members) for members in grouped(found)] == ["+ create   4 autoscaling/tag pool-t4-…"]
    assert len(grouped(found[:3])) == 3


def test_replacements_and_deletions_come_first() -> None:
    found = changes([UPDATED, step("create", LOG, "c"), step("delete", LOG, "d"), REPLACED])

    assert [change.effect for change in found] == [Effect.REPLACE, Effect.DELETE, Effect.UPDATE, Effect.CREATE]


def test_every_consequence_has_a_safer_way_and_a_known_type() -> None:
    for type_, meaning in MEANINGS.items():
        assert kind_of(type_).type == type_
        assert meaning.loses
        assert meaning.safer


@given(
    st.recursive(st.integers() | st.text(max_size=3), lambda one: st.dictionaries(st.text(max_size=3), one, max_size=3))
)
def test_every_value_is_shown_in_a_line(value: object) -> None:
    changed = step("update", LOG, "x", changed={"value": "update"}, old={"value": 1}, new={"value": value})

    assert shown_lines(changed)[0] == "~ update   cloudwatch/logGroup x"
    assert json.dumps(changes([changed])[0].to_data())
