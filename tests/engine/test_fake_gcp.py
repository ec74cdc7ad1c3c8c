"""The refusals of the fake Google Cloud."""

from __future__ import annotations

from typing import Any

import pytest

from ops.fakes import github
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.gcp import machine_rules as gcp_rules
from ops.fakes.gcp import resources as gcp
from ops.fakes.gcp import services as gcp_services
from tests.engine.clouds import Client

pytestmark = pytest.mark.pure

FIREWALL = "gcp:compute/firewall:Firewall"
IMAGE_MEMBER = "gcp:compute/imageIamMember:ImageIamMember"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.parametrize("by", ["id", "selfLink"])
def test_a_network_in_use_by_id_or_link_cannot_be_deleted(client: Client, by: str) -> None:
    created = client.create(gcp.NETWORK, name="ci")
    network = client.cloud.find(gcp.NETWORK, created)
    assert network is not None
    client.create(FIREWALL, name="ci", network=network.at(by))
    with pytest.raises(RefusedError, match=r"is already being used by .* resourceInUseByAnotherResource"):
        client.delete(gcp.NETWORK, created)


def test_two_networks_cannot_have_the_same_name(client: Client) -> None:
    client.create(gcp.NETWORK, name="ci")
    with pytest.raises(RefusedError, match="Error 409: The resource 'ci' already exists, alreadyExists"):
        client.create(gcp.NETWORK, "other", name="ci")


def test_the_name_of_a_deleted_pool_is_taken(client: Client) -> None:
    """Google keeps a deleted pool for 30 days."""
    pool = client.create(gcp.POOL, workloadIdentityPoolId="github")
    client.delete(gcp.POOL, pool)
    with pytest.raises(RefusedError, match="Error 409: The resource 'github' already exists"):
        client.create(gcp.POOL, "again", workloadIdentityPoolId="github")


def test_the_name_of_a_deleted_network_is_free(client: Client) -> None:
    first = client.create(gcp.NETWORK, name="ci")
    client.delete(gcp.NETWORK, first)

    assert client.create(gcp.NETWORK, "again", name="ci") == first


def test_deleting_an_image_deletes_its_grants(client: Client) -> None:
    image = client.create(gcp.IMAGE, name="gpu")
    client.create(IMAGE_MEMBER, image="gpu", role="roles/compute.imageUser", member="group:ci@example.com")
    client.delete(gcp.IMAGE, image)

    assert client.cloud.remaining() == []


def test_a_grant_on_a_missing_account_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="Error 404: The resource 'unknown' was not found"):
        client.create(ACCOUNT_MEMBER, serviceAccountId="unknown", role="roles/x", member="y")


@pytest.mark.parametrize(
    ("path", "value"),
    [("onHostMaintenance", "STOP"), ("provisioningModel", "PREEMPTIBLE"), ("instanceTerminationAction", "SUSPEND")],
)
def test_an_unknown_scheduling_value_is_refused(client: Client, path: str, value: str) -> None:
    with pytest.raises(RefusedError, match=f"expected scheduling.{path} to be one of .*got {value}"):
        client.create(gcp.INSTANCE, name="vm", zone="us-central1-a", scheduling={path: value})


MACHINE: dict[str, Any] = {
    "name": "vm",
    "zone": "us-central1-b",
    "machineType": "g2-standard-4",
    "bootDisk": {
        "initializeParams": {"image": "projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-amd64-v20260918"}
    },
    "scheduling": {
        "automaticRestart": True,
        "instanceTerminationAction": "STOP",
        "maxRunDuration": {"seconds": 3600},
        "onHostMaintenance": "TERMINATE",
    },
}
T4 = {"machineType": "n1-standard-4", "guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 1}]}


def scheduled(**other: Any) -> dict[str, Any]:
    return {"scheduling": {**MACHINE["scheduling"], **other}}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (scheduled(onHostMaintenance="MIGRATE"), "guest accelerators do not support live migration"),
        ({**T4, **scheduled(onHostMaintenance="MIGRATE")}, "guest accelerators do not support live migration"),
        (scheduled(preemptible=True), "automaticRestart be false when preemptible is true"),
        (scheduled(instanceTerminationAction=None), "must specify an instance termination action"),
        ({**T4, "zone": "us-central1-d"}, "acceleratorTypes/nvidia-tesla-t4' was not found"),
        (
            {"bootDisk": {"initializeParams": {"image": "projects/ubuntu-os-cloud/global/images/ubuntu-2404"}}},
            "ubuntu-2404' was not found",
        ),
        ({"resourcePolicies": "https://example.org/other"}, "other' was not found"),
    ],
)
def test_a_machine_that_compute_engine_cannot_start_is_refused(
    client: Client, change: dict[str, Any], error: str
) -> None:
    with pytest.raises(RefusedError, match=error):
        client.create(gcp.INSTANCE, **{**MACHINE, **change})


def test_a_valid_machine_is_created(client: Client) -> None:
    assert client.create(gcp.INSTANCE, **{**MACHINE, **T4}).endswith("/zones/us-central1-b/instances/vm")


def schedule(client: Client, region: str) -> str:
    """The self link of a new schedule."""
    found = client.cloud.find(
        gcp_rules.RESOURCE_POLICY, client.create(gcp_rules.RESOURCE_POLICY, name="day", region=region)
    )
    assert found is not None
    return str(found.at("selfLink"))


def test_a_schedule_of_another_region_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="must be in the region of the instance, not in us-east1"):
        client.create(gcp.INSTANCE, **MACHINE, resourcePolicies=schedule(client, "us-east1"))


def test_a_schedule_without_permission_for_the_agent_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match=r"needs to have \[compute.instances.start,compute.instances.stop\]"):
        client.create(gcp.INSTANCE, **MACHINE, resourcePolicies=schedule(client, "us-central1"))


def test_a_channel_that_an_alarm_uses_cannot_be_deleted(client: Client) -> None:
    channel = client.create(gcp_services.CHANNEL, type="email")
    client.create(gcp_services.ALERT, combiner="OR", notificationChannels=[channel])
    with pytest.raises(RefusedError, match="Cannot delete notification channel"):
        client.delete(gcp_services.CHANNEL, channel)


def test_an_alarm_on_a_metric_without_values_is_refused(client: Client) -> None:
    query = {"query": "custom_googleapis_com:gpu_ci_RunnerOnline == 1"}
    condition = {"conditionPrometheusQueryLanguage": query}
    with pytest.raises(RefusedError, match="Cannot find metric"):
        client.create(gcp_services.ALERT, combiner="OR", conditions=[condition])


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ({"variableName": "GITHUB_SWITCH", "repository": "vision"}, "422 Name can only contain"),
        ({"variableName": "SWITCH", "repository": "example-org/vision"}, "404 Not Found"),
    ],
)
def test_a_variable_that_github_does_not_accept_is_refused(client: Client, stated: dict[str, str], error: str) -> None:
    with pytest.raises(RefusedError, match=error):
        client.create(github.VARIABLE, **stated)


def test_two_variables_of_a_repository_cannot_have_the_same_name(client: Client) -> None:
    client.create(github.VARIABLE, variableName="SWITCH", repository="vision")
    with pytest.raises(RefusedError, match="409 Already exists"):
        client.create(github.VARIABLE, "other", variableName="SWITCH", repository="vision")
