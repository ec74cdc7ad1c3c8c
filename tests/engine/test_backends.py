"""The state in a bucket of S3 or Cloud Storage, and the key that encrypts its secrets."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
import pytest

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.protocol.faults import Fault, FaultKind
from ops.state.state_check import note, read
from tests.engine import aws_server, gcs_server, programs
from tests.engine.programs import SECRET, stack_file

pytestmark = pytest.mark.engine

ALIAS: Final = "alias/bootstrap/gpu-ci-small"
REGION: Final = "us-west-2"
KEY: Final = f"awskms://{ALIAS}?region={REGION}"
STATE: Final = ".pulumi/stacks/gpu-ci/small.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A versioned bucket of S3, as `make bootstrap` creates it."""

    name: str
    s3: Any
    environment: Mapping[str, str]

    def objects(self) -> dict[str, str]:
        """Return the objects with their content."""
        keys = [one["Key"] for one in self.s3.list_objects_v2(Bucket=self.name).get("Contents", [])]
        return {key: self.s3.get_object(Bucket=self.name, Key=key)["Body"].read().decode() for key in keys}

    def versions(self) -> list[str]:
        """Return the versions of the state, the newest first."""
        found = self.s3.list_object_versions(Bucket=self.name, Prefix=STATE)["Versions"]
        return [one["VersionId"] for one in found if one["Key"] == STATE]


@pytest.fixture(scope="module")
def access() -> Iterator[dict[str, str]]:
    """The access to a local server of AWS, which has the key."""
    with aws_server.serve() as url:
        given = {
            "endpoint_url": url,
            "region_name": REGION,
            "aws_access_key_id": "key",
            "aws_secret_access_key": "secret",
        }
        kms = boto3.client("kms", **given)
        kms.create_alias(AliasName=ALIAS, TargetKeyId=kms.create_key()["KeyMetadata"]["KeyId"])
        yield given


@pytest.fixture
def key_access(access: dict[str, str]) -> dict[str, str]:
    """The environment with which the CLI uses the key."""
    return {
        "AWS_ACCESS_KEY_ID": access["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": access["aws_secret_access_key"],
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL_KMS": access["endpoint_url"],
        # The key replaces the passphrase.
        "PULUMI_CONFIG_PASSPHRASE": "",
    }


@pytest.fixture
def bucket(access: dict[str, str], key_access: dict[str, str], request: pytest.FixtureRequest) -> Bucket:
    """An empty bucket."""
    name = f"gpu-ci-{zlib.crc32(request.node.name.encode())}"
    s3: Any = boto3.client("s3", **access)
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    local = f"endpoint={access['endpoint_url'].removeprefix('http://')}&disableSSL=true&s3ForcePathStyle=true"
    url = f"s3://{name}?region={REGION}&{local}"
    return Bucket(name=name, s3=s3, environment={**key_access, "PULUMI_BACKEND_URL": url})


@pytest.fixture
def cloud_storage() -> Iterator[gcs_server.Server]:
    """A bucket at a local server."""
    with gcs_server.serve("gpu-ci-small-state") as server:
        yield server


def update_after_a_kill(engine: Engine, objects: Callable[[], Mapping[str, str]]) -> str:
    """Kill an update, remove its lock, and update again; return the content of the bucket."""
    engine.faults.arm(Fault(operation="create", type=aws.ROLE, kind=FaultKind.KILL))
    killed = engine.up()
    engine.faults.disarm()
    locks = [one for one in objects() if one.startswith(".pulumi/locks/")]
    refused = engine.up()
    engine.run("cancel", "--yes")
    update = engine.up()

    assert (killed.ok, len(locks), update.fault) == (False, 1, "")
    assert "the stack is currently locked by 1 lock(s)" in refused.fault
    return "".join(objects().values())


def test_a_stack_in_s3_is_encrypted_locked_and_versioned(cli: Found, bucket: Bucket, tmp_path: Path) -> None:
    exported = tmp_path / "state.json"
    with Engine(cli, stack_file(), programs.network, environment=bucket.environment, secrets_provider=KEY) as engine:
        text = update_after_a_kill(engine, bucket.objects)
        before = bucket.versions()[0]
        engine.run("stack", "export", "--file", str(exported))
        destroyed = engine.destroy()
        older = bucket.s3.get_object(Bucket=bucket.name, Key=STATE, VersionId=before)["Body"].read()
        bucket.s3.put_object(Bucket=bucket.name, Key=STATE, Body=older)
        restored = {resource.name for resource in engine.state().resources.values()}

    assert destroyed.fault == ""
    assert (SECRET in text, SECRET in exported.read_text(), "ciphertext" in text) == (False, False, True)
    assert note(read(exported)) == ""
    assert {"vpc", "subnet", "worker"} <= restored


def test_a_stack_in_cloud_storage_is_encrypted_and_locked(cli: Found, cloud_storage: gcs_server.Server) -> None:
    with Engine(cli, stack_file(), programs.network, environment=cloud_storage.environment) as engine:
        text = update_after_a_kill(engine, cloud_storage.objects)
        again = engine.preview()
        destroyed = engine.destroy()
        left = engine.state().resources

    assert (again.changes, destroyed.fault, dict(left)) == ((), "", {})
    assert (SECRET in text, "ciphertext" in text) == (False, True)
    assert (STATE in cloud_storage.objects(), f"{STATE}.bak" in cloud_storage.objects()) == (True, True)


def test_a_stack_moves_from_cloud_storage_to_s3(
    cli: Found, cloud_storage: gcs_server.Server, bucket: Bucket, key_access: dict[str, str], tmp_path: Path
) -> None:
    exported = tmp_path / "state.json"
    both = {**key_access, **cloud_storage.environment, "PULUMI_CONFIG_PASSPHRASE": "words"}
    with Engine(cli, stack_file(), programs.network, environment=both) as old:
        old.up()
        old.run("stack", "change-secrets-provider", KEY)
        old.run("stack", "export", "--file", str(exported))
        with Engine(cli, stack_file(), programs.network, environment=bucket.environment, secrets_provider=KEY) as new:
            for obj in old.cloud:
                new.cloud.restore(obj.type, obj.id, obj.urn, obj.inputs, obj.outputs, obj.caller)
            new.run("stack", "import", "--file", str(exported))
            preview = new.preview()
            state = bucket.objects()[STATE]
            destroyed = new.destroy()

    assert (preview.fault, preview.changes, destroyed.fault) == ("", (), "")
    assert (preview.counts, SECRET in state) == ({"same": 6}, False)


def test_secrets_move_from_a_passphrase_to_a_key(cli: Found, key_access: dict[str, str]) -> None:
    environment = {**key_access, "PULUMI_CONFIG_PASSPHRASE": "words"}
    with Engine(cli, stack_file(), programs.network, environment=environment) as engine:
        first = engine.up()
        engine.run("stack", "change-secrets-provider", KEY)
        settings = (engine.folder / "Pulumi.small.yaml").read_text()
        again = engine.preview()
        engine.destroy()

    assert (first.fault, again.fault, again.changes) == ("", "", ())
    assert f"secretsprovider: awskms://{ALIAS}" in settings
    assert ("encryptionsalt" in settings, SECRET in settings) == (False, False)
