"""Tests of the network policies: the connections of runners, jobs, the controller and the listeners."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from components.kubernetes.arc.network_policies import NetworkPolicies, NetworkPoliciesArgs
from components.kubernetes.namespaces import JOBS, RUNNERS, SYSTEMS
from ops.plan.model import Plan
from tests.components.made import made, waits_for
from tests.plan.stacks import STAGING, planned

pytestmark = pytest.mark.plan

POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NODE, DNS_POD, SERVICE, API, GITHUB, METADATA = (
    IPv4Address(text)
    for text in ("10.0.3.7", "10.0.3.8", "172.20.0.10", "172.20.0.1", "140.82.121.4", "169.254.169.254")
)
JOB: Mapping[str, str] = {"gpu-ci/runner": "gpu-t4"}
CREATOR: Mapping[str, str] = {"gpu-ci/runner": "gpu-t4", "gpu-ci/kubernetes-api": "true"}


@pytest.fixture(scope="module")
def plan() -> Plan:
    args = NetworkPoliciesArgs(
        runners_namespace=RUNNERS,
        systems_namespace=SYSTEMS,
        nodes=IPv4Network("10.0.0.0/16"),
        services=IPv4Network("172.20.0.0/16"),
        ports=(443, 80),
        jobs_namespace=JOBS,
    )
    return made(lambda here: NetworkPolicies("network-policies", args, here))


def reaches(plan: Plan, namespace: str, labels: Mapping[str, str], address: IPv4Address, port: int) -> bool:
    """Return whether a policy allows a TCP connection to an address that no selector matches."""
    return any(
        _in_block(peer["ipBlock"], address) and port in [one["port"] for one in rule["ports"]]
        for policy in plan.of(POLICY)
        if policy.inputs["metadata"]["namespace"] == namespace
        and policy.inputs["spec"]["podSelector"].get("matchLabels", {}).items() <= labels.items()
        for rule in policy.inputs["spec"]["egress"]
        for peer in rule["to"]
        if "ipBlock" in peer
    )


def _in_block(block: dict[str, Any], address: IPv4Address) -> bool:
    excluded = [IPv4Network(one) for one in block.get("except", [])]
    return address in IPv4Network(block["cidr"]) and not any(address in one for one in excluded)


@pytest.mark.parametrize(
    ("namespace", "labels", "address", "port", "allowed"),
    [
        (RUNNERS, JOB, GITHUB, 443, True),
        (RUNNERS, JOB, GITHUB, 80, True),
        (RUNNERS, JOB, GITHUB, 22, False),
        (RUNNERS, JOB, NODE, 443, False),
        (RUNNERS, JOB, NODE, 10250, False),
        (RUNNERS, JOB, SERVICE, 443, False),
        (RUNNERS, JOB, API, 443, False),
        (RUNNERS, JOB, METADATA, 80, False),
        (JOBS, JOB, GITHUB, 443, True),
        (JOBS, JOB, API, 443, False),
        (JOBS, JOB, METADATA, 80, False),
        (RUNNERS, CREATOR, API, 443, True),
        (RUNNERS, CREATOR, NODE, 443, True),
        (RUNNERS, CREATOR, NODE, 10250, False),
        (RUNNERS, CREATOR, SERVICE, 443, False),
        (RUNNERS, CREATOR, METADATA, 80, False),
        (SYSTEMS, {}, GITHUB, 443, True),
        (SYSTEMS, {}, API, 443, True),
        (SYSTEMS, {}, GITHUB, 80, False),
        (SYSTEMS, {}, METADATA, 80, False),
    ],
)
def test_a_pod_reaches_only_what_it_needs(
    plan: Plan, namespace: str, labels: Mapping[str, str], address: IPv4Address, port: int, *, allowed: bool
) -> None:
    assert reaches(plan, namespace, labels, address, port) is allowed


@pytest.mark.parametrize("namespace", [RUNNERS, SYSTEMS, JOBS])
def test_every_pod_of_a_namespace_has_a_policy_and_reaches_dns(plan: Plan, namespace: str) -> None:
    """A pod that no policy selects may make every connection."""
    (general,) = [
        policy.inputs["spec"]
        for policy in plan.of(POLICY)
        if policy.inputs["metadata"]["namespace"] == namespace and policy.inputs["spec"]["podSelector"] == {}
    ]
    (dns,) = [rule for rule in general["egress"] if {"protocol": "UDP", "port": 53} in rule["ports"]]

    assert general["policyTypes"] == ["Ingress", "Egress"]
    assert {"protocol": "TCP", "port": 53} in dns["ports"]
    assert dns["to"][0]["podSelector"]["matchLabels"] == {"k8s-app": "kube-dns"}


def test_nothing_connects_to_a_runner(plan: Plan) -> None:
    inside = [policy for policy in plan.of(POLICY) if policy.inputs["metadata"]["namespace"] == RUNNERS]

    assert [policy.inputs["spec"]["ingress"] for policy in inside] == [[], []]


def test_no_job_runs_before_the_policies_exist() -> None:
    plan = planned(STAGING)
    sets = [one for one in plan.of("kubernetes:helm.sh/v3:Release") if str(one.inputs["chart"]).endswith("-scale-set")]

    assert sets
    assert all(waits_for(plan, release, policy) for release in sets for policy in plan.of(POLICY))


def test_the_network_add_on_enforces_policies() -> None:
    """The add-on creates policies without an effect unless this value is set; it accepts text only."""
    (add_on,) = [one for one in planned(STAGING).of("aws:eks/addon:Addon") if one.inputs["addonName"] == "vpc-cni"]

    assert add_on.inputs["configurationValues"] == '{"enableNetworkPolicy": "true"}'
