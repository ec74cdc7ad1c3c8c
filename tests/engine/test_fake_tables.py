"""The tables of the fake clouds, checked against the classes of the SDKs."""

from __future__ import annotations

import keyword
import re
import sysconfig
from pathlib import Path

import pytest
from pulumi import _types

from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.paths import value_at, values_at
from ops.fakes.cloud.request import Place
from ops.fakes.tables import TABLE, computed, kind_of
from tests.ops.sdk import sdk_class

pytestmark = pytest.mark.pure

KINDS = [TABLE[type_] for type_ in sorted(TABLE)]
URN = "urn:pulumi:staging::gpu-ci::gpu-ci:aws:X$aws:x:X::name"


def test_every_answered_output_is_in_the_sdk() -> None:
    unknown = {
        type_: more
        for type_ in sorted(set(TABLE) - {"kubernetes:core/v1:Namespace"})
        if (
            more := set(computed(type_, "name", URN, {})[1])
            - set(_types.resource_py_to_pulumi_names(sdk_class(type_)).values())
        )
    }

    assert unknown == {}


def test_the_same_request_gets_the_same_answer() -> None:
    assert computed("aws:ec2/vpc:Vpc", "name", URN, {}) == computed("aws:ec2/vpc:Vpc", "name", URN, {})


def test_two_resources_get_different_ids() -> None:
    assert len({computed("aws:ec2/subnet:Subnet", name, URN + name, {})[0] for name in "abc"}) == 3


def test_a_scaling_group_has_the_name_that_eks_gives_it() -> None:
    inputs = {"clusterName": "gpu-ci", "nodeGroupName": "t4"}
    id_, outputs = computed("aws:eks/nodeGroup:NodeGroup", "name", URN, inputs)
    name = outputs["resources"][0]["autoscalingGroups"][0]["name"]

    assert re.fullmatch(r"eks-t4-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name)
    assert id_ == "gpu-ci:t4"


def test_an_answer_names_the_account_and_the_region_of_the_provider() -> None:
    settings = {"region": "eu-central-1", "allowedAccountIds": '["111122223333"]'}
    place = Place().with_provider("pulumi:providers:aws", settings)
    _, outputs = computed("aws:ecr/repository:Repository", "name", URN, {"name": "ci/cuda"}, place=place)

    assert outputs["repositoryUrl"] == "111122223333.dkr.ecr.eu-central-1.amazonaws.com/ci/cuda"


def test_the_id_of_a_kubernetes_object_is_its_namespace_and_name() -> None:
    inputs = {"metadata": {"name": "runner", "namespace": "arc"}}

    assert computed("kubernetes:core/v1:Secret", "name", URN, inputs)[0] == "arc/runner"


def wire_inputs(kind: Kind) -> set[str]:
    """Return the top-level inputs of a type, read from the SDK's source: importing it takes long."""
    package, path, name = kind.type.split(":")
    root = Path(sysconfig.get_path("purelib"), f"pulumi_{package.replace('-', '_')}")
    module = path.replace("helm.sh", "helm") if package == "kubernetes" else path.split("/")[0].replace("index", "")
    # A word of Python gets an underscore: pulumi_aws.lambda_.
    module += "_" * keyword.iskeyword(module)
    source = root / module / f"{name if package == 'kubernetes' else _snake(name)}.py"
    head = source.read_text().split("def _internal_init(", 1)[1].split("__props__", 1)[0]
    return {_camel(parameter) for parameter in re.findall(r"^ {17}(\w+):", head, re.MULTILINE)}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _camel(name: str) -> str:
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


def test_every_row_names_existing_inputs() -> None:
    unknown = {}
    for kind in KINDS:
        paths = [
            *kind.choices,
            *kind.max_lengths,
            *(reference.path for reference in kind.references),
            kind.delete_first,
        ]
        unknown[kind.type] = {path.split(".")[0] for path in paths if path} - wire_inputs(kind)

    assert {type_: inputs for type_, inputs in unknown.items() if inputs} == {}


def test_a_reference_names_a_type_with_a_row() -> None:
    named = {reference.to for kind in KINDS for reference in kind.references}

    assert sorted(named - set(TABLE)) == []


def test_a_type_that_can_be_blocked_has_an_error_for_it() -> None:
    held = {
        reference.to for kind in KINDS for reference in kind.references if reference.blocks and not reference.cascades
    }
    silent = {type_ for type_ in held if not kind_of(type_).in_use}

    # A role has a check of its own.
    assert silent == {"aws:iam/role:Role"} & silent


def test_a_type_without_a_row_is_an_error() -> None:
    with pytest.raises(LookupError, match="no row for the type aws:s3/object:Object"):
        kind_of("aws:s3/object:Object")


def test_any_kubernetes_type_has_a_row() -> None:
    assert kind_of("kubernetes:apps/v1:Deployment").type == "kubernetes:apps/v1:Deployment"


def test_a_path_walks_lists_and_skips_unknown_values() -> None:
    data = {"a": [{"b": 1}, {"b": None}, {"c": 2}, {"b": "[unknown]"}, {"b": 3}]}

    assert list(values_at("a.*.b", data)) == [("a[0].b", 1), ("a[4].b", 3)]


def test_a_path_selects_one_element_of_a_list() -> None:
    assert value_at("a.1.b", {"a": [{"b": 1}, {"b": 2}]}) == 2
