"""The refusals of the fake clouds for state buckets, keys and the identity of pipelines."""

from __future__ import annotations

from typing import Final

import pytest

from ops.fakes.aws import names as aws
from ops.fakes.aws.state import OBJECTS
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.gcp import state as gcp_state
from ops.fakes.gcp.resources import BUCKET
from tests.engine.clouds import Client

pytestmark = pytest.mark.pure

GITHUB: Final = "https://token.actions.githubusercontent.com"


@pytest.fixture
def client() -> Client:
    return Client()


def test_an_account_has_one_provider_of_each_address(client: Client) -> None:
    client.create(aws.OIDC_PROVIDER, url=GITHUB)
    with pytest.raises(RefusedError, match=f"EntityAlreadyExists: Provider with url {GITHUB} already exists"):
        client.create(aws.OIDC_PROVIDER, "second", url=GITHUB)


def test_the_name_of_a_bucket_is_unique(client: Client) -> None:
    client.create(aws.BUCKET, bucket="gpu-ci-state")
    with pytest.raises(RefusedError, match=r"BucketAlreadyExists: .* gpu-ci-state"):
        client.create(aws.BUCKET, "second", bucket="gpu-ci-state")


def test_a_bucket_with_objects_is_not_deleted(client: Client) -> None:
    bucket = client.create(aws.BUCKET, bucket="gpu-ci-state")
    found = client.cloud.find(aws.BUCKET, bucket)
    assert found is not None
    found.outputs = {**found.outputs, OBJECTS: 1}
    with pytest.raises(RefusedError, match="BucketNotEmpty"):
        client.delete(aws.BUCKET, bucket)


def test_a_setting_of_a_missing_bucket_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="NoSuchBucket"):
        client.create("aws:s3/bucketVersioning:BucketVersioning", bucket="unknown")


def test_deleting_a_bucket_deletes_its_settings(client: Client) -> None:
    bucket = client.create(aws.BUCKET, bucket="gpu-ci-state")
    client.create("aws:s3/bucketVersioning:BucketVersioning", bucket="gpu-ci-state")
    client.delete(aws.BUCKET, bucket)

    assert client.cloud.remaining() == []


def test_a_policy_above_the_limit_is_refused(client: Client) -> None:
    client.create(aws.POLICY, policy="a" * 6144 + " " * 99)
    with pytest.raises(RefusedError, match="LimitExceeded: Cannot exceed quota for PolicySize: 6144"):
        client.create(aws.POLICY, "second", policy="a" * 6145)


def test_the_name_of_a_deleted_key_is_taken(client: Client) -> None:
    """Google Cloud keeps the names of keys forever."""
    ring = client.create(gcp_state.KEY_RING, name="state", location="us-central1")
    key = client.create(gcp_state.KEY, name="secrets", keyRing=ring)
    client.delete(gcp_state.KEY, key)
    with pytest.raises(RefusedError, match="Error 409: CryptoKey secrets already exists"):
        client.create(gcp_state.KEY, "again", name="secrets", keyRing=ring)


def test_a_grant_on_a_missing_bucket_is_refused(client: Client) -> None:
    with pytest.raises(RefusedError, match="Error 404: The specified bucket does not exist"):
        client.create("gcp:storage/bucketIAMMember:BucketIAMMember", bucket="unknown", role="x", member="y")
    client.create(BUCKET, name="known")
    client.create("gcp:storage/bucketIAMMember:BucketIAMMember", bucket="known", role="x", member="y")
