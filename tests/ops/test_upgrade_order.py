"""The order of updates, and the combinations of versions that are refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.kubernetes.support import minor, skew
from ops.upgrades.order import Update, major, pinned, updates
from ops.upgrades.pins import (
    ARC_KINDS,
    AUTOSCALER_IMAGE,
    CLUSTER_KINDS,
    ORDER,
    Kind,
    Move,
    Pin,
    Row,
    moves,
    of_locks,
    of_resources,
    of_stack_file,
    used_packages,
)
from ops.upgrades.rules import refused
from tests.plan import stacks

CLUSTER = Pin(Kind.CONTROL_PLANE, "cluster")
POOL = Pin(Kind.NODE, "pool-t4")
PROXY = Pin(Kind.NODE_ADD_ON, "kube-proxy")
DNS = Pin(Kind.ADD_ON, "coredns")
AUTOSCALER = Pin(Kind.CHART, AUTOSCALER_IMAGE)
PLUGIN = Pin(Kind.CHART, "nvidia-device-plugin")
CONTROLLER = Pin(Kind.CONTROLLER, "gha-runner-scale-set-controller")
SET = Pin(Kind.SCALE_SET, "runner-gpu-t4")
AWS = Pin(Kind.PACKAGE, "pulumi-aws")


def versions(number: int) -> dict[Pin, str]:
    """The versions of a cluster of Kubernetes 1.`number`."""
    return {
        CLUSTER: f"1.{number}",
        POOL: f"1.{number}.2-20260714",
        PROXY: f"v1.{number}.0-eksbuild.1",
        DNS: f"v1.1{number}.0-eksbuild.1",
        AUTOSCALER: f"v1.{number}.1",
        PLUGIN: "0.20.0",
    }


def lookup(pin: Pin, version: str) -> str | None:
    """The version of a pin for a minor version, as `versions` has it."""
    return versions(minor(version)[1]).get(pin)


def updated(before: Mapping[Pin, str], after: Mapping[Pin, str]) -> tuple[Update, ...]:
    """The updates from one set of versions to another."""
    return updates(moves(before, after), lookup)


def faults(before: Mapping[Pin, str], after: Mapping[Pin, str]) -> list[str]:
    """The refused combinations as lines."""
    return [str(fault) for fault in refused(moves(before, after), before, after)]


numbers = st.integers(28, 40)
arcs = st.builds("0.{}.{}".format, st.integers(12, 16), st.integers(0, 3))
packages = st.builds("{}.{}.0".format, st.integers(6, 9), st.integers(0, 3))
charts = st.builds("0.{}.0".format, st.integers(17, 21))


def stack(number: int, arc: str, package: str, chart: str) -> dict[Pin, str]:
    """The versions of a whole stack."""
    return {**versions(number), CONTROLLER: arc, SET: arc, AWS: package, PLUGIN: chart}


stacks_of_versions = st.builds(stack, numbers, arcs, packages, charts)


@pytest.mark.pure
@given(stacks_of_versions, stacks_of_versions)
def test_the_updates_apply_every_version_in_order(before: dict[Pin, str], after: dict[Pin, str]) -> None:
    found = updated(before, after)
    reached = dict(before)
    for update in found:
        kinds = [ORDER.index(stage.kind) for stage in update.stages]
        assert kinds == sorted(set(kinds))
        for move in update.moves:
            assert reached[move.pin] == move.old
            reached[move.pin] = move.new
        planes = [move for move in update.moves if move.pin == CLUSTER]
        assert all(abs(skew(move.new, move.old)) == 1 or skew(after[CLUSTER], before[CLUSTER]) < 0 for move in planes)
        # Nodes are never newer than the control plane, and never more than one minor version behind it.
        assert 0 <= skew(reached[CLUSTER], reached[POOL]) <= 1
        if any(move.pin.kind in ARC_KINDS and move.old[:4] != move.new[:4] for move in update.moves):
            assert {move.pin.kind for move in update.moves} == set(ARC_KINDS)
    assert reached == after


@pytest.mark.pure
@given(stacks_of_versions, stacks_of_versions)
def test_exactly_the_steps_that_fail_are_refused(before: dict[Pin, str], after: dict[Pin, str]) -> None:
    found = faults(before, after)
    step = skew(after[CLUSTER], before[CLUSTER])
    arc = before[SET].split(".")[:2] != after[SET].split(".")[:2]
    package = before[AWS][0] != after[AWS][0]
    others = any(before[pin] != after[pin] for pin in after if pin != AWS)

    assert any("one minor version at a time" in line for line in found) == (step > 1)
    assert any("cannot take Kubernetes back" in line for line in found) == (step < 0)
    assert any("deletes every scale set" in line for line in found) == arc
    assert any("must show no other change" in line for line in found) == (package and others)
    assert bool(found) == (step not in {0, 1} or arc or (package and (others or after[AWS] < before[AWS])))


@pytest.mark.pure
@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({POOL: "1.36.2-20260714"}, "pool-t4: its nodes become newer (1.36.2-20260714) than the control plane 1.35"),
        ({POOL: "1.31.2-20260714"}, "pool-t4: its nodes become 4 minor versions older than the control plane 1.35"),
        ({PROXY: "v1.36.0-eksbuild.1"}, "kube-proxy: v1.36.0-eksbuild.1 does not run with Kubernetes 1.35"),
        ({PROXY: "v1.31.0-eksbuild.1"}, "kube-proxy: v1.31.0-eksbuild.1 does not run with Kubernetes 1.35"),
        ({AUTOSCALER: "v1.36.1"}, "autoscaler image: v1.36.1 has another minor version than Kubernetes 1.35"),
        (
            {CONTROLLER: "0.14.2", SET: "0.14.3"},
            "ARC_CHARTS: the charts of ARC have different versions (0.14.2, 0.14.3)",
        ),
    ],
)
def test_versions_that_do_not_fit_are_refused(changed: dict[Pin, str], line: str) -> None:
    assert [one.partition(":")[0] for one in faults(versions(35), {**versions(35), **changed})] == [
        line.partition(":")[0]
    ]
    assert faults(versions(35), {**versions(35), **changed})[0].startswith(line)


@pytest.mark.pure
def test_nodes_that_are_already_too_old_are_refused() -> None:
    before = {**versions(35), POOL: "1.32.2-20260714"}

    line = "pool-t4: its nodes are 4 minor versions older than the control plane 1.36; update the nodes first"
    assert faults(before, versions(36)) == [f"{line}; a kubelet may be 3 minor versions older"]


@pytest.mark.pure
def test_a_package_that_cannot_read_the_state_is_refused() -> None:
    line = "pulumi-aws: 8.0.0 has written the state, and 7.51.1 cannot read it; restore 8.0.0"
    assert faults({AWS: "8.0.0"}, {AWS: "7.51.1"}) == [f"{line}, or import a state that 7.51.1 wrote"]


@pytest.mark.pure
def test_two_minor_versions_are_two_updates_with_their_add_ons() -> None:
    found = updated(versions(35), {**versions(37), PLUGIN: "0.21.0"})

    assert [update.title for update in found] == ["Kubernetes 1.36", "Kubernetes 1.37"]
    assert [str(move) for move in found[0].moves] == [
        "cluster: 1.35 -> 1.36",
        "kube-proxy: v1.35.0-eksbuild.1 -> v1.36.0-eksbuild.1",
        "pool-t4: 1.35.2-20260714 -> 1.36.2-20260714",
        "coredns: v1.135.0-eksbuild.1 -> v1.136.0-eksbuild.1",
        "autoscaler image: v1.35.1 -> v1.36.1",
    ]
    assert "nvidia-device-plugin: 0.20.0 -> 0.21.0" in [str(move) for move in found[1].moves]


@pytest.mark.pure
def test_a_version_without_a_pin_is_named() -> None:
    found = updates(moves(versions(35), versions(37)), lambda _pin, _version: None)

    assert str(found[0].moves[1]) == (
        "kube-proxy: v1.35.0-eksbuild.1 -> a version for Kubernetes 1.36, which has no pin"
    )


@pytest.mark.pure
def test_an_existing_cluster_is_upgraded_by_its_own_program_first() -> None:
    found = updates(moves(versions(35), versions(36)), lookup, outside="existing cluster platform")

    assert found[0].before[0] == (
        "Upgrade the control plane of the existing cluster platform first, with the program that manages it."
    )


@pytest.mark.pure
def test_the_pins_of_this_checkout_are_known_by_kubernetes_version() -> None:
    assert [pinned(pin, "1.36") is None for pin in (POOL, PROXY, DNS, AUTOSCALER)] == [False] * 4
    assert [pinned(pin, "1.20") for pin in (POOL, PROXY, DNS, AUTOSCALER)] == [None] * 4


@pytest.mark.pure
def test_only_packages_that_the_stack_uses_are_compared() -> None:
    pins = of_locks(
        "pulumi==3.258.0 \\\n    --hash=x\npulumi-aws==7.51.1\npulumi-gcp==10.2.0\ngrpcio==1.0\n", "pulumi==1.0"
    )
    rows = [Row(type="aws:ec2/vpc:Vpc", name="network", inputs={})]

    assert {pin.name: version for pin, version in used_packages(pins, rows).items()} == {
        "pulumi": "3.258.0",
        "pulumi-aws": "7.51.1",
    }


@pytest.mark.pure
def test_the_stack_file_states_versions_by_path() -> None:
    config = {
        "gpu-ci:cluster": '{"version": "1.35", "existing": {"name": "platform"}}',
        "gpu-ci:host-image": '{"driver": "580", "cuda": "13.0", "family": "gpu-host"}',
        "gpu-ci:images": '{"gpu": {"cuda": "12.9", "runner": "2.337.0", "tag": "1"}}',
        "gpu-ci:runners": '{"a": {"needs": {"cuda": "12.9"}, "vm": {"driver": "580", "runner-version": "2.337.0"}}}',
    }

    assert {(pin.kind.name, pin.name) for pin in of_stack_file(config)} == {
        ("CONTROL_PLANE", "existing cluster platform"),
        ("MACHINE_IMAGE", "host-image.driver"),
        ("IMAGE", "host-image.cuda"),
        ("IMAGE", "images.gpu.cuda"),
        ("IMAGE", "images.gpu.tag"),
        ("RUNNER", "images.gpu.runner"),
        ("IMAGE", "runners.a.needs.cuda"),
        ("MACHINE_IMAGE", "runners.a.vm.driver"),
        ("RUNNER", "runners.a.vm.runner-version"),
    }


@pytest.mark.pure
def test_a_major_version_is_the_first_number() -> None:
    assert [major(Move(pin=AWS, old="7.51.1", new=new)) for new in ("7.52.0", "8.0.0")] == [False, True]


@pytest.mark.plan
def test_updates_have_the_order_of_the_program() -> None:
    """No resource of a kind depends on a resource of a later kind."""
    plan = stacks.planned(stacks.STAGING)
    kinds = {
        one.urn: pin.kind
        for one in plan
        for pin in of_resources([Row(type=one.type, name=one.name, inputs=one.inputs)])
    }
    needed = {one.urn: {*one.dependencies, one.provider, one.parent} for one in plan}
    reached: dict[str, set[str]] = {}
    for one in plan:
        reached[one.urn] = set().union(*(reached.get(urn, set()) | {urn} for urn in needed[one.urn]))

    assert {*CLUSTER_KINDS, *ARC_KINDS, Kind.CHART} <= set(kinds.values())
    for urn, kind in kinds.items():
        earlier = {kinds[other] for other in reached[urn] if other in kinds}
        assert all(ORDER.index(other) <= ORDER.index(kind) for other in earlier), urn
    nodes = [urn for urn, kind in kinds.items() if kind is Kind.NODE]
    assert all(any(kinds.get(other) is Kind.CONTROL_PLANE for other in reached[urn]) for urn in nodes)
