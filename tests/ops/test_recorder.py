"""The recorder: what it keeps is what an engine would be told, whatever machine and whatever run it is."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import subprocess
import sys

import pulumi
import pytest
from pulumi import ResourceOptions
from pulumi.runtime import settings

from fakes.wire import UNKNOWN
from ops.plan.model import STACK_TYPE
from ops.plan.recorder import record
from tests.ops.small import BUCKET, KEY, ROLE, Box, Thing, makes, stack_file

pytestmark = pytest.mark.plan


def test_a_urn_carries_the_types_of_all_its_parents() -> None:
    def program() -> None:
        outer = Box("outer", type_="gpu-ci:aws:Outer")
        inner = Box("inner", ResourceOptions(parent=outer), "gpu-ci:aws:Inner")
        Thing(KEY, "key", opts=ResourceOptions(parent=inner))

    plan = record(stack_file(), program=program)

    assert plan.one(KEY, "key").urn == (
        "urn:pulumi:small::gpu-ci::gpu-ci:aws:Outer$gpu-ci:aws:Inner$aws:kms/key:Key::key"
    )


def test_resources_stand_in_the_order_of_the_program_however_long_they_wait() -> None:
    def program() -> None:
        slow = Thing(KEY, "first", {"description": pulumi.Output.from_input(asyncio.sleep(0.02, "late"))})
        Thing(ROLE, "second", {"name": slow.arn})
        Thing(BUCKET, "third")

    plan = record(stack_file(), program=program)

    assert [resource.name for resource in plan] == ["gpu-ci-small", "first", "second", "third"]


def test_an_output_of_one_is_an_input_and_an_edge_of_the_next() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        Thing(BUCKET, "bucket", {"tags": {"key": key.arn}})

    plan = record(stack_file(), program=program)

    key, bucket = plan.one(KEY, "key"), plan.one(BUCKET, "bucket")
    assert bucket.inputs["tags"]["key"].startswith("arn:aws:kms:us-west-2:123456789012:key/")
    assert bucket.dependencies == (key.urn,)
    assert bucket.property_dependencies == {"tags": (key.urn,)}


def test_options_are_kept_as_the_engine_would_apply_them() -> None:
    def program() -> None:
        box = Box("box", ResourceOptions(protect=True, retain_on_delete=True))
        opts = ResourceOptions(
            parent=box,
            ignore_changes=["scalingConfig.desiredSize"],
            delete_before_replace=True,
            aliases=[pulumi.Alias(name="was")],
        )
        Thing(KEY, "key", opts=opts)

    key = record(stack_file(), program=program).one(KEY, "key")

    assert key.protect
    assert key.retain_on_delete
    assert key.delete_before_replace
    assert key.ignore_changes == ("scalingConfig.desiredSize",)
    assert key.aliases == ("name=was",)


def test_what_goes_with_its_parent_s_cluster_is_inherited() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        box = Box("box", ResourceOptions(deleted_with=key))
        Thing(BUCKET, "bucket", opts=ResourceOptions(parent=box))

    plan = record(stack_file(), program=program)

    assert plan.one(BUCKET, "bucket").deleted_with == plan.one(KEY, "key").urn


def test_a_secret_stays_marked_through_what_is_made_of_it_and_is_never_written() -> None:
    def program() -> None:
        key = pulumi.Config().require_secret("pass-phrase")
        Thing(BUCKET, "bucket", {"tags": {"plain": "seen", "made": key.apply(lambda text: f"<{text}>")}})
        pulumi.export("told", key)

    plan = record(stack_file({"gpu-ci:pass-phrase": "open-sesame"}, frozenset({"gpu-ci:pass-phrase"})), program=program)

    bucket = plan.one(BUCKET, "bucket")
    assert bucket.inputs["tags"] == {"plain": "seen", "made": "<open-sesame>"}
    assert bucket.secret_paths == {"tags.made"}
    assert bucket.shown["tags"] == {"plain": "seen", "made": "[secret]"}
    assert plan.outputs == {"told": "[secret]"}
    assert b"open-sesame" not in plan.to_json()


def test_a_preview_knows_no_ids_and_no_outputs() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        Thing(BUCKET, "bucket", {"tags": {"key": key.arn, "id": key.id, "plain": "seen"}})

    plan = record(stack_file(), program=program, preview=True)

    bucket = plan.one(BUCKET, "bucket")
    assert plan.preview
    assert bucket.inputs["tags"] == {"key": UNKNOWN, "id": UNKNOWN, "plain": "seen"}
    assert bucket.unknown_paths == {"tags.key", "tags.id"}


def test_a_preview_knows_nothing_of_what_an_unconfigured_provider_makes() -> None:
    """The engine does not ask a provider whose configuration is unknown, and takes every output for unknown."""

    def program() -> None:
        cluster = Thing(KEY, "cluster")
        for name, config in (("later", cluster.arn), ("now", "known")):
            provider = pulumi.ProviderResource("kubernetes", name, {"kubeconfig": config})
            made = Thing(
                "kubernetes:core/v1:Namespace", name, {"metadata": {"name": "it"}}, ResourceOptions(provider=provider)
            )
            Thing(BUCKET, f"after-{name}", {"tags": made.metadata})

    plan = record(stack_file(), program=program, preview=True)

    assert plan.one(BUCKET, "after-later").inputs["tags"] == UNKNOWN
    assert plan.one(BUCKET, "after-now").inputs["tags"] == {"name": "it"}


def test_numbers_come_back_whole_where_they_are_whole() -> None:
    def program() -> None:
        Thing(KEY, "key", {"deletionWindowInDays": 7, "share": 0.5, "list": [1, True, None, "1"]})

    inputs = record(stack_file(), program=program).one(KEY, "key").inputs

    assert repr(inputs["deletionWindowInDays"]) == "7"
    assert inputs["share"] == 0.5
    assert repr(inputs["list"]) == "[1, True, None, '1']"


def test_what_the_program_raises_is_raised_as_it_is() -> None:
    def program() -> None:
        Thing(KEY, "key")
        raise pulumi.RunError("the stack file is wrong")

    with pytest.raises(pulumi.RunError, match="the stack file is wrong"):
        record(stack_file(), program=program)


def test_a_type_without_an_answer_is_named() -> None:
    with pytest.raises(LookupError, match="aws:rds/instance:Instance"):
        record(stack_file(), program=makes("aws:rds/instance:Instance", "db"))


def test_what_follows_from_a_failed_resource_does_not_hide_it() -> None:
    def program() -> None:
        lost = Thing("aws:rds/instance:Instance", "db")
        Thing(BUCKET, "bucket", {"tags": {"db": lost.arn}})

    with pytest.raises(LookupError, match="aws:rds/instance:Instance"):
        record(stack_file(), program=program)


def test_two_resources_of_one_name_are_refused() -> None:
    def program() -> None:
        Thing(KEY, "key")
        Thing(KEY, "key")

    with pytest.raises(ValueError, match=r"Two resources are called urn:.*::key\."):
        record(stack_file(), program=program)


def test_a_look_up_is_refused() -> None:
    def program() -> None:
        pulumi.runtime.invoke("aws:index/getCallerIdentity:getCallerIdentity", {})

    with pytest.raises(LookupError, match="getCallerIdentity"):
        record(stack_file(), program=program)


def test_reading_what_exists_outside_is_refused() -> None:
    with pytest.raises(LookupError, match="aws:kms/key:Key"):
        record(stack_file(), program=makes(KEY, "key", opts=ResourceOptions(id="there")))


def test_an_output_in_a_text_raises() -> None:
    def program() -> None:
        Thing(BUCKET, "bucket", {"bucket": f"name-{Thing(KEY, 'key').arn}"})

    with pytest.raises(Exception, match="Calling __str__ on an Output"):
        record(stack_file(), program=program)


def test_the_environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import pulumi_aws as aws  # noqa: PLC0415  # heavy, and only needed here

    seen: list[str | None] = []

    def program() -> None:
        seen.append(pulumi.Config().get("stated-nowhere"))
        aws.Provider("aws")

    without = record(stack_file(), program=program).to_json()
    monkeypatch.setenv("AWS_REGION", "ap-south-2")
    monkeypatch.setenv("PULUMI_CONFIG_GPU_CI_STATED_NOWHERE", "here")
    monkeypatch.setenv("PULUMI_CONFIG", '{"gpu-ci:stated-nowhere": "here"}')
    within = record(stack_file(), program=program).to_json()

    assert seen == [None, None]
    assert within == without
    assert os.environ["AWS_REGION"] == "ap-south-2"


def test_a_run_leaves_the_sdk_as_it_was() -> None:
    def seen() -> tuple[object, ...]:
        return (settings.get_stack(), settings.get_monitor(), settings.is_dry_run(), settings.get_root_resource())

    def everywhere() -> list[tuple[object, ...]]:
        """What this thread sees, and one that the SDK has never met."""
        with concurrent.futures.ThreadPoolExecutor(1) as stranger:
            return [seen(), stranger.submit(seen).result()]

    before = everywhere()

    record(stack_file(), program=makes(KEY, "key"), preview=True)

    assert everywhere() == before


def test_a_run_can_stand_inside_another_event_loop() -> None:
    async def outer() -> int:
        return len(record(stack_file(), program=makes(KEY, "key")))

    assert asyncio.run(outer()) == 2


def test_the_stack_comes_first_and_has_no_parent() -> None:
    plan = record(stack_file(), program=lambda: None)

    assert [(resource.type, resource.parent) for resource in plan] == [(STACK_TYPE, "")]


def test_warnings_are_kept_and_chatter_is_not() -> None:
    def program() -> None:
        pulumi.log.info("by the way")
        pulumi.log.warn("look out", Thing(KEY, "key"))

    assert record(stack_file(), program=program).logged == ("look out",)


def test_two_runs_give_the_same_bytes() -> None:
    def program() -> None:
        keys = [Thing(KEY, name) for name in "abcdefgh"]
        for name in "mnop":
            Thing(BUCKET, name, {"tags": {key._name: key.arn for key in keys}})

    assert record(stack_file(), program=program).to_json() == record(stack_file(), program=program).to_json()


@pytest.mark.parametrize("tool", ["pulumi_gcp", "pulumi_aws", "pulumi_kubernetes"])
def test_the_recorder_itself_needs_no_cloud_s_package(tool: str) -> None:
    line = f"import sys, ops.plan.recorder, ops.plan.planning; sys.exit({tool!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", line], check=False).returncode == 0
