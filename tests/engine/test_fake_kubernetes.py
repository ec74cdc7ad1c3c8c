"""The refusals of the fake cluster: its API, Helm, and the finalizers of runner scale sets."""

from __future__ import annotations

import pytest

from ops.fakes.aws import names as aws
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.kubernetes import arc
from ops.fakes.kubernetes.arc import RELEASE, SECRET
from ops.fakes.kubernetes.resources import NAMESPACE
from tests.engine import jobs
from tests.engine.clouds import INSIDE, Client

pytestmark = pytest.mark.pure

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CHARTS = "oci://ghcr.io/actions/actions-runner-controller-charts"


@pytest.fixture
def client() -> Client:
    return Client()


def namespace(client: Client, name: str = "arc-runners") -> str:
    return client.create(NAMESPACE, name, INSIDE, metadata={"name": name})


def release(client: Client, name: str, chart: str, **inputs: object) -> str:
    return client.create(RELEASE, name, INSIDE, name=name, chart=f"{CHARTS}/{chart}", namespace="arc-runners", **inputs)


def scale_set(client: Client, strategy: str = "immediate", idle: int = 0) -> str:
    """Create a scale set with its cluster, controller and secret."""
    client.ready_cluster()
    namespace(client)
    client.create(SECRET, "app", INSIDE, metadata={"name": "github-app", "namespace": "arc-runners"})
    release(client, "arc", "gha-runner-scale-set-controller", values={"flags": {"updateStrategy": strategy}})
    return release(client, "gpu-t4", "gha-runner-scale-set", values=scale_set_values(idle))


def scale_set_values(idle: int, most: int = 2) -> dict[str, object]:
    return {"githubConfigSecret": "github-app", "minRunners": idle, "maxRunners": most}


def test_a_request_to_a_missing_cluster_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="configured Kubernetes cluster is unreachable"):
        namespace(client)


def test_a_request_without_access_is_refused(client: Client) -> None:
    client.cluster()
    with pytest.raises(RefusedError, match="Unauthorized"):
        namespace(client)


def test_the_creator_of_a_cluster_can_be_its_administrator(client: Client) -> None:
    client.cluster(accessConfig={"bootstrapClusterCreatorAdminPermissions": True})

    assert namespace(client) == "arc-runners"


def test_an_object_in_a_missing_namespace_is_refused(client: Client) -> None:
    client.ready_cluster()
    with pytest.raises(RefusedError, match='namespaces "nowhere" not found'):
        client.create(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "nowhere"})


def test_built_in_namespaces_exist(client: Client) -> None:
    client.ready_cluster()

    assert (
        client.create(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "kube-system"})
        == "kube-system/one"
    )


def test_two_objects_of_a_kind_cannot_have_the_same_name(client: Client) -> None:
    client.ready_cluster()
    metadata = {"name": "hooks", "namespace": "default"}
    client.create(CONFIG_MAP, "one", INSIDE, metadata=metadata)
    client.create(SECRET, "one", INSIDE, metadata=metadata)
    with pytest.raises(RefusedError, match='configmaps "hooks" already exists'):
        client.create(CONFIG_MAP, "other", INSIDE, metadata=metadata)


def test_two_releases_cannot_have_the_same_name(client: Client) -> None:
    scale_set(client)
    with pytest.raises(RefusedError, match="cannot re-use a name that is still in use"):
        client.create(RELEASE, "again", INSIDE, name="gpu-t4", chart="x", namespace="arc-runners")


def test_a_release_needs_a_ready_node(client: Client) -> None:
    subnet = client.cluster()
    client.grant_access()
    namespace(client)
    client.nodes(subnet, "gpu", taints=[{"key": "gpu", "value": "true", "effect": "NO_SCHEDULE"}])
    with pytest.raises(RefusedError, match="timed out waiting for the condition"):
        release(client, "arc", "gha-runner-scale-set-controller")

    assert release(client, "arc", "gha-runner-scale-set-controller", skipAwait=True) == "arc-runners/arc"


def test_a_scale_set_needs_its_controller(client: Client) -> None:
    client.ready_cluster()
    namespace(client)
    with pytest.raises(RefusedError, match='no matches for kind "AutoscalingRunnerSet"'):
        release(client, "gpu-t4", "gha-runner-scale-set")


@pytest.mark.parametrize(
    ("type_", "id_", "words"),
    [
        (RELEASE, "arc-runners/arc", "no controller is running"),
        (SECRET, "arc-runners/github-app", "secret github-app is missing"),
    ],
    ids=["controller", "secret"],
)
def test_a_scale_set_cannot_be_deleted_after_its_controller_or_secret(
    client: Client, type_: str, id_: str, words: str
) -> None:
    created = scale_set(client)
    client.delete(type_, id_)
    with pytest.raises(RefusedError, match=f"autoscalingrunnerset.actions.github.com/finalizer .*{words}"):
        client.delete(RELEASE, created)


def test_a_scale_set_can_be_deleted_before_its_controller_and_secret(client: Client) -> None:
    client.delete(RELEASE, scale_set(client))
    for type_, id_ in ((SECRET, "arc-runners/github-app"), (RELEASE, "arc-runners/arc"), (NAMESPACE, "arc-runners")):
        client.delete(type_, id_)

    assert [obj.id for obj in client.cloud if obj.type.startswith("kubernetes:")] == []


@pytest.mark.parametrize(
    ("strategy", "idle", "job", "during", "after"),
    [
        ("immediate", 0, False, True, True),
        ("immediate", 0, True, True, True),
        ("immediate", 1, True, True, True),
        ("eventual", 0, False, True, True),
        ("eventual", 0, True, False, True),
        ("eventual", 1, False, False, False),
        ("eventual", 1, True, False, False),
    ],
)
def test_a_change_keeps_the_listener_depending_on_the_strategy(
    client: Client, strategy: str, idle: int, *, job: bool, during: bool, after: bool
) -> None:
    """With `eventual` the listener waits for all runners, and an idle one never ends."""
    created = scale_set(client, strategy, idle)
    if job:
        jobs.start_job(client.cloud, "gpu-t4", minutes=30)
    inputs = {
        "name": "gpu-t4",
        "namespace": "arc-runners",
        "chart": f"{CHARTS}/gha-runner-scale-set",
        "values": scale_set_values(idle, most=3),
    }
    client.cloud.update(RELEASE, created, inputs)
    listens = arc.session_problem(client.cloud, "gpu-t4") is None
    jobs.finish_jobs(client.cloud)

    assert (listens, arc.session_problem(client.cloud, "gpu-t4") is None) == (during, after)


def test_a_scale_set_outlives_a_release_whose_removal_timed_out(client: Client) -> None:
    created = scale_set(client)
    jobs.start_job(client.cloud, "gpu-t4", minutes=30)
    with pytest.raises(RefusedError, match=r"context deadline exceeded: .*a job is running"):
        client.delete(RELEASE, created)
    with pytest.raises(RefusedError, match="Release not loaded: gpu-t4: release: not found"):
        client.delete(RELEASE, created)

    release(client, "gpu-t4", "gha-runner-scale-set", values=scale_set_values(0))
    assert arc.session_problem(client.cloud, "gpu-t4") == "gpu-t4 is still terminating"
    jobs.finish_jobs(client.cloud)
    assert arc.session_problem(client.cloud, "gpu-t4") == "gpu-t4 is not in the cluster"


def test_deleting_a_namespace_deletes_its_content(client: Client) -> None:
    client.ready_cluster()
    created = namespace(client)
    client.create(CONFIG_MAP, "one", INSIDE, metadata={"name": "one", "namespace": "arc-runners"})
    kept = client.create(CONFIG_MAP, "two", INSIDE, metadata={"name": "two", "namespace": "default"})
    client.delete(NAMESPACE, created)

    assert [obj.id for obj in client.cloud.of(CONFIG_MAP)] == [kept]


def test_a_namespace_with_a_scale_set_cannot_be_deleted(client: Client) -> None:
    scale_set(client)
    with pytest.raises(RefusedError, match="some content in the namespace has finalizers remaining"):
        client.delete(NAMESPACE, "arc-runners")


def test_deleting_a_cluster_deletes_its_content(client: Client) -> None:
    client.ready_cluster()
    namespace(client)
    client.delete(aws.NODE_GROUP, "ci:system")
    client.delete(aws.CLUSTER, "ci")

    assert client.cloud.of(NAMESPACE) == []
