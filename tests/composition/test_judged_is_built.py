"""What is judged is what is built: the facts that `gpu/` is asked about are those of the registered resources."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from composition import facts
from gpu.kubernetes.sharing import Sharing
from ops.plan.recorder import record
from tests.composition import built
from tests.config import stacks as files
from tests.plan import stacks

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.plan.model import Plan

pytestmark = pytest.mark.plan

POOLS = [(name, pool) for name in stacks.NAMES for pool in files.sections(name).get("gpu-pools", {})]
RUNNERS = [
    (name, runner)
    for name in stacks.NAMES
    for runner, stated in files.sections(name).get("runners", {}).items()
    if "arc" in stated
]
CLUSTERS = [name for name in stacks.NAMES if "cluster" in files.sections(name)]
STAGING = stacks.STAGING


def judged(name: str, pool: str) -> Any:
    settings = files.settings(name)
    return facts.node_group(pool, settings.gpu_pools[pool], settings, f"gpu-ci-{stacks.stack_file(name).name}")


@pytest.mark.parametrize(("name", "pool"), POOLS)
def test_a_pool_is_judged_as_it_is_built(name: str, pool: str) -> None:
    assert judged(name, pool) == built.node_group(stacks.planned(name), pool)


@pytest.mark.parametrize(("name", "runner"), RUNNERS)
def test_a_runner_is_judged_as_it_is_built(name: str, runner: str) -> None:
    settings = files.settings(name)
    stated = settings.runners[runner]
    assert stated.arc is not None
    known = facts.runner_facts(runner, stated, stated.arc, settings)
    release = stacks.planned(name).one(built.RELEASE, f"runner-{runner}").inputs["values"]

    assert known.pod == built.gpu_pod(stacks.planned(name), runner)
    assert known.pod.labels == built.gpu_pod(stacks.planned(name), runner).labels
    assert (known.min_runners, known.max_runners) == (release["minRunners"], release["maxRunners"])


@pytest.mark.parametrize("name", CLUSTERS)
def test_what_stands_on_a_node_is_judged_as_it_is_built(name: str) -> None:
    settings = files.settings(name)

    assert facts.device_plugin(settings) == built.device_plugin(stacks.planned(name))
    assert {each.name: each for each in facts.daemonsets(settings)} == built.daemonsets(stacks.planned(name))


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_autoscaler_may_ask_what_it_is_believed_to_ask(name: str) -> None:
    known = facts.autoscaler(files.settings(name))
    (policy,) = [
        each.inputs["policy"]
        for each in stacks.planned(name).of("aws:iam/rolePolicy:RolePolicy")
        if each.name == "autoscaler"
    ]

    assert known is not None
    assert known.describes_node_groups == ("eks:DescribeNodegroup" in policy)


def test_there_are_pools_and_runners_of_every_kind_to_hold_this_against() -> None:
    """Shared and not, tainted and not, with a pod of their own and not, with one pool and two."""
    shared = [judged(*each).sharing for each in POOLS]
    taints = [len(judged(*each).taints) for each in POOLS]
    runners = [files.settings(name).runners[runner].arc for name, runner in RUNNERS]

    assert any(shared)
    assert not all(shared)
    assert min(taints) == 1 < max(taints)
    assert {runner.container_mode for runner in runners if runner} == {"none", "kubernetes-novolume"}
    assert {runner.fallback is None for runner in runners if runner} == {True, False}


def test_a_pool_of_every_speciality_is_judged_as_it_is_built() -> None:
    """What no committed stack file asks for."""
    special = {
        "fast-image-pull": True,
        "sharing": {"mode": "mps", "replicas": 3},
        "taints": {"team": "vision:NoExecute"},
        "labels": {"example.org/tier": "a"},
        "scale-down-after-minutes": 3,
    }
    changes = {f"gpu-pools/t4-spot/{key}": value for key, value in special.items()}
    file = stacks.changed(STAGING, "gpu-pools", lambda pools: pools["t4-spot"].update(special))
    settings = files.settings(STAGING, changes)
    plan = record(file)
    facts_of = facts.node_group("t4-spot", settings.gpu_pools["t4-spot"], settings, "gpu-ci-staging")

    assert facts_of == built.node_group(plan, "t4-spot")
    assert facts_of.nvme_storage
    assert facts_of.sharing == Sharing(mode="mps", replicas=3)
    assert facts.device_plugin(settings) == built.device_plugin(plan)


def changed(plan: Plan, type_: str, name: str, change: Callable[[dict[str, Any]], object]) -> Plan:
    """The plan with the inputs of one resource changed."""
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
        (built.TEMPLATE, "pool-t4-spot", lambda template: template.update(imageId="ami-1")),
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
def test_a_pool_that_is_built_otherwise_is_noticed(type_: str, name: str, change: Callable[[Any], object]) -> None:
    plan = changed(stacks.planned(STAGING), type_, name, change)

    assert judged(STAGING, "t4-spot") != built.node_group(plan, "t4-spot")


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec["containers"][0]["resources"]["requests"].update(cpu="4"),
        lambda spec: spec["containers"][0]["resources"]["limits"].pop("nvidia.com/gpu"),
        lambda spec: spec["tolerations"].pop(),
        lambda spec: spec.pop("affinity"),
        lambda spec: spec.update(initContainers=[{"resources": {"requests": {"memory": "15Gi"}}}]),
    ],
)
def test_a_runner_that_is_built_otherwise_is_noticed(change: Callable[[Any], object]) -> None:
    settings = files.settings(STAGING)
    runner = settings.runners["gpu-t4"]
    assert runner.arc is not None

    def both(release: dict[str, Any]) -> None:
        spec = release["values"]["template"]["spec"]
        change(spec)
        # Of a GPU the limit alone counts as well, so that this alone would not be noticed.
        spec["containers"][0]["resources"]["requests"].pop("nvidia.com/gpu")

    plan = changed(stacks.planned(STAGING), built.RELEASE, "runner-gpu-t4", both)

    assert facts.gpu_pod("gpu-t4", runner, runner.arc, settings) != built.gpu_pod(plan, "gpu-t4")
