"""An empty pool starts for its runner, or what is missing is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checks.scale_from_zero import scale_from_zero
from gpu.kubernetes.daemonsets import DaemonSet
from gpu.kubernetes.node_group import ApiTaint, NodeGroupFacts
from gpu.kubernetes.sharing import Sharing
from gpu.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG, Autoscaler
from gpu.verdict import Level
from tests.gpu.pools import DEAF, DEVICE_PLUGIN, POOL, TAGGED, judged, level, runner_pod

if TYPE_CHECKING:
    from gpu.kubernetes.pods import Pod

pytestmark = pytest.mark.pure

SHARED = replace(POOL, sharing=Sharing(mode="time-slicing", replicas=4))
COUNTED = replace(SHARED, tags={f"{RESOURCE_TAG}nvidia.com/gpu": "4"})
COUNTED_BY_GROUP = replace(
    TAGGED, sharing=SHARED.sharing, asg_tags={**TAGGED.asg_tags, f"{RESOURCE_TAG}nvidia.com/gpu": "4"}
)


def only(
    group: NodeGroupFacts, autoscaler: Autoscaler | None = None, *, pod: Pod | None = None
) -> tuple[str, str, str]:
    (verdict,) = judged(group, autoscaler, pod=pod)
    return verdict.subject, verdict.reason, verdict.fix


@pytest.mark.parametrize(
    ("group", "autoscaler"),
    [(POOL, Autoscaler()), (TAGGED, Autoscaler()), (TAGGED, DEAF), (COUNTED, Autoscaler()), (COUNTED_BY_GROUP, DEAF)],
)
def test_a_sound_pool_starts(group: NodeGroupFacts, autoscaler: Autoscaler) -> None:
    assert level(judged(group, autoscaler)) is Level.OK


def test_a_pool_without_nodes_and_without_an_autoscaler_never_starts() -> None:
    (verdict,) = scale_from_zero("runners.gpu-t4", runner_pod(), POOL, plugin=DEVICE_PLUGIN, autoscaler=None)

    assert (verdict.level, verdict.subject) == (Level.ERROR, "gpu-pools.t4-spot.min")
    assert "the stack has no autoscaler, so runners.gpu-t4 never gets one" in verdict.reason


def test_a_pool_with_nodes_but_no_autoscaler_stays_where_it_is() -> None:
    group = replace(POOL, min_size=1)
    (verdict,) = scale_from_zero("runners.gpu-t4", runner_pod(), group, plugin=DEVICE_PLUGIN, autoscaler=None)

    assert (verdict.level, verdict.subject) == (Level.WARNING, "gpu-pools.t4-spot.max")


def test_a_pool_of_fixed_size_needs_no_autoscaler() -> None:
    group = replace(POOL, min_size=5)

    (verdict,) = scale_from_zero("runners.gpu-t4", runner_pod(), group, plugin=DEVICE_PLUGIN, autoscaler=None)

    assert verdict.level is Level.OK
    assert verdict.reason == "gpu-pools.t4-spot always has its 5 nodes, and runners.gpu-t4 runs there"


def test_a_missing_label_tag_is_named_where_tags_are_all_there_is() -> None:
    verdicts = judged(replace(TAGGED, asg_tags={f"{TAINT_TAG}nvidia.com/gpu": "true:NoSchedule"}), DEAF)

    assert [verdict.level for verdict in verdicts] == [Level.ERROR]
    assert verdicts[0].fix.startswith(
        "tag the auto-scaling group of gpu-pools.t4-spot with "
        "k8s.io/cluster-autoscaler/node-template/label/gpu-ci/pool=t4-spot"
    )


def test_a_misspelt_label_tag_is_pointed_at() -> None:
    tags = {f"{LABEL_TAG}gpu-ci/pol": "t4-spot", f"{TAINT_TAG}nvidia.com/gpu": "true:NoSchedule"}

    assert f"(it has {LABEL_TAG}gpu-ci/pol=t4-spot)" in only(replace(TAGGED, asg_tags=tags), DEAF)[2]


def test_a_label_tag_with_another_value_is_told_its_value() -> None:
    tags = {**TAGGED.asg_tags, f"{LABEL_TAG}gpu-ci/pool": "t4"}

    assert (
        f"the tag {LABEL_TAG}gpu-ci/pool of gpu-pools.t4-spot is t4; it has to be t4-spot"
        in only(replace(TAGGED, asg_tags=tags), DEAF)[2]
    )


def test_a_taint_tag_in_the_spelling_of_the_api_is_the_silent_trap() -> None:
    tags = {**TAGGED.asg_tags, f"{TAINT_TAG}nvidia.com/gpu": "true:NO_SCHEDULE"}
    subject, reason, fix = only(replace(TAGGED, asg_tags=tags), DEAF)

    assert subject == "gpu-pools.t4-spot.taints"
    assert "the autoscaler does not see the taint nvidia.com/gpu=true:NoSchedule" in reason
    assert "write true:NoSchedule" in reason
    assert f"{TAINT_TAG}nvidia.com/gpu=true:NoSchedule" in fix


def test_a_taint_without_a_value_lets_the_autoscaler_buy_gpus_for_anybody() -> None:
    group = replace(POOL, taints=(ApiTaint(key="nvidia.com/gpu", effect="NO_SCHEDULE"),))

    assert "it has no value" in only(group)[1]
    assert only(group)[2] == "give the taint a value: nvidia.com/gpu=true:NoSchedule"


def test_an_effect_in_the_spelling_of_kubernetes_is_no_effect_of_the_api() -> None:
    group = replace(POOL, taints=(ApiTaint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),))
    verdicts = judged(group)

    assert ("write NO_SCHEDULE", Level.ERROR) in [(verdict.fix, verdict.level) for verdict in verdicts]


def test_a_label_that_nodes_lack_wastes_every_node() -> None:
    group = replace(TAGGED, labels={key: value for key, value in POOL.labels.items() if key != "gpu-ci/pool"})
    _, reason, fix = only(group, DEAF)

    assert "each node that is bought for it is wasted" in reason
    assert fix == "label gpu-pools.t4-spot gpu-ci/pool: t4-spot"


def test_the_label_of_2023_leaves_the_device_plugin_out() -> None:
    group = replace(POOL, labels={**POOL.labels, "nvidia.com/gpu.present": "no", "nvidia.com/gpu": "true"})
    subject, reason, fix = only(group)

    assert subject == "gpu-pools.t4-spot.labels"
    assert "their GPUs are never advertised" in reason
    assert fix.startswith("label the nodes of gpu-pools.t4-spot nvidia.com/gpu.present: true")


def test_the_node_labels_itself_for_the_plugin_from_kubernetes_135_on() -> None:
    labels = {key: value for key, value in POOL.labels.items() if key != "nvidia.com/gpu.present"}

    assert level(judged(replace(POOL, labels=labels))) is Level.ERROR
    assert level(judged(replace(POOL, labels=labels, version="1.35"))) is Level.OK


def test_a_taint_that_the_plugin_does_not_tolerate_leaves_it_out() -> None:
    group = replace(POOL, taints=(*POOL.taints, ApiTaint(key="team", value="ml", effect="NO_EXECUTE")))
    verdicts = judged(group, pod=runner_pod(tolerations=[{"operator": "Exists"}]))

    assert [(verdict.subject, verdict.fix) for verdict in verdicts] == [
        ("gpu-pools.t4-spot.taints", "let nvidia-device-plugin tolerate team")
    ]


def test_a_gpu_job_needs_a_device_plugin() -> None:
    (verdict,) = judged(POOL, plugin=None)

    assert verdict.fix == "add the device-plugin section"


def test_a_job_without_a_gpu_needs_none() -> None:
    pod = runner_pod(containers=[{"resources": {"requests": {"cpu": "1"}}}])

    assert level(judged(POOL, pod=pod, plugin=None)) is Level.OK


def test_a_runner_that_tolerates_another_value_is_told_of_the_taint() -> None:
    pod = runner_pod(tolerations=[{"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"}])

    assert [verdict.level for verdict in judged(POOL, pod=pod)] == [Level.ERROR, Level.ERROR]
    assert all("tolerate nvidia.com/gpu" in verdict.fix for verdict in judged(POOL, pod=pod))


def test_without_the_accelerator_label_the_autoscaler_starts_a_second_node() -> None:
    labels = {key: value for key, value in POOL.labels.items() if not key.startswith("k8s.")}
    (verdict,) = judged(replace(POOL, labels=labels))

    assert verdict.level is Level.WARNING
    assert verdict.fix == "label gpu-pools.t4-spot k8s.amazonaws.com/accelerator: nvidia-tesla-t4"


def test_a_job_in_the_second_zone_is_not_seen_from_the_first() -> None:
    pod = runner_pod(nodeSelector={"gpu-ci/pool": "t4-spot", "topology.kubernetes.io/zone": "us-west-2b"})

    assert only(POOL, pod=pod)[2] == (
        "list us-west-2b first in gpu-pools.t4-spot.zones: the autoscaler looks at the first zone only"
    )


def test_a_fraction_of_a_gpu_needs_a_tag() -> None:
    group = replace(POOL, instance_types=("g6f.xlarge",))

    assert f"{RESOURCE_TAG}nvidia.com/gpu=1 (EC2 counts the fraction of a GPU in g6f.xlarge as 0)" in only(group)[2]
    assert level(judged(replace(group, tags={f"{RESOURCE_TAG}nvidia.com/gpu": "1"}))) is Level.OK


def test_a_job_that_asks_for_disk_needs_a_tag() -> None:
    asked = {"cpu": "1", "ephemeral-storage": "100Gi"}
    pod = runner_pod(containers=[{"resources": {"requests": asked, "limits": {"nvidia.com/gpu": 1}}}])

    assert f"{RESOURCE_TAG}ephemeral-storage=" in only(POOL, pod=pod)[2]
    assert level(judged(replace(POOL, tags={f"{RESOURCE_TAG}ephemeral-storage": "179Gi"}), pod=pod)) is Level.OK


def test_sharing_without_a_tag_buys_too_many_nodes() -> None:
    subject, reason, fix = only(SHARED)

    assert subject == "gpu-pools.t4-spot.sharing"
    assert "has 1 nvidia.com/gpu where it has 4, so it starts more nodes than the jobs need" in reason
    assert fix == f"tag the node group of gpu-pools.t4-spot with {RESOURCE_TAG}nvidia.com/gpu=4"


def test_a_renamed_share_is_unknown_to_the_autoscaler_and_keeps_nodes_unready() -> None:
    group = replace(POOL, sharing=Sharing(mode="time-slicing", replicas=4, rename=True))
    verdicts = judged(group, pod=runner_pod(resource="nvidia.com/gpu.shared"))

    assert [verdict.level for verdict in verdicts] == [Level.ERROR, Level.WARNING]
    assert f"{RESOURCE_TAG}nvidia.com/gpu.shared=4" in verdicts[0].fix
    assert "unready for ever" in verdicts[1].reason


def test_asking_for_the_wrong_name_of_a_share_is_refused_by_the_real_node() -> None:
    group = replace(POOL, sharing=Sharing(mode="time-slicing", replicas=4, rename=True))

    assert any("ask for nvidia.com/gpu.shared" in verdict.fix for verdict in judged(group))


def test_asking_for_more_gpus_than_the_first_type_has_is_said_without_a_tag() -> None:
    verdicts = judged(POOL, pod=runner_pod(gpus=2))

    assert "ask for at most 1 nvidia.com/gpu" in verdicts[0].fix


def test_a_pool_that_keeps_a_node_is_not_judged_by_an_imagined_one() -> None:
    group = replace(POOL, min_size=1)

    assert level(judged(group, DEAF)) is Level.OK


def test_daemonsets_take_room_on_the_imagined_node_too() -> None:
    assert level(judged(POOL, pod=runner_pod(cpu="3720m"))) is Level.OK
    assert "asks for 3.73 CPU where 3.72 CPU is left" in only(POOL, pod=runner_pod(cpu="3730m"))[1]


def test_a_tag_for_a_taint_that_nodes_do_not_have_is_noticed() -> None:
    group = replace(TAGGED, asg_tags={**TAGGED.asg_tags, f"{TAINT_TAG}team": "ml:NoSchedule"})
    verdicts = judged(group, DEAF, pod=runner_pod(tolerations=[{"operator": "Exists"}]))

    assert [(verdict.level, verdict.subject) for verdict in verdicts] == [(Level.WARNING, "gpu-pools.t4-spot.taints")]


def test_an_effect_in_a_tag_that_only_begins_like_one_is_said_to_be_none() -> None:
    group = replace(TAGGED, asg_tags={**TAGGED.asg_tags, f"{TAINT_TAG}nvidia.com/gpu": "true:NoSchedules"})

    assert "NoSchedules is no effect that the scheduler knows" in judged(group, DEAF)[-1].reason
    assert "is no effect" not in judged(TAGGED, DEAF)[-1].reason


def test_a_tag_that_counts_too_many_gpus_starts_too_few_nodes() -> None:
    group = replace(SHARED, tags={f"{RESOURCE_TAG}nvidia.com/gpu": "8"})

    assert only(group)[1].endswith("has 8 nvidia.com/gpu where it has 4, so it starts fewer than they need")


def _spoilt(text: str, how: str, at: int) -> str:
    at %= len(text)
    return {
        "cut": text[:at] + text[at + 1 :],
        "double": text[:at] + text[at] + text[at:],
        "change": text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :],
    }[how]


def _respelt(tags: dict[str, str], key: str, spoil: tuple[bool, tuple[str, int]] | None) -> dict[str, str]:
    """The tags with one of them taken away, or misspelt in its key or its value."""
    kept = {name: value for name, value in tags.items() if name != key}
    if spoil is None:
        return kept
    in_key, (how, at) = spoil
    if not in_key:
        return {**kept, key: _spoilt(tags[key], how, at)}
    misspelt = _spoilt(key, how, at)
    # The autoscaler looks for its prefix anywhere in a key, so letters before it do no harm.
    assume(not misspelt.endswith(key))
    return {**kept, misspelt: tags[key]}


SPOILS = st.tuples(st.sampled_from(["cut", "double", "change"]), st.integers(0, 200))


@given(st.sampled_from(sorted(COUNTED_BY_GROUP.asg_tags)), st.one_of(st.none(), st.tuples(st.booleans(), SPOILS)))
def test_no_tag_can_be_lost_or_misspelt_unnoticed_where_tags_are_all_there_is(
    key: str, spoil: tuple[bool, tuple[str, int]] | None
) -> None:
    tags = _respelt(dict(COUNTED_BY_GROUP.asg_tags), key, spoil)

    assert level(judged(replace(COUNTED_BY_GROUP, asg_tags=tags), DEAF)) is not Level.OK


@given(st.sampled_from(sorted(POOL.labels)), st.one_of(st.none(), SPOILS))
def test_no_label_key_can_be_lost_or_misspelt_unnoticed_where_the_api_is_all_there_is(
    key: str, spoil: tuple[str, int] | None
) -> None:
    labels = dict(POOL.labels)
    value = labels.pop(key)
    if spoil is not None:
        labels[_spoilt(key, *spoil)] = value

    assert level(judged(replace(POOL, labels=labels))) is not Level.OK


@given(st.sampled_from(["gpu-ci/pool", "nvidia.com/gpu.present"]), SPOILS)
def test_no_label_value_that_matters_can_be_misspelt_unnoticed(key: str, spoil: tuple[str, int]) -> None:
    labels = {**POOL.labels, key: _spoilt(POOL.labels[key], *spoil)}

    assert level(judged(replace(POOL, labels=labels))) is not Level.OK


@given(st.sampled_from(["key", "value", "effect"]), st.one_of(st.none(), SPOILS))
def test_no_part_of_the_taint_can_be_lost_or_misspelt_unnoticed(part: str, spoil: tuple[str, int] | None) -> None:
    (taint,) = POOL.taints
    text = getattr(taint, part)
    spoilt = replace(taint, **{part: _spoilt(text, *spoil) if spoil else ""})
    pod = runner_pod(tolerations=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}])

    assert level(judged(replace(POOL, taints=(spoilt,)), pod=pod)) is not Level.OK


@given(st.sampled_from(sorted(COUNTED.tags)), st.one_of(st.none(), st.tuples(st.booleans(), SPOILS)))
def test_no_tag_of_the_node_group_can_be_lost_or_misspelt_unnoticed(
    key: str, spoil: tuple[bool, tuple[str, int]] | None
) -> None:
    tags = _respelt(dict(COUNTED.tags), key, spoil)

    assert level(judged(replace(COUNTED, tags=tags))) is not Level.OK


def test_letters_before_a_tags_prefix_do_no_harm_because_the_autoscaler_looks_for_it_anywhere() -> None:
    tags = {f"x{key}": value for key, value in TAGGED.asg_tags.items()}

    assert level(judged(replace(TAGGED, asg_tags=tags), DEAF)) is Level.OK


def test_the_plugin_is_judged_as_it_is_declared() -> None:
    anywhere = DaemonSet.of("plugin", {"spec": {"tolerations": [{"operator": "Exists"}]}})
    labels = {key: value for key, value in POOL.labels.items() if key != "nvidia.com/gpu.present"}

    assert level(judged(replace(POOL, labels=labels), plugin=anywhere)) is Level.OK


def test_a_pod_that_fits_nowhere_is_told_so_once_and_not_here() -> None:
    pod, roomy = runner_pod(cpu="40", gpus=2), runner_pod()

    assert [verdict.level for verdict in judged(POOL, pod=pod)] == [Level.ERROR, Level.ERROR]
    assert judged(POOL, pod=pod, fits=False) == []
    assert judged(POOL, pod=roomy, fits=False) == []


def test_what_else_is_wrong_with_a_pod_that_does_not_fit_is_told() -> None:
    pod = runner_pod(cpu="40", tolerations=[])

    found = judged(POOL, pod=pod, fits=False)

    assert [verdict.level for verdict in found] == [Level.ERROR, Level.ERROR]
    assert all("does not tolerate the taint" in verdict.reason for verdict in found)
    assert not any("CPU" in verdict.reason for verdict in found)


@pytest.mark.parametrize(
    ("nodes", "said"), [({}, "nodes of gpu-pools.t4-spot do not have it"), ({"role": "cpu"}, "have it as cpu")]
)
def test_a_label_that_only_a_tag_states_is_warned_of(nodes: dict[str, str], said: str) -> None:
    tagged = replace(TAGGED, labels={**POOL.labels, **nodes}, asg_tags={**TAGGED.asg_tags, f"{LABEL_TAG}role": "gpu"})

    (verdict,) = judged(tagged, DEAF)

    assert (verdict.level, verdict.subject) == (Level.WARNING, "gpu-pools.t4-spot.labels")
    assert verdict.reason.startswith("a tag tells the autoscaler of the label role=gpu")
    assert verdict.reason.endswith(said)


def test_a_tag_whose_label_eks_itself_corrects_is_believed_by_nobody() -> None:
    tagged = replace(
        TAGGED, labels={**POOL.labels, "role": "gpu"}, asg_tags={**TAGGED.asg_tags, f"{LABEL_TAG}role": "cpu"}
    )

    assert level(judged(tagged)) is Level.OK
