"""The table of the changes that replace a resource, and the command that writes it from schemas."""

from __future__ import annotations

import importlib.metadata
import ipaddress
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.engine import pulumi_cli
from ops.fakes.protocol.replacement import ADD, DELETE, SHRINK, UPDATE, replaces, rows, rules
from ops.fakes.protocol.replacement import TABLE as FILE
from ops.fakes.tables import TABLE
from tests.engine.test_fake_tables import wire_inputs
from tools import replacement_table

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("replace", "update", "conditional")
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
CLUSTER = "aws:eks/cluster:Cluster"
LABEL = "github:index/issueLabel:IssueLabel"
CHANGES: tuple[tuple[str, str, str, bool], ...] = (
    ("aws:eks/nodeGroup:NodeGroup", "instanceTypes", UPDATE, True),
    ("aws:eks/nodeGroup:NodeGroup", "region", UPDATE, True),
    ("aws:eks/nodeGroup:NodeGroup", "launchTemplate.id", UPDATE, True),
    ("aws:eks/nodeGroup:NodeGroup", "launchTemplate.version", UPDATE, False),
    ("aws:eks/nodeGroup:NodeGroup", "launchTemplate", ADD, True),
    ("aws:eks/nodeGroup:NodeGroup", "launchTemplate", DELETE, False),
    ("aws:eks/nodeGroup:NodeGroup", "scalingConfig.maxSize", UPDATE, False),
    (CLUSTER, "encryptionConfig", ADD, False),
    (CLUSTER, "encryptionConfig", DELETE, True),
    (CLUSTER, "vpcConfig.subnetIds", ADD, False),
    (CLUSTER, "kubernetesNetworkConfig.serviceIpv4Cidr", UPDATE, True),
    ("aws:ecr/lifecyclePolicy:LifecyclePolicy", "policy", UPDATE, True),
    ("aws:iam/user:User", "name", UPDATE, False),
    ("gcp:compute/firewall:Firewall", "network", UPDATE, False),
    ("gcp:compute/firewall:Firewall", "direction", UPDATE, True),
    ("gcp:compute/image:Image", "labels.team", ADD, False),
    ("gcp:compute/instance:Instance", "bootDisk.initializeParams.image", UPDATE, True),
    ("gcp:compute/instance:Instance", "bootDisk.autoDelete", UPDATE, False),
    ("github:index/actionsVariable:ActionsVariable", "repository", UPDATE, True),
    ("kubernetes:core/v1:Secret", "stringData.key", UPDATE, True),
    ("kubernetes:core/v1:ConfigMap", "data.key", UPDATE, False),
    ("kubernetes:helm.sh/v3:Release", "values.replicas", UPDATE, False),
    ("kubernetes:helm.sh/v3:Release", "namespace", UPDATE, True),
    ("kubernetes:apps/v1:Deployment", "metadata.name", UPDATE, True),
    ("kubernetes:apps/v1:Deployment", "spec.replicas", UPDATE, False),
    ("pulumi:providers:kubernetes", "kubeconfig", UPDATE, False),
    ("pulumi:providers:kubernetes", "clusterIdentifier", UPDATE, True),
)


def declared() -> set[str]:
    """Return every type of a resource in a golden plan, without components and the stack."""
    urns = [line for file in sorted((ROOT / "tests/golden").glob("*.urns")) for line in file.read_text().splitlines()]
    types = {urn.split("::")[2].rpartition("$")[2] for urn in urns if urn.startswith("urn:")}
    return {type_ for type_ in types if not type_.startswith(("gpu-ci:", "pulumi:pulumi:"))}


def test_every_declared_type_has_a_row() -> None:
    known = {*rows(), *rules()}

    assert len(declared()) > 60
    assert [type_ for type_ in sorted({*declared(), *TABLE} - known) if not type_.startswith("kubernetes:")] == []


def test_every_row_has_a_known_type() -> None:
    others = ("pulumi:providers:", "kubernetes:")

    assert [type_ for type_ in {*rows(), *rules()} - {*TABLE, "aws:*"} if not type_.startswith(others)] == []


def test_the_table_matches_the_versions_of_the_locked_sdks() -> None:
    locked = {package: importlib.metadata.version(f"pulumi-{package}") for package in replacement_table.PACKAGES}

    stated = {package: block["version"] for package, block in json.loads(FILE.read_text()).items()}

    assert stated == locked, "run `make replacement-table` and read its diff"


def test_every_row_has_a_source_and_states_each_path_once() -> None:
    wrong = []
    for type_, row in (*rows().items(), *rules().items()):
        stated = [path for key in LISTS for path in row.get(key, ())]
        kinds = {kind for one in row.get("conditional", {}).values() for kind in one}
        unusable = {*row} - {"source", *LISTS} or kinds - {ADD, DELETE, UPDATE, SHRINK} or len(row["source"]) < 10
        if unusable or len(stated) != len(set(stated)):
            wrong.append(type_)

    assert wrong == []


def test_every_path_starts_with_an_input_of_the_sdk() -> None:
    unknown_paths = {
        type_: unknown
        for type_, row in (*rows().items(), *rules().items())
        if type_ in TABLE
        and (unknown := {path.split(".")[0] for key in LISTS for path in row.get(key, ())} - wire_inputs(TABLE[type_]))
    }

    assert unknown_paths == {}


def test_no_rule_repeats_the_table() -> None:
    repeated = {
        type_: same
        for type_, row in rules().items()
        if (same := {*row.get("replace", ())} & {*rows().get(type_, {}).get("replace", ())})
    }

    assert repeated == {}


def test_a_change_replaces_where_the_provider_does() -> None:
    wrong = [
        (type_, path, kind)
        for type_, path, kind, replaced in CHANGES
        if replaces(type_, tuple(path.split(".")), kind) is not replaced
    ]

    assert wrong == []


networks = st.integers(0, 2**16 - 1).flatmap(
    lambda number: st.integers(8, 24).map(
        lambda bits: ipaddress.ip_network((0x0A000000 + (number << 8), bits), strict=False)
    )
)


@given(networks, networks)
def test_a_subnetwork_may_only_grow(old: ipaddress.IPv4Network, new: ipaddress.IPv4Network) -> None:
    inside = old.network_address >= new.network_address and old.broadcast_address <= new.broadcast_address

    assert replaces(SUBNETWORK, ("ipCidrRange",), UPDATE, str(old), str(new)) is not inside


def test_an_unknown_range_counts_as_a_changed_range() -> None:
    assert replaces(SUBNETWORK, ("ipCidrRange",), UPDATE, "10.0.0.0/24", "[unknown]")


def test_a_type_of_kubernetes_without_a_row_is_replaced_by_its_name_only() -> None:
    deployment = "kubernetes:apps/v1:Deployment"

    assert replaces(deployment, ("metadata", "name"), UPDATE)
    assert replaces(deployment, ("metadata", "namespace"), UPDATE)
    assert not replaces(deployment, ("spec", "selector"), UPDATE)


def schema(**inputs: Any) -> dict[str, Any]:
    """Return a schema of the types of GitHub, with these inputs of a label."""
    types: dict[str, Any] = {type_: {"inputProperties": {}} for type_ in TABLE if type_.startswith("github:")}
    block = {"size": {"willReplaceOnChanges": True}, "color": {}}
    return {"resources": types | {LABEL: {"inputProperties": inputs}}, "types": {"block": {"properties": block}}}


def test_a_row_lists_the_marked_inputs_and_unmarked_inputs_below_them() -> None:
    block, mark = {"$ref": "#/types/block"}, {"willReplaceOnChanges": True}
    found = schema(name=mark, color={}, plain=block, marked={"type": "array", "items": block, **mark})

    assert replacement_table.row(found, LABEL) == {
        "replace": ["marked", "name", "plain.size"],
        "update": ["marked.color"],
    }


def test_the_command_replaces_the_rows_of_the_given_schemas(tmp_path: Path) -> None:
    table = tmp_path / "replacement.json"
    table.write_text(json.dumps({"aws": {"version": "1", "types": {}}, "github": {"version": "1", "types": {}}}))
    (tmp_path / "github.json").write_text(json.dumps(schema(name={"willReplaceOnChanges": True})))
    replacement_table.write(replacement_table.given(tmp_path), table)

    version = importlib.metadata.version("pulumi-github")
    source = f"schema of pulumi-github {version}"
    assert json.loads(table.read_text()) == {
        "aws": {"version": "1", "types": {}},
        "github": {"version": version, "types": {LABEL: {"source": source, "replace": ["name"]}}},
    }


def test_the_command_refuses_another_version_and_a_folder_without_schemas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replacement_table.main(["--schemas", str(tmp_path)]) == 3
    assert "contains none of aws.json, gcp.json, github.json" in capsys.readouterr().err
    (tmp_path / "github.json").write_text(json.dumps({**schema(), "version": "0.1.0"}))

    assert replacement_table.main(["--schemas", str(tmp_path)]) == 2
    assert "the schema of github has version 0.1.0; the SDK has" in capsys.readouterr().err


def test_the_pulumi_cli_gets_the_schema_of_the_locked_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = tmp_path / "pulumi"
    monkeypatch.setattr(
        pulumi_cli, "find", lambda _line: pulumi_cli.Found(path=cli, version="3", origin=pulumi_cli.Origin.PATH)
    )
    cli.write_text("#!/bin/sh\necho '{\"asked\": \"'$*'\"}'\n")
    cli.chmod(0o755)
    assert replacement_table.fetch("aws", "7.0.0") == {"asked": "package get-schema aws@7.0.0"}

    cli.write_text("#!/bin/sh\necho 'no such host' >&2\nexit 1\n")
    with pytest.raises(replacement_table.Missing, match="no such host; run `make replacement-table SCHEMAS=folder`"):
        replacement_table.fetch("aws", "7.0.0")


def test_the_committed_table_has_the_layout_of_the_command() -> None:
    text = FILE.read_text(encoding="utf-8")

    assert replacement_table.text(json.loads(text)) == text
