"""The refusals of the fake Google Cloud."""

from __future__ import annotations

import pytest

from fakes import gcp
from fakes.kinds import RefusedError
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
