"""The plans of the committed stack files follow every rule, and a plan with a violation is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from pulumi import ResourceOptions

from ops.plan.model import Plan
from ops.plan.planning import findings
from ops.plan.recorder import record
from tests.ops.small import BUCKET, KEY, Box, Thing, plan, planned
from tests.ops.small import stack_file as small_stack_file
from tests.plan import laws, stacks

pytestmark = pytest.mark.plan

URN = "urn:pulumi:small::gpu-ci::"
SECRET = "kubernetes:core/v1:Secret"
NAMESPACE = "kubernetes:core/v1:Namespace"
NODES = "aws:eks/nodeGroup:NodeGroup"
SCALE_SET = "oci://example.test/charts/gha-runner-scale-set"
CONTROLLER = f"{SCALE_SET}-controller"


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_follows_the_rule(name: str, law: Callable[[Plan], Iterator[str]]) -> None:
    assert list(law(stacks.planned(name))) == []


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_with_protection_protects_its_data(name: str) -> None:
    made = stacks.planned(name)
    protects = json.loads(stacks.stack_file(name).config["gpu-ci:stack"])["protect"]

    unprotected = list(laws.resources_with_data_or_identity_are_protected(made))

    with_data = [resource for resource in made if resource.type in laws.WITH_DATA]
    assert len(unprotected) == (0 if protects else len(with_data))


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_violates_no_policy(name: str) -> None:
    assert [str(finding) for finding in findings(stacks.planned(name))] == []


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_preview_and_an_update_register_the_same_resources(name: str) -> None:
    assert stacks.planned(name, preview=True).urns == stacks.planned(name).urns


@pytest.mark.parametrize("name", stacks.NAMES)
def test_the_sdk_reports_no_deprecated_inputs(name: str) -> None:
    assert [line for line in stacks.planned(name).logged if "deprecated" in line.lower()] == []


def test_a_resource_created_in_an_apply_is_missing_from_the_preview() -> None:
    def program() -> None:
        def inside(_arn: str) -> None:
            Thing(BUCKET, "inside")

        Thing(KEY, "key").arn.apply(inside)

    file = small_stack_file()

    update, preview = record(file, program=program), record(file, program=program, preview=True)

    assert set(update.urns) - set(preview.urns) == {f"{URN}{BUCKET}::inside"}


def test_a_resource_at_the_root_is_reported() -> None:
    box = planned("gpu-ci:aws:Box", "box")
    kept = planned(KEY, "kept", parent=box.urn)

    assert list(laws.every_resource_is_below_a_component(plan(box, kept, planned(BUCKET, "loose")))) == [
        f"{URN}{BUCKET}::loose is below pulumi:pulumi:Stack, which is not a component"
    ]


def test_a_resource_below_another_resource_is_reported() -> None:
    box = planned("gpu-ci:aws:Box", "box")
    key = planned(KEY, "key", parent=box.urn)
    below = planned(BUCKET, "below", parent=key.urn)

    assert list(laws.every_resource_is_below_a_component(plan(box, key, below))) == [
        f"{below.urn} is below {KEY}, which is not a component"
    ]


def test_a_resource_without_a_provider_is_reported() -> None:
    ambient = record(small_stack_file(), program=_ambient)

    assert list(laws.every_resource_has_an_explicit_provider(ambient)) == [
        f"{URN}gpu-ci:aws:Box${KEY}::key has no provider"
    ]


def _ambient() -> None:
    Thing(KEY, "key", opts=ResourceOptions(parent=Box("box")))


@pytest.mark.parametrize("name", ["subnet-0", "1-subnet", "pool_2", "cuda-12.9", "image-v2"])
def test_an_index_or_a_version_in_a_name_is_reported(name: str) -> None:
    assert len(list(laws.no_name_contains_an_index_or_a_version(plan(planned(KEY, name))))) == 1


@pytest.mark.parametrize("name", ["pool-t4-spot", "private-us-west-2a", "ecr-us-west-2", "zone-us-central1-b", "s3"])
def test_a_number_with_a_meaning_is_allowed_in_a_name(name: str) -> None:
    assert list(laws.no_name_contains_an_index_or_a_version(plan(planned(KEY, name)))) == []


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        (KEY, {"values": {"githubToken": {"token": "x"}}}),
        (KEY, {"privateKey": "x"}),
        ("pulumi:providers:kubernetes", {"kubeconfig": "x"}),
        (SECRET, {"stringData": {"anything": "x"}}),
    ],
)
def test_a_credential_without_the_secret_mark_is_reported(type_: str, inputs: dict[str, object]) -> None:
    assert len(list(laws.every_credential_is_secret(plan(planned(type_, "it", inputs=inputs))))) == 1


def test_a_credential_inside_a_secret_value_is_allowed() -> None:
    whole = planned(SECRET, "it", inputs={"stringData": {"a": "x"}}, secret_paths=frozenset({"stringData"}))
    metadata = planned(KEY, "other", inputs={"metadataOptions": {"httpTokens": "required"}, "secretName": "x"})

    assert list(laws.every_credential_is_secret(plan(whole, metadata))) == []


def test_two_versions_of_the_runner_charts_are_reported() -> None:
    old = planned(laws.RELEASE, "arc", inputs={"chart": CONTROLLER, "version": "0.14.1"})
    new = planned(laws.RELEASE, "runner", inputs={"chart": SCALE_SET, "version": "0.14.2"})

    assert list(laws.both_runner_charts_have_one_version(plan(old, new))) == [
        "the runner charts have the versions 0.14.1, 0.14.2"
    ]


@pytest.mark.parametrize("missing", ["secret", "controller", "namespace", "nodes", "add-ons"])
def test_a_missing_dependency_in_the_order_is_reported(missing: str) -> None:
    nodes, dns = planned(NODES, "nodes"), planned("aws:eks/addon:Addon", "coredns")
    runs_on = {"nodes": nodes.urn, "add-ons": dns.urn}
    waits = tuple(urn for what, urn in runs_on.items() if what != missing)
    provider = planned("pulumi:providers:kubernetes", "k8s", dependencies=waits)
    inside = {"provider": provider.urn}
    namespace = planned(NAMESPACE, "arc", inputs={"metadata": {"name": "arc"}}, **inside)
    controller = planned(
        laws.RELEASE,
        "arc",
        inputs={"chart": CONTROLLER, "namespace": "arc"},
        dependencies=() if missing == "namespace" else (namespace.urn,),
        **inside,
    )
    secret = planned(
        SECRET,
        "app",
        inputs={"metadata": {"namespace": "arc"}},
        dependencies=() if missing == "controller" else (controller.urn,),
        **inside,
    )
    runner = planned(
        laws.RELEASE,
        "runner",
        inputs={"chart": SCALE_SET},
        dependencies=() if missing == "secret" else (secret.urn,),
        **inside,
    )
    whole = plan(nodes, dns, provider, namespace, controller, secret, runner)

    broken = list(laws.workloads_are_destroyed_before_their_dependencies(whole))

    pairs = {"secret": (secret, runner), "controller": (controller, secret)}
    pairs |= {"namespace": (namespace, controller), "nodes": (nodes, namespace)}
    gaps = [(dns, controller), (dns, runner)] if missing == "add-ons" else [pairs[missing]]
    assert broken == [f"{after.urn} may be destroyed before {before.urn}" for after, before in gaps]


def test_a_key_without_protection_is_reported() -> None:
    key = planned(KEY, "key")

    assert list(laws.resources_with_data_or_identity_are_protected(plan(key))) == [f"{key.urn} is not protected"]


def test_a_circular_dependency_is_reported() -> None:
    first = planned(KEY, "first", dependencies=(f"{URN}{KEY}::second",))
    second = planned(KEY, "second", dependencies=(first.urn,))

    assert len(list(laws.no_dependency_is_circular(plan(first, second)))) == 1
