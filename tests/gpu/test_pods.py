"""A pod template is read as the scheduler reads it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu.kubernetes.daemonsets import DaemonSet
from gpu.kubernetes.pods import Pod, Requirement, Taint, Toleration, pod_from_template
from gpu.kubernetes.quantities import CPU, GIB, GPU, MEMORY, MIB, Resources

pytestmark = pytest.mark.pure

CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"cpu": st.integers(0, 5000).map("{}m".format), "memory": st.integers(0, 99).map("{}Mi".format)}
    ),
    max_size=4,
)


def requests(*containers: dict[str, str], key: str = "containers", **more: Any) -> Resources:
    return pod_from_template(
        {"spec": {key: [{"resources": {"requests": asked}} for asked in containers], **more}}
    ).requests


def test_containers_add_up() -> None:
    assert requests({"cpu": "3", "memory": "12Gi"}, {"cpu": "100m", "memory": "64Mi"}) == Resources.of(
        {CPU: 3100, MEMORY: 12 * GIB + 64 * MIB}
    )


def test_a_limit_without_a_request_is_the_request() -> None:
    pod = pod_from_template(
        {"spec": {"containers": [{"resources": {"limits": {GPU: 1, "cpu": "4"}, "requests": {"cpu": "3"}}}]}}
    )

    assert (pod.requests[GPU], pod.requests[CPU]) == (1, 3000)


def test_an_init_container_counts_only_where_it_alone_asks_for_more() -> None:
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "1", "memory": "4Gi"}}}],
        "initContainers": [{"resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}],
    }

    assert pod_from_template({"spec": spec}).requests == Resources.of({CPU: 2000, MEMORY: 4 * GIB})


def test_a_sidecar_counts_throughout_and_under_the_init_containers_after_it() -> None:
    one = {"resources": {"requests": {"cpu": "1"}}}
    spec = {
        "containers": [one],
        "initContainers": [{**one, "restartPolicy": "Always"}, {"resources": {"requests": {"cpu": "1500m"}}}],
    }

    assert pod_from_template({"spec": spec}).requests[CPU] == 2500


def test_requests_of_the_whole_pod_stand_in_for_its_containers() -> None:
    asked = requests({"cpu": "1", "memory": "1Gi"}, resources={"requests": {"cpu": "4"}}, overhead={"cpu": "250m"})

    assert asked == Resources.of({CPU: 4250, MEMORY: GIB})


def test_where_the_pod_insists_on_going_is_kept() -> None:
    pod = pod_from_template(
        {
            "metadata": {"labels": {"app": "runner"}},
            "spec": {
                "nodeSelector": {"b": "2", "a": "1"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
                                {},
                            ]
                        }
                    }
                },
            },
        }
    )

    assert pod == Pod(
        node_selector=(("a", "1"), ("b", "2")),
        tolerations=(Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule"),),
        required=((Requirement(key="zone", operator="In", values=("a", "b")),),),
        labels=(("app", "runner"),),
    )
    assert pod.labels == (("app", "runner"),)


def test_a_template_that_states_nothing_asks_for_nothing() -> None:
    assert pod_from_template({}) == Pod()


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="nvidia.com/gpu", value="true", effect="NoSchedule"), True),
        (Toleration(key="nvidia.com/gpu", value="true"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(key="nvidia.com/gpu", value="t4", effect="NoSchedule"), False),
        (Toleration(key="nvidia.com/gpu", value="present", effect="NoSchedule"), False),
        (Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="gpu", operator="Exists"), False),
        (Toleration(key="nvidia.com/gpu", operator="Lt", value="true"), False),
    ],
)
def test_a_toleration_covers_what_it_names(toleration: Toleration, tolerated: bool) -> None:
    assert toleration.tolerates(Taint(key="nvidia.com/gpu", value="true")) is tolerated


@pytest.mark.parametrize(
    ("operator", "values", "met"),
    [
        ("In", ("5", "6"), True), ("In", ("6",), False), ("NotIn", ("6",), True), ("NotIn", ("5",), False),
        ("Exists", (), True), ("DoesNotExist", (), False), ("Gt", ("4",), True), ("Gt", ("5",), False),
        ("Lt", ("6",), True), ("Lt", ("5",), False), ("Lt", ("x",), False), ("Like", ("5",), False),
    ],
)  # fmt: skip
def test_a_requirement_is_met_as_kubernetes_says(operator: str, values: tuple[str, ...], met: bool) -> None:
    assert Requirement(key="size", operator=operator, values=values).matches({"size": "5"}) is met


@pytest.mark.parametrize(
    ("operator", "met"),
    [("In", False), ("NotIn", True), ("Exists", False), ("DoesNotExist", True), ("Gt", False), ("Lt", False)],
)
def test_a_missing_label_meets_only_what_denies_it(operator: str, met: bool) -> None:
    assert Requirement(key="size", operator=operator, values=("1",)).matches({}) is met


def test_a_daemonset_is_made_from_its_own_template() -> None:
    made = DaemonSet.of("logs", {"spec": {"containers": [{"resources": {"requests": {"cpu": "50m"}}}]}})

    assert (made.name, made.pod.requests[CPU]) == ("logs", 50)


@given(CONTAINERS, CONTAINERS)
def test_a_pod_asks_for_at_least_what_each_of_its_containers_asks_for(
    running: list[dict[str, str]], starting: list[dict[str, str]]
) -> None:
    def as_containers(asked: list[dict[str, str]]) -> list[dict[str, Any]]:
        return [{"resources": {"requests": one}} for one in asked]

    spec = {"containers": as_containers(running), "initContainers": as_containers(starting)}
    whole = pod_from_template({"spec": spec}).requests
    parts = [Resources.parse(one) for one in (*running, *starting)]

    assert all(whole[name] >= part[name] for part in parts for name in part.names)
    assert whole | requests(*running) == whole
