"""Tags and labels are derived, so a stack file cannot misspell them. These tests change them in the recorded plan.

The facts are read from the registered resources, not from the stack file. Each tag and label is removed and misspelt in
turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from components.aws.nodes.taints import EFFECTS, ApiTaint
from components.gpu_names import GPU_PRESENT
from gpu_ci.checks.nodes.scale_from_zero import scale_from_zero
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod, pod_from_template
from gpu_ci.knowledge.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.plan.model import Plan, Planned
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.mistakes.saying import write

pytestmark = pytest.mark.plan

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
POOL: Final = "t4-on-demand"
RUNNER: Final = "gpu-t4-steady"
EVERYTHING: Final = {
    "gpu-pools": {POOL: {"sharing": {"mode": "time-slicing", "replicas": 2}, "taints": {"team": "vision:NoSchedule"}}},
    "runners": {RUNNER: {"needs": {"cpu": 1, "memory": "4Gi", "disk": "20Gi"}, "arc": {"max": 4}}},
}
"""A pool that shares its GPUs, with a taint of its own, for jobs that request disk: every tag is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The registered values of one pool and one runner."""

    group: NodeGroupFacts
    pod: Pod
    plugin: DaemonSet

    def judged(self, group: NodeGroupFacts | None = None) -> list[Verdict]:
        """Return the problems of the recorded pool, or of `group` instead."""
        found = scale_from_zero(f"runners.{RUNNER}", self.pod, group or self.group, plugin=self.plugin)
        return [verdict for verdict in found if verdict.level is not Level.OK]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder: Path = tmp_path_factory.mktemp("tampered")
    return record(read(write(EVERYTHING, folder)))


@pytest.fixture(scope="module")
def recorded(plan: Plan) -> Recorded:
    values = plan.one(RELEASE, "device-plugin").inputs["values"]
    spec = {"affinity": values["affinity"], "tolerations": values["tolerations"]}
    template = plan.one(RELEASE, f"runner-{RUNNER}").inputs["values"]["template"]
    return Recorded(
        group=facts(plan, plan.one(NODE_GROUP, f"pool-{POOL}")),
        pod=pod_from_template(template),
        plugin=DaemonSet.of("nvidia-device-plugin", {"spec": spec}),
    )


def facts(plan: Plan, made: Planned) -> NodeGroupFacts:
    """Return a recorded node group with the tags of its Auto Scaling group."""
    stated = made.inputs
    volume = plan.one("aws:ec2/launchTemplate:LaunchTemplate", made.name).inputs["blockDeviceMappings"][0]["ebs"]
    tags = [tag.inputs["tag"] for tag in plan.of("aws:autoscaling/tag:Tag") if tag.parent == made.parent]
    replicas = stated["labels"].get("nvidia.com/device-plugin.config", "").rpartition("-")[2]
    return NodeGroupFacts(
        path=f"gpu-pools.{made.name.removeprefix('pool-')}",
        name=made.name.removeprefix("pool-"),
        instance_types=tuple(stated["instanceTypes"]),
        min_size=int(stated["scalingConfig"]["minSize"]),
        max_size=int(stated["scalingConfig"]["maxSize"]),
        capacity_type=stated["capacityType"],
        zones=("us-west-2a",),
        disk_gib=int(volume["volumeSize"]),
        version=stated["version"],
        ami_type=stated["amiType"],
        labels=stated["labels"],
        taints=tuple(ApiTaint(**taint) for taint in stated["taints"]),
        tags=stated["tags"],
        asg_tags={tag["key"]: tag["value"] for tag in tags},
        shares=int(replicas) if replicas else 1,
    )


def tampered(group: NodeGroupFacts, where: str, key: str) -> Iterator[tuple[str, NodeGroupFacts]]:
    """Return the group without one entry of a mapping, and with that entry misspelt."""
    entries: Mapping[str, str] = getattr(group, where)
    rest = {name: value for name, value in entries.items() if name != key}
    for how, changed in (("dropped", rest), ("misspelt", {**rest, f"{key}x": entries[key]})):
        yield f"{where} {key} {how}", replace(group, **{where: changed})  # type: ignore[arg-type]  # a map of the group


def differences(group: NodeGroupFacts) -> list[str]:
    """Return the tags that differ from the node group. Tags and node group match in every pool of every stack."""
    labels = {f"{LABEL_TAG}{key}": value for key, value in group.labels.items()}
    taints = {f"{TAINT_TAG}{taint.key}": f"{taint.value}:{EFFECTS[taint.effect]}" for taint in group.taints}
    resources = {f"{RESOURCE_TAG}nvidia.com/gpu", f"{RESOURCE_TAG}ephemeral-storage"}
    stated = {**labels, **taints}
    return [
        f"{where}: {key}"
        for where, tags in (("node group", group.tags), ("auto-scaling group", group.asg_tags))
        for key in sorted({*stated, *tags, *resources})
        if (tags.get(key) != stated.get(key) if key not in resources else key not in tags)
    ]


def test_the_recorded_pool_passes(recorded: Recorded) -> None:
    assert recorded.judged() == []


def test_both_kinds_of_tags_state_every_label_and_taint_of_every_pool(plan: Plan) -> None:
    pools = [facts(plan, made) for made in plan.of(NODE_GROUP) if made.name.startswith("pool-")]

    assert len(pools) == 2
    # The auto-scaling group also has the tags of the stack, which its instances get.
    of_the_stack = [f"auto-scaling group: {key}" for key in ("CostCentre", "Team")]
    assert [differences(pool) for pool in pools] == [of_the_stack, of_the_stack]


@pytest.mark.parametrize("where", ["asg_tags", "tags", "labels"])
def test_a_changed_tag_or_label_differs_from_the_other(recorded: Recorded, where: str) -> None:
    entries = getattr(recorded.group, where)

    assert [
        name for key in entries for name, group in tampered(recorded.group, where, key) if not differences(group)
    ] == []


def test_without_its_label_an_older_node_gets_no_device_plugin(recorded: Recorded) -> None:
    older = replace(recorded.group, version="1.34")

    for _, group in tampered(older, "labels", GPU_PRESENT):
        (error,) = [verdict for verdict in recorded.judged(group) if verdict.level is Level.ERROR]
        assert "nvidia-device-plugin gets no pod" in error.reason
        assert error.fix.startswith(f"add the label {GPU_PRESENT}: true to gpu-pools.{POOL}")


def test_a_missing_tag_of_the_disk_is_reported(recorded: Recorded) -> None:
    tag = f"{RESOURCE_TAG}ephemeral-storage"
    asg_tags, tags = (
        {key: value for key, value in those.items() if key != tag}
        for those in (recorded.group.asg_tags, recorded.group.tags)
    )

    (verdict,) = recorded.judged(replace(recorded.group, asg_tags=asg_tags, tags=tags))
    assert f"with {tag}=" in verdict.fix


def test_a_missing_toleration_of_the_device_plugin_or_the_runner_is_reported(recorded: Recorded) -> None:
    bare = replace(recorded.plugin, pod=replace(recorded.plugin.pod, tolerations=()))
    strict = replace(recorded.pod, tolerations=())

    plugin, runner = replace(recorded, plugin=bare).judged(), replace(recorded, pod=strict).judged()
    assert [verdict.fix for verdict in plugin] == ["add tolerations for nvidia.com/gpu, team to nvidia-device-plugin"]
    assert all("add a toleration for nvidia.com/gpu to the runner" in verdict.fix for verdict in runner)
    assert [verdict.level for verdict in runner] == [Level.ERROR, Level.ERROR]
