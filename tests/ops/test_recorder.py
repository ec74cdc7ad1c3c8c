"""The recorder keeps what an engine would receive, on any machine and in any run."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pulumi
import pytest
from pulumi import ResourceOptions
from pulumi.runtime import settings

from ops.cli.terminal import encoded
from ops.fakes.cloud.paths import UNKNOWN
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


def test_resources_are_in_the_order_of_the_program() -> None:
    def program() -> None:
        slow = Thing(KEY, "first", {"description": pulumi.Output.from_input(asyncio.sleep(0.02, "late"))})
        Thing(ROLE, "second", {"name": slow.arn})
        Thing(BUCKET, "third")

    plan = record(stack_file(), program=program)

    assert [resource.name for resource in plan] == ["gpu-ci-small", "first", "second", "third"]


def test_an_output_used_as_an_input_is_a_dependency() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        Thing(BUCKET, "bucket", {"tags": {"key": key.arn}})

    plan = record(stack_file(), program=program)

    key, bucket = plan.one(KEY, "key"), plan.one(BUCKET, "bucket")
    assert bucket.inputs["tags"]["key"].startswith("arn:aws:kms:us-west-2:123456789012:key/")
    assert bucket.dependencies == (key.urn,)
    assert bucket.property_dependencies == {"tags": (key.urn,)}


def test_recorded_options_equal_the_options_of_the_engine() -> None:
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


def test_deleted_with_is_inherited() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        box = Box("box", ResourceOptions(deleted_with=key))
        Thing(BUCKET, "bucket", opts=ResourceOptions(parent=box))

    plan = record(stack_file(), program=program)

    assert plan.one(BUCKET, "bucket").deleted_with == plan.one(KEY, "key").urn


def test_a_value_derived_from_a_secret_is_secret() -> None:
    def program() -> None:
        key = pulumi.Config().require_secret("pass-phrase")
        Thing(BUCKET, "bucket", {"tags": {"plain": "seen", "derived": key.apply(lambda text: f"<{text}>")}})
        pulumi.export("phrase", key)

    plan = record(stack_file({"gpu-ci:pass-phrase": "open-sesame"}, frozenset({"gpu-ci:pass-phrase"})), program=program)

    bucket = plan.one(BUCKET, "bucket")
    assert bucket.inputs["tags"] == {"plain": "seen", "derived": "<open-sesame>"}
    assert bucket.secret_paths == {"tags.derived"}
    assert bucket.shown["tags"] == {"plain": "seen", "derived": "[secret]"}
    assert plan.outputs == {"phrase": "[secret]"}
    assert b"open-sesame" not in encoded(plan.to_data())


def test_ids_and_outputs_are_unknown_in_a_preview() -> None:
    def program() -> None:
        key = Thing(KEY, "key")
        Thing(BUCKET, "bucket", {"tags": {"key": key.arn, "id": key.id, "plain": "seen"}})

    plan = record(stack_file(), program=program, preview=True)

    bucket = plan.one(BUCKET, "bucket")
    assert plan.preview
    assert bucket.inputs["tags"] == {"key": UNKNOWN, "id": UNKNOWN, "plain": "seen"}
    assert bucket.unknown_paths == {"tags.key", "tags.id"}


def test_resources_of_an_unconfigured_provider_are_unknown_in_a_preview() -> None:
    """The engine does not call a provider whose configuration is unknown, and treats every output as unknown."""

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


def test_whole_numbers_are_integers() -> None:
    def program() -> None:
        Thing(KEY, "key", {"deletionWindowInDays": 7, "share": 0.5, "list": [1, True, None, "1"]})

    inputs = record(stack_file(), program=program).one(KEY, "key").inputs

    assert repr(inputs["deletionWindowInDays"]) == "7"
    assert inputs["share"] == 0.5
    assert repr(inputs["list"]) == "[1, True, None, '1']"


def test_an_exception_of_the_program_passes_through() -> None:
    def program() -> None:
        Thing(KEY, "key")
        raise pulumi.RunError("the stack file is wrong")

    with pytest.raises(pulumi.RunError, match="the stack file is wrong"):
        record(stack_file(), program=program)


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(LookupError, match="aws:rds/instance:Instance"):
        record(stack_file(), program=makes("aws:rds/instance:Instance", "db"))


def test_the_first_failure_is_raised_and_not_a_consequence() -> None:
    def program() -> None:
        lost = Thing("aws:rds/instance:Instance", "db")
        Thing(BUCKET, "bucket", {"tags": {"db": lost.arn}})

    with pytest.raises(LookupError, match="aws:rds/instance:Instance"):
        record(stack_file(), program=program)


def test_two_resources_with_the_same_urn_are_refused() -> None:
    def program() -> None:
        Thing(KEY, "key")
        Thing(KEY, "key")

    with pytest.raises(ValueError, match=r"Two resources have the URN urn:.*::key\."):
        record(stack_file(), program=program)


def test_a_lookup_is_refused() -> None:
    def program() -> None:
        pulumi.runtime.invoke("aws:index/getCallerIdentity:getCallerIdentity", {})

    with pytest.raises(LookupError, match="getCallerIdentity"):
        record(stack_file(), program=program)


def test_reading_a_resource_outside_the_stack_is_refused() -> None:
    with pytest.raises(LookupError, match="aws:kms/key:Key"):
        record(stack_file(), program=makes(KEY, "key", opts=ResourceOptions(id="there")))


def test_an_output_in_a_string_raises() -> None:
    def program() -> None:
        Thing(BUCKET, "bucket", {"bucket": f"name-{Thing(KEY, 'key').arn}"})

    with pytest.raises(Exception, match="Calling __str__ on an Output"):
        record(stack_file(), program=program)


def test_environment_variables_of_the_clouds_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    import pulumi_aws as aws  # noqa: PLC0415  # heavy, and only needed here

    seen: list[str | None] = []

    def program() -> None:
        seen.append(pulumi.Config().get("not-in-the-file"))
        aws.Provider("aws")

    without = encoded(record(stack_file(), program=program).to_data())
    monkeypatch.setenv("AWS_REGION", "ap-south-2")
    monkeypatch.setenv("PULUMI_CONFIG_GPU_CI_NOT_IN_THE_FILE", "here")
    monkeypatch.setenv("PULUMI_CONFIG", '{"gpu-ci:not-in-the-file": "here"}')
    within = encoded(record(stack_file(), program=program).to_data())

    assert seen == [None, None]
    assert within == without
    assert os.environ["AWS_REGION"] == "ap-south-2"


def test_a_run_does_not_change_the_settings_of_the_thread() -> None:
    def seen() -> tuple[object, ...]:
        return (settings.get_stack(), settings.get_monitor(), settings.is_dry_run(), settings.get_root_resource())

    before = seen()

    record(stack_file(), program=makes(KEY, "key"), preview=True)

    assert seen() == before


def test_a_run_works_inside_another_event_loop() -> None:
    async def outer() -> int:
        return len(record(stack_file(), program=makes(KEY, "key")))

    assert asyncio.run(outer()) == 2


def test_the_stack_comes_first_and_has_no_parent() -> None:
    plan = record(stack_file(), program=lambda: None)

    assert [(resource.type, resource.parent) for resource in plan] == [(STACK_TYPE, "")]


def test_warnings_are_kept_and_informational_messages_are_not() -> None:
    def program() -> None:
        pulumi.log.info("by the way")
        pulumi.log.warn("look out", Thing(KEY, "key"))

    assert record(stack_file(), program=program).logged == ("look out",)


@pytest.mark.parametrize("tool", ["pulumi_gcp", "pulumi_aws", "pulumi_kubernetes"])
def test_importing_the_recorder_imports_no_cloud_package(tool: str) -> None:
    line = f"import sys, ops.plan.recorder, ops.plan.planning; sys.exit({tool!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", line], check=False).returncode == 0
