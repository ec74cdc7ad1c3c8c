"""A pod template is read as the scheduler reads it."""

from __future__ import annotations

import pytest

from components.gpu_names import GPU
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.pods import Pod, Requirement, Taint, Toleration, pod_from_template
from gpu_ci.knowledge.kubernetes.quantities import CPU, GIB, MEMORY, Resources

pytestmark = pytest.mark.pure


def test_containers_add_up() -> None:
    containers = [{"resources": {"requests": one}} for one in ({"cpu": "3", "memory": "12Gi"}, {"cpu": "100m"})]

    assert pod_from_template({"spec": {"containers": containers}}).requests == Resources.of(
        {CPU: 3100, MEMORY: 12 * GIB}
    )


def test_a_limit_without_a_request_is_the_request() -> None:
    pod = pod_from_template(
        {"spec": {"containers": [{"resources": {"limits": {GPU: 1, "cpu": "4"}, "requests": {"cpu": "3"}}}]}}
    )

    assert (pod.requests[GPU], pod.requests[CPU]) == (1, 3000)


def test_selectors_tolerations_and_affinity_are_read() -> None:
    pod = pod_from_template(
        {
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
        required=((Requirement(key="zone", values=("a", "b")),),),
    )


def test_an_empty_template_requests_nothing() -> None:
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
def test_a_toleration_covers_the_taint_that_it_names(toleration: Toleration, tolerated: bool) -> None:
    assert toleration.tolerates(Taint(key="nvidia.com/gpu", value="true")) is tolerated


@pytest.mark.parametrize(("labels", "met"), [({"size": "5"}, True), ({"size": "7"}, False), ({}, False)])
def test_a_requirement_matches_any_of_its_values(labels: dict[str, str], met: bool) -> None:
    assert Requirement(key="size", values=("5", "6")).matches(labels) is met


@pytest.mark.parametrize(
    ("operator", "met"),
    [
        ("In", (True, False, False)),
        ("NotIn", (False, True, True)),
        ("Exists", (True, True, False)),
        ("DoesNotExist", (False, False, True)),
    ],
)
def test_an_expression_is_compared_according_to_its_operator(operator: str, met: tuple[bool, ...]) -> None:
    """A node with the value, with another value, and without the label."""
    expression = {"key": "size", "operator": operator, **({"values": ["5"]} if "In" in operator else {})}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    required = pod_from_template({"spec": {"affinity": affinity}}).required

    assert required is not None
    assert tuple(required[0][0].matches(labels) for labels in ({"size": "5"}, {"size": "7"}, {})) == met


def test_a_daemonset_pod_is_created_from_its_template() -> None:
    made = DaemonSet.of("logs", {"spec": {"containers": [{"resources": {"requests": {"cpu": "50m"}}}]}})

    assert (made.name, made.pod.requests[CPU]) == ("logs", 50)
