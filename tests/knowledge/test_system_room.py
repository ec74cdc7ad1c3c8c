"""The pods of the system nodes are compared with their room."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.checks.nodes.fit import place
from gpu_ci.checks.nodes.system_room import system_room
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod, SystemPods
from gpu_ci.knowledge.kubernetes.quantities import CPU, MEMORY, MIB, PODS, Resources
from gpu_ci.knowledge.verdict import Level, Verdict

pytestmark = pytest.mark.pure

DAEMONS = tuple(daemonset for add_on in ADD_ONS for daemonset in add_on.node_pods)
SYSTEM_PODS = tuple(pods for add_on in ADD_ONS for pods in add_on.system_pods)
(DNS,) = (pods for pods in SYSTEM_PODS if pods.name == "CoreDNS")


def group(*types: str, least: int = 1, most: int = 2) -> NodeGroupFacts:
    return NodeGroupFacts(
        path="system-nodes",
        name="system",
        instance_types=types,
        min_size=least,
        max_size=most,
        zones=("us-west-2a",),
        disk_gib=50,
    )


def pods(name: str, *, copies: int = 0, jobs: int = 0, cpu: int = 50, memory: int = 64) -> SystemPods:
    requests = Resources.of({CPU: cpu, MEMORY: memory * MIB})
    return SystemPods(name=name, pod=Pod(requests=requests), copies=copies, jobs=jobs)


def judged(nodes: NodeGroupFacts, *stated: SystemPods, grows: bool = True) -> Verdict:
    return system_room(nodes, stated, DAEMONS, grows=grows)


def test_the_add_ons_and_a_listener_fit_on_a_small_node() -> None:
    verdict = judged(group("t3.large"), *SYSTEM_PODS, pods("the listener of gpu-t4", copies=1))

    assert (verdict.level, verdict.reason) == (Level.OK, "7 system pods fit on 1 of 2 x t3.large")


def test_a_node_has_no_more_pods_than_addresses() -> None:
    """A t3.large takes 35 pods, 4 of them DaemonSets; CPU and memory are enough for more."""
    fits = judged(group("t3.large", most=1), pods("listener", copies=31, cpu=1, memory=1))
    over = judged(group("t3.large", most=1), pods("listener", copies=32, cpu=1, memory=1))

    assert fits.level is Level.OK
    assert (over.level, over.subject) == (Level.ERROR, "system-nodes")
    assert over.reason == "1 x t3.large has no room for listener"
    assert over.fix == "raise system-nodes.max to 2, or use a larger type"


def test_the_fix_for_a_pod_larger_than_a_node_is_a_larger_type() -> None:
    verdict = judged(group("t3.micro", most=50), DNS)

    assert verdict.reason == "50 x t3.micro have no room for 2 x CoreDNS"
    assert verdict.fix == "use a larger type: a t3.micro has 1.75 CPU, 184Mi of memory and room for 0 pods left"


def test_no_message_has_a_negative_amount() -> None:
    assert judged(group("t3.nano", most=50), DNS).fix == (
        "use a larger type: a t3.nano has 1.75 CPU, 0Mi of memory and room for 0 pods left"
    )


def test_pods_of_jobs_without_room_are_a_warning() -> None:
    runners = pods("runner of gpu-t4", copies=1, jobs=49, cpu=200, memory=512)
    verdict = judged(group("t3.large"), DNS, runners)

    assert verdict.level is Level.WARNING
    assert verdict.reason == "2 x t3.large have no room for 35 x runner of gpu-t4 while every runner has its jobs"
    assert verdict.fix == "raise system-nodes.max to 7, or use a larger type"
    assert judged(group("t3.large", most=7), DNS, runners).level is Level.OK


def test_without_an_autoscaler_only_the_minimum_of_nodes_counts() -> None:
    stated = pods("listener", copies=40, cpu=1, memory=1)

    assert judged(group("t3.large"), stated).level is Level.OK
    assert judged(group("t3.large"), stated, grows=False).fix == ("raise system-nodes.min to 2, or use a larger type")


def test_the_type_with_the_least_room_decides_in_any_order() -> None:
    stated = pods("listener", copies=31, cpu=1, memory=1)
    found = [judged(group(*types, most=1), stated) for types in (("t3.large", "t3.small"), ("t3.small", "t3.large"))]

    assert [verdict.reason for verdict in found] == ["1 x t3.small has no room for 24 x listener"] * 2


def test_a_long_list_of_pods_is_shortened() -> None:
    kinds = [pods(f"listener-{index}", copies=2, memory=900 - index) for index in range(5)]

    assert judged(group("t3.small", most=1), *kinds).reason == (
        "1 x t3.small has no room for listener-0, 2 x listener-1, 2 x listener-2 and 4 more"
    )


@settings(max_examples=60)
@given(
    kinds=st.lists(
        st.builds(
            pods,
            st.sampled_from(["a", "b", "c"]),
            copies=st.integers(0, 30),
            jobs=st.integers(0, 30),
            cpu=st.integers(0, 900),
            memory=st.integers(0, 3000),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_suggested_number_of_nodes_is_the_smallest_that_is_enough(kinds: list[SystemPods]) -> None:
    wide = judged(group("t3.large", most=9999), *kinds)
    needed = int(wide.reason.partition(" fit on ")[2].partition(" ")[0])
    room = place(group("t3.large"), group("t3.large").first, DAEMONS).left
    count = sum(kind.copies + kind.jobs for kind in kinds)
    asked = {
        resource: sum((kind.copies + kind.jobs) * kind.pod.requests[resource] for kind in kinds)
        for resource in (CPU, MEMORY)
    }

    assert wide.level is Level.OK
    assert all(asked[resource] <= needed * room[resource] for resource in asked)
    assert count <= needed * room[PODS]
    assert judged(group("t3.large", most=max(1, needed)), *kinds).level is Level.OK
    if needed > 1:
        assert judged(group("t3.large", most=needed - 1), *kinds).level is not Level.OK
