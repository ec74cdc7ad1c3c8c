"""Tags and labels follow from the stack file, so nobody can misspell one there: they are spoilt in the recorded plan.

Facts are read from the resources that would be made, not from the stack file, so that what is judged here is what EKS
and the autoscaler will be told. Each tag, label and taint is dropped and misspelt in its turn, wherever it stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pytest

from checks.scale_from_zero import scale_from_zero
from gpu.kubernetes.daemonsets import DaemonSet
from gpu.kubernetes.node_group import GPU_PRESENT, ApiTaint, NodeGroupFacts
from gpu.kubernetes.pods import Pod, pod_from_template
from gpu.kubernetes.sharing import Sharing
from gpu.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG, Autoscaler
from gpu.verdict import Level, Verdict
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.mistakes.saying import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ops.plan.model import Plan, Planned

pytestmark = pytest.mark.plan

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
POOL: Final = "t4-on-demand"
RUNNER: Final = "gpu-t4-steady"
EVERYTHING: Final = {
    "gpu-pools": {POOL: {"sharing": {"mode": "time-slicing", "replicas": 2}, "taints": {"team": "vision:NoSchedule"}}},
    "runners": {RUNNER: {"needs": {"cpu": 1, "memory": "4Gi", "disk": "20Gi"}, "arc": {"max": 4}}},
}
"""A pool that shares its GPUs, with a taint of its own, for jobs that ask for disk: everything hangs on some tag."""
DEAF: Final = Autoscaler(describes_node_groups=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the plan says of one pool and one runner."""

    group: NodeGroupFacts
    pod: Pod
    plugin: DaemonSet
    autoscaler: Autoscaler

    def judged(self, group: NodeGroupFacts | None = None, *, deaf: bool = False) -> list[Verdict]:
        """What is wrong with it, or with `group` in its pool's place."""
        found = scale_from_zero(
            f"runners.{RUNNER}",
            self.pod,
            group or self.group,
            plugin=self.plugin,
            autoscaler=DEAF if deaf else self.autoscaler,
        )
        return [verdict for verdict in found if verdict.level is not Level.OK]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder: Path = tmp_path_factory.mktemp("spoilt")
    return record(read(write(EVERYTHING, folder)))


@pytest.fixture(scope="module")
def recorded(plan: Plan) -> Recorded:
    values = plan.one(RELEASE, "device-plugin").inputs["values"]
    spec = {"affinity": values["affinity"], "tolerations": values["tolerations"]}
    template = plan.one(RELEASE, f"runner-{RUNNER}").inputs["values"]["template"]
    policy = json.loads(plan.one("aws:iam/rolePolicy:RolePolicy", "autoscaler").inputs["policy"])
    allowed = {action for statement in policy["Statement"] for action in statement["Action"]}
    return Recorded(
        group=facts(plan, plan.one(NODE_GROUP, f"pool-{POOL}")),
        pod=pod_from_template(template),
        plugin=DaemonSet.of("nvidia-device-plugin", {"spec": spec}),
        autoscaler=Autoscaler(describes_node_groups="eks:DescribeNodegroup" in allowed),
    )


def facts(plan: Plan, made: Planned) -> NodeGroupFacts:
    """A node group as it is recorded, with the tags that are put on its auto-scaling group."""
    stated = made.inputs
    volume = plan.one("aws:ec2/launchTemplate:LaunchTemplate", made.name).inputs["blockDeviceMappings"][0]["ebs"]
    tags = [tag.inputs["tag"] for tag in plan.of("aws:autoscaling/tag:Tag") if tag.parent == made.parent]
    mode, _, replicas = stated["labels"].get("nvidia.com/device-plugin.config", "").rpartition("-")
    return NodeGroupFacts(
        path=f"gpu-pools.{made.name.removeprefix('pool-')}",
        name=made.name.removeprefix("pool-"),
        cluster=stated["clusterName"],
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
        sharing=Sharing(mode=mode, replicas=int(replicas)) if mode else None,
    )


def spoilt(group: NodeGroupFacts, where: str, key: str) -> Iterator[tuple[str, NodeGroupFacts]]:
    """The group without one entry of a map of it, and with that entry misspelt."""
    entries: Mapping[str, str] = getattr(group, where)
    rest = {name: value for name, value in entries.items() if name != key}
    for how, changed in (("dropped", rest), ("misspelt", {**rest, f"{key}x": entries[key]})):
        yield f"{where} {key} {how}", replace(group, **{where: changed})  # type: ignore[arg-type]  # a map of the group


def untaught(group: NodeGroupFacts) -> list[str]:
    """Where tags and node group do not say the same: what holds for every pool of every stack."""
    labels = {f"{LABEL_TAG}{key}": value for key, value in group.labels.items()}
    effects = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
    taints = {f"{TAINT_TAG}{taint.key}": f"{taint.value}:{effects[taint.effect]}" for taint in group.taints}
    resources = {f"{RESOURCE_TAG}nvidia.com/gpu", f"{RESOURCE_TAG}ephemeral-storage"}
    told = {**labels, **taints}
    return [
        f"{where}: {key}"
        for where, tags in (("node group", group.tags), ("auto-scaling group", group.asg_tags))
        for key in sorted({*told, *tags, *resources})
        if (tags.get(key) != told.get(key) if key not in resources else key not in tags)
    ]


def test_the_recorded_pool_is_sound_however_the_autoscaler_learns_of_it(recorded: Recorded) -> None:
    assert recorded.autoscaler.describes_node_groups
    assert recorded.judged() == []
    assert recorded.judged(deaf=True) == []


def test_every_label_and_taint_of_every_pool_is_told_by_both_tags(plan: Plan) -> None:
    pools = [facts(plan, made) for made in plan.of(NODE_GROUP) if made.name.startswith("pool-")]

    assert len(pools) == 2
    assert [untaught(pool) for pool in pools] == [[], []]


@pytest.mark.parametrize("where", ["asg_tags", "tags", "labels"])
def test_no_tag_and_no_label_can_be_spoilt_without_the_other_telling(recorded: Recorded, where: str) -> None:
    entries = getattr(recorded.group, where)

    assert [name for key in entries for name, group in spoilt(recorded.group, where, key) if not untaught(group)] == []


def test_every_label_that_is_spoilt_turns_the_verdict(recorded: Recorded) -> None:
    # The node's own agent sets that one as well, from Kubernetes 1.35 on: nothing breaks.
    keys = [key for key in recorded.group.labels if key != GPU_PRESENT]

    silent = [
        name for key in keys for name, group in spoilt(recorded.group, "labels", key) if not recorded.judged(group)
    ]
    assert silent == []


def test_without_its_label_an_older_node_gets_no_device_plugin(recorded: Recorded) -> None:
    older = replace(recorded.group, version="1.34")

    for _, group in spoilt(older, "labels", GPU_PRESENT):
        (error,) = [verdict for verdict in recorded.judged(group) if verdict.level is Level.ERROR]
        assert "nvidia-device-plugin gets no pod" in error.reason
        assert error.fix.startswith(f"label the nodes of gpu-pools.{POOL} {GPU_PRESENT}: true")


def test_every_taint_that_is_spoilt_turns_the_verdict(recorded: Recorded) -> None:
    group = recorded.group
    changes = [
        tuple(other for other in group.taints if other != taint) + instead
        for taint in group.taints
        for instead in ((), (replace(taint, key=f"{taint.key}x"),), (replace(taint, value=None),))
    ]

    assert len(changes) == 6
    assert [taints for taints in changes if not recorded.judged(replace(group, taints=taints))] == []


def test_every_label_or_taint_tag_that_is_misspelt_turns_the_verdict(recorded: Recorded) -> None:
    keys = [key for key in recorded.group.asg_tags if key.startswith((LABEL_TAG, TAINT_TAG))]
    misspelt = {key: group for key in keys for name, group in spoilt(recorded.group, "asg_tags", key) if "miss" in name}

    assert [key for key, group in misspelt.items() if not recorded.judged(group)] == []
    assert [key for key, group in misspelt.items() if not recorded.judged(group, deaf=True)] == []


@pytest.mark.parametrize(
    "tag",
    [
        f"{LABEL_TAG}gpu-ci/pool",
        f"{TAINT_TAG}nvidia.com/gpu",
        f"{TAINT_TAG}team",
        f"{RESOURCE_TAG}nvidia.com/gpu",
        f"{RESOURCE_TAG}ephemeral-storage",
    ],
)
@pytest.mark.parametrize("how", ["dropped", "misspelt"])
def test_an_autoscaler_that_reads_tags_alone_names_the_tag_that_it_lacks(
    recorded: Recorded, tag: str, how: str
) -> None:
    changed = next(group for name, group in spoilt(recorded.group, "asg_tags", tag) if name.endswith(how))

    assert any(tag in verdict.fix for verdict in recorded.judged(changed, deaf=True))


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "ephemeral-storage"])
def test_a_resource_that_no_tag_states_turns_the_verdict(recorded: Recorded, resource: str) -> None:
    tag = f"{RESOURCE_TAG}{resource}"
    asg_tags, tags = (
        {key: value for key, value in those.items() if key != tag}
        for those in (recorded.group.asg_tags, recorded.group.tags)
    )

    (verdict,) = recorded.judged(replace(recorded.group, asg_tags=asg_tags, tags=tags))
    assert f"with {tag}=" in verdict.fix


def test_the_effect_as_the_api_spells_it_is_the_silent_trap_in_a_tag(recorded: Recorded) -> None:
    tag = f"{TAINT_TAG}nvidia.com/gpu"
    asg_tags = {**recorded.group.asg_tags, tag: "true:NO_SCHEDULE"}

    (verdict,) = recorded.judged(replace(recorded.group, asg_tags=asg_tags), deaf=True)
    assert verdict.level is Level.WARNING
    assert "write true:NoSchedule" in verdict.reason
    assert f"{tag}=true:NoSchedule" in verdict.fix


def test_without_a_toleration_the_device_plugin_or_the_runner_is_named(recorded: Recorded) -> None:
    bare = replace(recorded.plugin, pod=replace(recorded.plugin.pod, tolerations=()))
    strict = replace(recorded.pod, tolerations=())

    plugin, runner = replace(recorded, plugin=bare).judged(), replace(recorded, pod=strict).judged()
    assert [verdict.fix for verdict in plugin] == ["let nvidia-device-plugin tolerate nvidia.com/gpu, team"]
    assert all("let the runner tolerate nvidia.com/gpu" in verdict.fix for verdict in runner)
    assert [verdict.level for verdict in runner] == [Level.ERROR, Level.ERROR]
