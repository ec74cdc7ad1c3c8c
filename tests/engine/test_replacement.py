"""The table of the changes that replace a resource."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.fakes.protocol.replacement import ADD, DELETE, SHRINK, UPDATE, paths, replaces, table
from ops.fakes.tables import TABLE
from tests.engine.test_fake_tables import wire_inputs

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
CLUSTER = "aws:eks/cluster:Cluster"


def declared() -> set[str]:
    """Return every type of a resource in a golden plan, without components and the stack."""
    urns = [line for file in sorted((ROOT / "tests/golden").glob("*.urns")) for line in file.read_text().splitlines()]
    types = {urn.split("::")[2].rpartition("$")[2] for urn in urns if urn.startswith("urn:")}
    return {type_ for type_ in types if not type_.startswith(("gpu-ci:", "pulumi:pulumi:"))}


def test_every_declared_type_has_a_row() -> None:
    assert len(declared()) > 60
    assert sorted({*declared(), *TABLE} - set(table())) == []


def test_every_row_belongs_to_a_type_that_the_fakes_or_a_stack_know() -> None:
    unused = {type_ for type_ in table() if not type_.startswith(("pulumi:providers:", "kubernetes:"))} - set(TABLE)

    assert unused == set()


@pytest.mark.parametrize("type_", sorted(table()))
def test_a_row_has_a_source_and_classifies_each_path_once(type_: str) -> None:
    row = table()[type_]
    lists = [row.get(key, ()) for key in ("replace", "conditional", "update", "unknown")]
    every = [path for one in lists for path in one]

    assert len(row["source"]) > 10 or row["source"] == "none"
    assert sorted(every) == sorted(set(every))
    assert {kind for kinds in row.get("conditional", {}).values() for kind in kinds} <= {ADD, DELETE, UPDATE, SHRINK}


@pytest.mark.parametrize(
    "kind", [kind for kind in TABLE.values() if table()[kind.type].get("update")], ids=lambda kind: kind.type
)
def test_a_full_row_classifies_every_input_of_the_type(kind: Any) -> None:
    row = table()[kind.type]
    tops = {path.split(".")[0] for key in ("replace", "conditional", "update", "unknown") for path in row.get(key, ())}

    assert sorted(wire_inputs(kind) - tops - {"opts", "resourceName", "metadata", "spec", "apiVersion", "kind"}) == []


@pytest.mark.parametrize(
    ("type_", "path", "kind", "replaced"),
    [
        ("aws:eks/nodeGroup:NodeGroup", "instanceTypes", UPDATE, True),
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
        ("kubernetes:core/v1:Secret", "stringData.key", UPDATE, True),
        ("kubernetes:core/v1:ConfigMap", "data.key", UPDATE, False),
        ("kubernetes:helm.sh/v3:Release", "values.replicas", UPDATE, False),
        ("kubernetes:helm.sh/v3:Release", "namespace", UPDATE, True),
        ("kubernetes:apps/v1:Deployment", "metadata.name", UPDATE, True),
        ("kubernetes:apps/v1:Deployment", "spec.replicas", UPDATE, False),
        ("pulumi:providers:kubernetes", "kubeconfig", UPDATE, False),
        ("pulumi:providers:kubernetes", "clusterIdentifier", UPDATE, True),
    ],
)
def test_a_change_replaces_where_the_provider_does(type_: str, path: str, kind: str, replaced: bool) -> None:
    assert replaces(type_, tuple(path.split(".")), kind) is replaced


networks = st.integers(0, 2**16 - 1).flatmap(
    lambda number: st.integers(8, 24).map(
        lambda bits: ipaddress.ip_network((0x0A000000 + (number << 8), bits), strict=False)
    )
)


@given(networks, networks)
def test_a_subnetwork_may_only_grow(old: ipaddress.IPv4Network, new: ipaddress.IPv4Network) -> None:
    inside = old.network_address >= new.network_address and old.broadcast_address <= new.broadcast_address

    assert replaces(SUBNETWORK, ("ipCidrRange",), UPDATE, str(old), str(new)) is not inside


def test_an_unknown_range_counts_as_another_one() -> None:
    assert replaces(SUBNETWORK, ("ipCidrRange",), UPDATE, "10.0.0.0/24", "[unknown]")


def test_a_type_of_kubernetes_without_a_row_is_replaced_by_its_name_only() -> None:
    assert paths("kubernetes:apps/v1:Deployment") == {"metadata.name", "metadata.namespace"}
