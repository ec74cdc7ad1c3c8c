"""What the stand-in Google Cloud refuses, and in which words."""

from __future__ import annotations

import pytest

from fakes import gcp as google
from fakes.kinds import RefusedError
from tests.engine.clouds import Hand

pytestmark = pytest.mark.pure

FIREWALL = "gcp:compute/firewall:Firewall"
INSTANCE = "gcp:compute/instance:Instance"
IMAGE_MEMBER = "gcp:compute/imageIamMember:ImageIamMember"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.mark.parametrize("by", ["id", "selfLink"])
def test_a_network_is_held_by_its_id_and_by_its_link(hand: Hand, by: str) -> None:
    made = hand.make(google.NETWORK, name="ci")
    network = hand.cloud.find(google.NETWORK, made)
    assert network is not None
    hand.make(FIREWALL, name="ci", network=network.at(by))
    with pytest.raises(RefusedError, match=r"is already being used by .* resourceInUseByAnotherResource"):
        hand.drop(google.NETWORK, made)


def test_two_networks_do_not_share_a_name(hand: Hand) -> None:
    hand.make(google.NETWORK, name="ci")
    with pytest.raises(RefusedError, match="Error 409: The resource 'ci' already exists, alreadyExists"):
        hand.make(google.NETWORK, "other", name="ci")


def test_the_name_of_a_deleted_pool_stays_taken(hand: Hand) -> None:
    """Google keeps a deleted pool for thirty days."""
    pool = hand.make(google.POOL, workloadIdentityPoolId="github")
    hand.drop(google.POOL, pool)
    with pytest.raises(RefusedError, match="Error 409: The resource 'github' already exists"):
        hand.make(google.POOL, "again", workloadIdentityPoolId="github")


def test_the_name_of_a_deleted_network_is_free(hand: Hand) -> None:
    first = hand.make(google.NETWORK, name="ci")
    hand.drop(google.NETWORK, first)

    assert hand.make(google.NETWORK, "again", name="ci") == first


def test_a_grant_goes_with_what_it_is_on(hand: Hand) -> None:
    image = hand.make(google.IMAGE, name="gpu")
    hand.make(IMAGE_MEMBER, image="gpu", role="roles/compute.imageUser", member="group:ci@example.com")
    hand.drop(google.IMAGE, image)

    assert hand.cloud.left() == []


def test_a_grant_on_no_account_is_refused(hand: Hand) -> None:
    with pytest.raises(RefusedError, match="Error 404: The resource 'nobody' was not found"):
        hand.make(ACCOUNT_MEMBER, serviceAccountId="nobody", role="roles/x", member="y")


@pytest.mark.parametrize("force", [True, False])
def test_a_bucket_with_objects_goes_only_by_force(hand: Hand, force: bool) -> None:
    bucket = hand.make(google.BUCKET, name="ci", forceDestroy=force)
    hand.make(google.BUCKET_OBJECT, name="a", bucket="ci")
    if not force:
        with pytest.raises(RefusedError, match="The bucket you tried to delete is not empty"):
            hand.drop(google.BUCKET, bucket)
        return
    hand.drop(google.BUCKET, bucket)

    assert hand.cloud.left() == []


@pytest.mark.parametrize(
    ("path", "value"),
    [("onHostMaintenance", "STOP"), ("provisioningModel", "PREEMPTIBLE"), ("instanceTerminationAction", "SUSPEND")],
)
def test_a_word_that_scheduling_does_not_know_is_refused(hand: Hand, path: str, value: str) -> None:
    with pytest.raises(RefusedError, match=f"expected scheduling.{path} to be one of .*got {value}"):
        hand.make(INSTANCE, name="vm", zone="us-central1-a", scheduling={path: value})
