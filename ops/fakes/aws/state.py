"""S3 and the identity of pipelines: buckets with their settings, OpenID Connect providers, managed policies.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the API references of S3 and IAM for
refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.aws.names import BUCKET, KEY, OIDC_PROVIDER, POLICY
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import Created, Request

_OF_A_BUCKET: Final = Reference(
    "bucket", BUCKET, by="bucket", missing="NoSuchBucket: The specified bucket does not exist", cascades=True
)
OBJECTS: Final = "_objects"
"""The output with the number of objects in a bucket. Tests set it."""
_POLICY_LIMIT: Final = 6144


def _bucket(request: Request) -> Created:
    name = request.physical("bucket")
    domain = f"{name}.s3.amazonaws.com"
    return name, {
        "arn": f"arn:aws:s3:::{name}",
        "bucket": name,
        "bucketDomainName": domain,
        "bucketRegion": request.region,
    }


def _setting(request: Request) -> Created:
    return str(request.inputs.get("bucket", request.name)), {}


def _is_empty(_cloud: Objects, bucket: CloudObject) -> str | None:
    if bucket.outputs.get(OBJECTS) and not bucket.inputs.get("forceDestroy"):
        return "BucketNotEmpty: The bucket you tried to delete is not empty"
    return None


def _oidc_provider(request: Request) -> Created:
    host = str(request.inputs.get("url", "")).removeprefix("https://")
    arn = request.iam_arn(f"oidc-provider/{host}")
    return arn, {"arn": arn}


def _policy(request: Request) -> Created:
    name, path = request.physical(), request.inputs.get("path", "/")
    arn = request.iam_arn(f"policy{path}{name}")
    return arn, {"arn": arn, "name": name, "policyId": f"ANPA{request.upper(17)}", "attachmentCount": 0}


def _policy_fits(_cloud: Objects, policy: CloudObject) -> str | None:
    size = len("".join(str(policy.inputs.get("policy", "")).split()))
    return None if size <= _POLICY_LIMIT else f"LimitExceeded: Cannot exceed quota for PolicySize: {_POLICY_LIMIT}"


def _of_a_bucket(noun: str) -> Kind:
    """Return the row of a setting of a bucket, of which each bucket has one."""
    return Kind(
        type=f"aws:s3/bucket{noun}:Bucket{noun}",
        answer=_setting,
        references=[_OF_A_BUCKET],
    )


TABLE: Final = (
    Kind(
        type=BUCKET,
        answer=_bucket,
        identity=("bucket",),
        taken="BucketAlreadyExists: The requested bucket name is not available: {0}",
        delete_first="bucket",
        max_lengths={"bucket": 63},
        before_delete=[_is_empty],
    ),
    _of_a_bucket("Policy"),
    _of_a_bucket("PublicAccessBlock"),
    Kind(
        type="aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        answer=_setting,
        references=[
            _OF_A_BUCKET,
            Reference("rules.*.applyServerSideEncryptionByDefault.kmsMasterKeyId", KEY, by="arn", blocks=False),
        ],
    ),
    Kind(
        type="aws:s3/bucketVersioning:BucketVersioning",
        answer=_setting,
        references=[_OF_A_BUCKET],
        choices={"versioningConfiguration.status": ("Disabled", "Enabled", "Suspended")},
    ),
    Kind(
        type=OIDC_PROVIDER,
        answer=_oidc_provider,
        identity=("url",),
        taken="EntityAlreadyExists: Provider with url {0} already exists.",
        delete_first="url",
    ),
    Kind(
        type=POLICY,
        answer=_policy,
        identity=("arn",),
        taken="EntityAlreadyExists: A policy called {0} already exists. Duplicate names are not allowed.",
        delete_first="name",
        max_lengths={"name": 128},
        before_create=[_policy_fits],
    ),
)
