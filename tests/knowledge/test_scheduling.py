"""The filters refuse the pods that kube-scheduler refuses, with a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.gpu_names import GPU
from gpu_ci.knowledge.kubernetes.pods import Pod, Requirement, Taint, Toleration
from gpu_ci.knowledge.kubernetes.quantities import CPU, GIB, MEMORY, PODS, Resources
from gpu_ci.knowledge.kubernetes.scheduling import Node, landing, lands, refusals
from tests.knowledge.pools import ADD_ON_PODS, DEVICE_PLUGIN

pytestmark = pytest.mark.pure

ROOM = Resources.of({CPU: 4000, MEMORY: 16 * GIB, GPU: 1, PODS: 29})
BUNDLES = st.fixed_dictionaries(
    {CPU: st.integers(0, 6000), MEMORY: st.integers(0, 20 * GIB), GPU: st.integers(0, 3)}
).map(Resources.of)


def reasons(pod: Pod, node: Node, *others: Pod) -> list[str]:
    return [refusal.reason for refusal in refusals(pod, node, others=others)]


def test_a_pod_that_fits_is_not_refused() -> None:
    pod = Pod(requests=Resources.of({CPU: 4000, MEMORY: 16 * GIB, GPU: 1}))

    assert reasons(pod, Node(allocatable=ROOM)) == []


def test_other_pods_use_resources() -> None:
    pod = Pod(requests=Resources.of({CPU: 4000}))
    other = Pod(requests=Resources.of({CPU: 100}))

    assert reasons(pod, Node(allocatable=ROOM), other) == ["requests 4 CPU but 3.9 CPU is left"]


def test_a_resource_that_the_node_lacks_is_refused() -> None:
    pod = Pod(requests=Resources.of({"example.com/fpga": 1}))

    assert reasons(pod, Node(allocatable=ROOM)) == ["requests 1 example.com/fpga but 0 example.com/fpga is left"]


def test_a_pod_without_requests_still_needs_an_address() -> None:
    full = Node(allocatable=Resources.of({PODS: 2}))

    assert reasons(Pod(), full, Pod()) == []
    assert reasons(Pod(), full, Pod(), Pod()) == ["would be pod 3 on a node that takes 2 pods"]


@pytest.mark.parametrize(
    ("effect", "kept"), [("NoSchedule", 1), ("NoExecute", 1), ("PreferNoSchedule", 0), ("NO_SCHEDULE", 0)]
)
def test_only_the_two_hard_effects_refuse_a_pod(effect: str, kept: int) -> None:
    node = Node(allocatable=ROOM, taints=(Taint(key="nvidia.com/gpu", value="true", effect=effect),))

    assert len(refusals(Pod(), node)) == kept


def test_every_taint_must_be_tolerated() -> None:
    node = Node(allocatable=ROOM, taints=(Taint(key="a", value="1"), Taint(key="b")))
    pod = Pod(tolerations=(Toleration(key="a", operator="Exists"),))

    assert reasons(pod, node) == ["does not tolerate the taint b:NoSchedule"]


def test_the_reason_has_the_value_of_the_node() -> None:
    node = Node(allocatable=ROOM, labels={"pool": "l4"})

    assert reasons(Pod(node_selector=(("pool", "t4"), ("zone", "a"))), node) == [
        "selects pool=t4, but the node has pool=l4",
        "selects zone=a, but the node has no such label",
    ]


def test_one_term_of_an_affinity_is_enough() -> None:
    terms = ((Requirement(key="a", values=("1",)),), (Requirement(key="b", values=("1", "2")),))

    assert reasons(Pod(required=terms), Node(allocatable=ROOM, labels={"b": "2"})) == []


def test_all_requirements_of_a_term_must_match() -> None:
    term = (Requirement(key="a", values=("1",)), Requirement(key="b", values=("y", "z")))

    assert reasons(Pod(required=(term,)), Node(allocatable=ROOM, labels={"b": "x"})) == [
        "needs a node with a=1",
        "needs a node with b In y, z",
    ]


def test_an_affinity_without_a_term_matches_no_node() -> None:
    assert reasons(Pod(required=()), Node(allocatable=ROOM)) == [
        "has a node affinity without any term, which matches no node"
    ]


def test_the_device_plugin_needs_the_label_of_a_gpu_node() -> None:
    taint = (Taint(key="nvidia.com/gpu", value="true"),)

    assert lands(DEVICE_PLUGIN, Node(labels={"nvidia.com/gpu.present": "true"}, taints=taint)) == ()
    assert [
        refusal.subject for refusal in lands(DEVICE_PLUGIN, Node(labels={"nvidia.com/gpu": "true"}, taints=taint))
    ] == ["nvidia.com/gpu.present"]


def test_a_daemonset_gets_a_pod_on_a_node_without_room() -> None:
    assert landing(ADD_ON_PODS, Node()) == ADD_ON_PODS


@given(BUNDLES, BUNDLES, BUNDLES)
def test_a_larger_request_is_never_accepted_instead_of_a_smaller_one(
    room: Resources, asked: Resources, more: Resources
) -> None:
    node = Node(allocatable=room.with_amount(PODS, 1))

    assert refusals(Pod(requests=asked + more), node) or not refusals(Pod(requests=asked), node)


@given(BUNDLES, BUNDLES, BUNDLES)
def test_a_larger_node_never_refuses_a_pod_of_a_smaller_one(room: Resources, more: Resources, asked: Resources) -> None:
    small, large = (Node(allocatable=size.with_amount(PODS, 1)) for size in (room, room + more))

    assert refusals(Pod(requests=asked), small) or not refusals(Pod(requests=asked), large)
