"""Cloud KMS and access to buckets: the types that only the program `bootstrap` declares on Google Cloud.

Sources: `ForceNew` in hashicorp/terraform-provider-google 7.x for replacements, the API of Cloud KMS for refusals, the
outputs of the pulumi-gcp 10 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.request import Created, Request
from ops.fakes.gcp.resources import BUCKET

KEY_RING: Final = "gcp:kms/keyRing:KeyRing"
KEY: Final = "gcp:kms/cryptoKey:CryptoKey"


def _key_ring(request: Request) -> Created:
    name, location = request.physical(), request.inputs.get("location", "global")
    return f"projects/{request.project}/locations/{location}/keyRings/{name}", {
        "name": name,
        "project": request.project,
    }


def _key(request: Request) -> Created:
    name = request.physical()
    return f"{request.inputs.get('keyRing', 'ring')}/cryptoKeys/{name}", {"name": name}


def _grant(noun: str, target: str, to: str, by: str, missing: str) -> Kind:
    def answer(request: Request) -> Created:
        id_ = "/".join(str(request.inputs.get(key, key)) for key in (target, "role", "member"))
        return id_, {"etag": request.hex(12)}

    noun = {"bucket": "storage/bucketIAMMember:BucketIAMMember"}.get(
        target, "kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
    )
    return Kind(
        type=f"gcp:{noun}",
        answer=answer,
        references=[Reference(target, to, by=by, missing=missing, blocks=False, cascades=True)],
    )


TABLE: Final = (
    # Google never deletes a key ring or a key, so their names stay taken.
    Kind(
        type=KEY_RING,
        answer=_key_ring,
        identity=("project", "location", "name"),
        taken="Error 409: KeyRing {2} already exists, alreadyExists",
        keeps_name=True,
    ),
    Kind(
        type=KEY,
        answer=_key,
        identity=("keyRing", "name"),
        taken="Error 409: CryptoKey {1} already exists, alreadyExists",
        keeps_name=True,
        references=[
            Reference(
                "keyRing",
                KEY_RING,
                missing="Error 404: KeyRing {value} not found, notFound",
                blocks=False,
                cascades=True,
            )
        ],
        choices={"purpose": ("ASYMMETRIC_DECRYPT", "ASYMMETRIC_SIGN", "ENCRYPT_DECRYPT", "MAC", "RAW_ENCRYPT_DECRYPT")},
    ),
    _grant(
        "kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        "cryptoKeyId",
        KEY,
        "id",
        "Error 404: CryptoKey {value} not found, notFound",
    ),
    _grant(
        "storage/bucketIAMMember:BucketIAMMember",
        "bucket",
        BUCKET,
        "name",
        "Error 404: The specified bucket does not exist., notFound",
    ),
)
