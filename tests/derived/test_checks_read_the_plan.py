"""The checks read the same facts that the registered resources have."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gpu_ci.back_ends.offer import SharedNodes
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import machine_groups
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.stack_file.identity import Identity
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.derived import built
from tests.plan import stacks
from tests.stack_file import stacks as files

pytestmark = pytest.mark.plan

OWN = [name for name in stacks.NAMES if "existing" not in files.sections(name).get("cluster", {})]
"""The stacks whose subnets and add-ons are in their plan."""
POOLS = [
    (name, pool)
    for name in OWN
    if "existing" not in files.sections(name).get("network", {})
    for pool in files.sections(name).get("gpu-pools", {})
]
RUNNERS = [
    (name, runner)
    for name in stacks.NAMES
    for runner, stated in files.sections(name).get("runners", {}).items()
    if "arc" in stated
]
CLUSTERS = [name for name in stacks.NAMES if "cluster" in files.sections(name)]
STAGING = stacks.STAGING


def stack(name: str, changes: Mapping[str, Any] | None = None) -> Stack:
    identity = Identity(project="gpu-ci", stack=stacks.stack_file(name).name)
    return stack_of(files.settings(name, changes or {}), identity)


def judged(name: str, pool: str, changes: Mapping[str, Any] | None = None) -> NodeGroupFacts:
    (found,) = [group for group in kubernetes.node_groups(stack(name, changes)) if group.name == pool]
    return found


def shared(name: str, runner: str) -> SharedNodes:
    found = stack(name).offers[runner].shared
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "pool"), POOLS)
def test_the_checks_read_a_pool_as_registered(name: str, pool: str) -> None:
    assert judged(name, pool) == built.node_group(stacks.planned(name), pool)


@pytest.mark.parametrize(("name", "runner"), RUNNERS)
def test_the_checks_read_a_runner_as_registered(name: str, runner: str) -> None:
    known = shared(name, runner)
    release = stacks.planned(name).one(built.RELEASE, f"runner-{runner}").inputs["values"]

    assert known.pod == built.gpu_pod(stacks.planned(name), runner)
    assert (known.idle, known.most) == (release["minRunners"], release["maxRunners"])


@pytest.mark.parametrize("name", [name for name in CLUSTERS if name in OWN])
def test_the_checks_read_daemonsets_as_they_are_registered(name: str) -> None:
    plugin, metrics = built.device_plugin(stacks.planned(name)), built.daemonsets(stacks.planned(name))

    assert {each.name: each for each in kubernetes.daemonsets(files.settings(name))} == {plugin.name: plugin, **metrics}


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_quota_counts_the_nodes_that_the_registered_update_strategy_starts(name: str) -> None:
    registered = {
        group.name.removeprefix("cpu-").removeprefix("pool-"): group.inputs
        for group in stacks.planned(name).of(built.GROUP)
    }
    surges = {
        group.path.rpartition(".")[2]: group.surge for group in machine_groups(stack(name)) if group.cloud is Cloud.AWS
    }

    assert surges == {
        key: 0 if one["updateConfig"].get("updateStrategy") == "MINIMAL" else 2 * len(one["subnetIds"])
        for key, one in registered.items()
    }


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_autoscaler_may_describe_node_groups(name: str) -> None:
    policy = stacks.planned(name).one("aws:iam/rolePolicy:RolePolicy", "autoscaler").inputs["policy"]

    assert "eks:DescribeNodegroup" in policy


def test_the_committed_stacks_have_pools_and_runners_of_every_kind() -> None:
    """With sharing, extra taints, a separate job pod and a fallback, and without."""
    slicing = [judged(*each).shares > 1 for each in POOLS]
    taints = [len(judged(*each).taints) for each in POOLS]
    runners = [shared(*each) for each in RUNNERS]

    assert any(slicing)
    assert not all(slicing)
    assert min(taints) == 1 < max(taints)
    assert {runner.waiting_pod is None for runner in runners} == {True, False}
    assert {len(runner.pools) for runner in runners} == {1, 2}


def test_the_checks_read_every_option_of_a_pool_as_it_is_registered() -> None:
    """No committed stack file uses these options together."""
    special = {
        "fast-image-pull": True,
        "sharing": {"mode": "time-slicing", "replicas": 3},
        "taints": {"team": "vision:NoExecute"},
        "labels": {"example.org/tier": "a"},
        "scale-down-after-minutes": 3,
    }
    changes = {f"gpu-pools/t4-spot/{key}": value for key, value in special.items()}
    file = stacks.changed(STAGING, "gpu-pools", lambda pools: pools["t4-spot"].update(special))
    settings = files.settings(STAGING, changes)
    plan = record(file)
    facts_of = judged(STAGING, "t4-spot", changes)

    assert facts_of == built.node_group(plan, "t4-spot")
    assert facts_of.nvme_storage
    assert facts_of.shares == 3
    assert kubernetes.plugin_daemonset(settings) == built.device_plugin(plan)


def changed(plan: Plan, type_: str, name: str, change: Callable[[dict[str, Any]], object]) -> Plan:
    """Return the plan with the inputs of one resource changed."""
    target = plan.one(type_, name)
    inputs = copy.deepcopy(dict(target.inputs))
    change(inputs)
    resources = tuple(replace(each, inputs=inputs) if each is target else each for each in plan)
    return replace(plan, resources=resources)


@pytest.mark.parametrize(
    ("type_", "name", "change"),
    [
        (built.GROUP, "pool-t4-spot", lambda group: group["labels"].pop("nvidia.com/gpu.present")),
        (built.GROUP, "pool-t4-spot", lambda group: group["taints"][0].update(effect="NO_EXECUTE")),
        (built.GROUP, "pool-t4-spot", lambda group: group["taints"][0].update(value="t4")),
        (built.GROUP, "pool-t4-spot", lambda group: group["tags"].popitem()),
        (built.GROUP, "pool-t4-spot", lambda group: group["scalingConfig"].update(maxSize=6)),
        (built.GROUP, "pool-t4-spot", lambda group: group["instanceTypes"].reverse()),
        (built.GROUP, "pool-t4-spot", lambda group: group["subnetIds"].pop()),
        (built.GROUP, "pool-t4-spot", lambda group: group.update(capacityType="ON_DEMAND")),
        (built.GROUP, "pool-t4-spot", lambda group: group.update(amiType="AL2023_x86_64_STANDARD")),
        (
            built.TEMPLATE,
            "pool-t4-spot",
            lambda template: template["blockDeviceMappings"][0]["ebs"].update(volumeSize=20),
        ),
        (
            "aws:autoscaling/tag:Tag",
            "pool-t4-spot-taint/nvidia.com/gpu",
            lambda tag: tag["tag"].update(value="true:NO_SCHEDULE"),
        ),
    ],
)
def test_a_change_of_a_registered_pool_is_detected(type_: str, name: str, change: Callable[[Any], object]) -> None:
    plan = changed(stacks.planned(STAGING), type_, name, change)

    assert judged(STAGING, "t4-spot") != built.node_group(plan, "t4-spot")


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec["containers"][0]["resources"]["requests"].update(cpu="4"),
        lambda spec: spec["containers"][0]["resources"]["limits"].pop("nvidia.com/gpu"),
        lambda spec: spec["tolerations"].pop(),
        lambda spec: spec.pop("affinity"),
    ],
)
def test_a_change_of_a_registered_runner_is_detected(change: Callable[[Any], object]) -> None:
    def both(release: dict[str, Any]) -> None:
        spec = release["values"]["template"]["spec"]
        change(spec)
        # The limit alone counts as a request of a GPU.
        spec["containers"][0]["resources"]["requests"].pop("nvidia.com/gpu")

    plan = changed(stacks.planned(STAGING), built.RELEASE, "runner-gpu-t4", both)

    assert shared(STAGING, "gpu-t4").pod != built.gpu_pod(plan, "gpu-t4")
