"""What the stand-in cluster refuses: its API, Helm, and the finalizers of runner scale sets."""

from __future__ import annotations

import pytest

from fakes.aws import names as aws
from fakes.kinds import RefusedError
from fakes.kubernetes import NAMESPACE, RELEASE, SECRET
from tests.engine.clouds import INSIDE, Hand

pytestmark = pytest.mark.pure

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CHARTS = "oci://ghcr.io/actions/actions-runner-controller-charts"


@pytest.fixture
def hand() -> Hand:
    return Hand()


def namespace(hand: Hand, name: str = "arc-runners") -> str:
    return hand.make(NAMESPACE, name, INSIDE, metadata={"name": name})


def release(hand: Hand, name: str, chart: str, **inputs: object) -> str:
    return hand.make(RELEASE, name, INSIDE, name=name, chart=f"{CHARTS}/{chart}", namespace="arc-runners", **inputs)


def scale_set(hand: Hand) -> str:
    """A scale set with everything it stands on."""
    hand.ready_cluster()
    namespace(hand)
    hand.make(SECRET, "app", INSIDE, metadata={"name": "github-app", "namespace": "arc-runners"})
    release(hand, "arc", "gha-runner-scale-set-controller")
    return release(hand, "gpu-t4", "gha-runner-scale-set", values={"githubConfigSecret": "github-app"})


def test_without_a_cluster_nobody_answers(hand: Hand) -> None:
    with pytest.raises(RefusedError, match="configured Kubernetes cluster is unreachable"):
        namespace(hand)


def test_who_was_not_let_in_is_unauthorized(hand: Hand) -> None:
    hand.cluster()
    with pytest.raises(RefusedError, match="Unauthorized"):
        namespace(hand)


def test_who_made_the_cluster_may_be_let_in_by_that_alone(hand: Hand) -> None:
    hand.cluster(accessConfig={"bootstrapClusterCreatorAdminPermissions": True})

    assert namespace(hand) == "arc-runners"


def test_an_object_in_no_namespace_is_refused(hand: Hand) -> None:
    hand.ready_cluster()
    with pytest.raises(RefusedError, match='namespaces "nowhere" not found'):
        hand.make(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "nowhere"})


def test_what_every_cluster_has_is_there(hand: Hand) -> None:
    hand.ready_cluster()

    assert (
        hand.make(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "kube-system"}) == "kube-system/one"
    )


def test_two_objects_of_a_kind_do_not_share_a_name_in_a_namespace(hand: Hand) -> None:
    hand.ready_cluster()
    metadata = {"name": "hooks", "namespace": "default"}
    hand.make(CONFIG_MAP, "one", INSIDE, metadata=metadata)
    hand.make(SECRET, "one", INSIDE, metadata=metadata)
    with pytest.raises(RefusedError, match='configmaps "hooks" already exists'):
        hand.make(CONFIG_MAP, "other", INSIDE, metadata=metadata)


def test_two_releases_do_not_share_a_name(hand: Hand) -> None:
    scale_set(hand)
    with pytest.raises(RefusedError, match="cannot re-use a name that is still in use"):
        hand.make(RELEASE, "again", INSIDE, name="gpu-t4", chart="x", namespace="arc-runners")


def test_helm_waits_for_a_node_that_is_not_there(hand: Hand) -> None:
    subnet = hand.cluster()
    hand.let_in()
    namespace(hand)
    hand.nodes(subnet, "gpu", taints=[{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}])
    with pytest.raises(RefusedError, match="timed out waiting for the condition"):
        release(hand, "arc", "gha-runner-scale-set-controller")

    assert release(hand, "arc", "gha-runner-scale-set-controller", skipAwait=True) == "arc-runners/arc"


def test_a_scale_set_without_its_controller_has_no_kind(hand: Hand) -> None:
    hand.ready_cluster()
    namespace(hand)
    with pytest.raises(RefusedError, match='no matches for kind "AutoscalingRunnerSet"'):
        release(hand, "gpu-t4", "gha-runner-scale-set")


@pytest.mark.parametrize(
    ("type_", "id_", "words"),
    [
        (RELEASE, "arc-runners/arc", "no controller is running"),
        (SECRET, "arc-runners/github-app", "secret github-app is gone"),
    ],
    ids=["controller", "secret"],
)
def test_a_scale_set_hangs_on_its_finalizer_once_what_signs_it_off_is_gone(
    hand: Hand, type_: str, id_: str, words: str
) -> None:
    made = scale_set(hand)
    hand.drop(type_, id_)
    with pytest.raises(RefusedError, match=f"autoscalingrunnerset.actions.github.com/finalizer .*{words}"):
        hand.drop(RELEASE, made)


def test_in_the_right_order_everything_goes(hand: Hand) -> None:
    hand.drop(RELEASE, scale_set(hand))
    for type_, id_ in ((SECRET, "arc-runners/github-app"), (RELEASE, "arc-runners/arc"), (NAMESPACE, "arc-runners")):
        hand.drop(type_, id_)

    assert [thing.id for thing in hand.cloud if thing.type.startswith("kubernetes:")] == []


def test_a_namespace_takes_along_what_it_holds(hand: Hand) -> None:
    hand.ready_cluster()
    made = namespace(hand)
    hand.make(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "arc-runners"})
    kept = hand.make(CONFIG_MAP, "two", INSIDE, metadata={"name": "two", "namespace": "default"})
    hand.drop(NAMESPACE, made)

    assert [thing.id for thing in hand.cloud.of(CONFIG_MAP)] == [kept]


def test_a_namespace_with_a_scale_set_hangs(hand: Hand) -> None:
    scale_set(hand)
    with pytest.raises(RefusedError, match="some content in the namespace has finalizers remaining"):
        hand.drop(NAMESPACE, "arc-runners")


def test_what_is_inside_a_cluster_goes_with_it(hand: Hand) -> None:
    """So that what is `deleted_with` the cluster leaves nothing behind."""
    hand.ready_cluster()
    namespace(hand)
    hand.drop(aws.NODE_GROUP, "ci:system")
    hand.drop(aws.CLUSTER, "ci")

    assert hand.cloud.of(NAMESPACE) == []
