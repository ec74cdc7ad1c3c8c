"""Rules about data: encrypted at rest, not public, and not kept forever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.policy.inputs import Inputs, each, is_true, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOLUMES: Final = {
    "aws:ec2/launchTemplate:LaunchTemplate": (("blockDeviceMappings", "ebs"),),
    "aws:ec2/launchConfiguration:LaunchConfiguration": (("rootBlockDevice",), ("ebsBlockDevices",)),
    "aws:ec2/instance:Instance": (("rootBlockDevice",), ("ebsBlockDevices",)),
    "aws:ec2/spotInstanceRequest:SpotInstanceRequest": (("rootBlockDevice",), ("ebsBlockDevices",)),
    "aws:imagebuilder/imageRecipe:ImageRecipe": (("blockDeviceMappings", "ebs"),),
}
_ENCRYPTED: Final = {
    "aws:ebs/snapshotCopy:SnapshotCopy": "encrypted",
    "aws:ebs/volume:Volume": "encrypted",
    "aws:ec2/ami:Ami": None,
    "aws:ec2/amiCopy:AmiCopy": "encrypted",
    "aws:efs/fileSystem:FileSystem": "encrypted",
    "aws:rds/cluster:Cluster": "storageEncrypted",
    "aws:rds/instance:Instance": "storageEncrypted",
}
_KEYED: Final = {
    "aws:cloudtrail/trail:Trail": "kmsKeyId",
    "aws:cloudwatch/logGroup:LogGroup": "kmsKeyId",
    "aws:sns/topic:Topic": "kmsMasterKeyId",
}
"""Types that are encrypted with a key of the account only if they name it."""
_SWITCHES: Final = {
    "aws:ebs/encryptionByDefault:EncryptionByDefault": ("enabled", False),
    "aws:ebs/snapshotBlockPublicAccess:SnapshotBlockPublicAccess": ("state", "unblocked"),
    "aws:ec2/imageBlockPublicAccess:ImageBlockPublicAccess": ("state", "unblocked"),
    "aws:kms/key:Key": ("bypassPolicyLockoutSafetyCheck", True),
    "aws:sqs/queue:Queue": ("sqsManagedSseEnabled", False),
    "aws:rds/cluster:Cluster": ("publiclyAccessible", True),
    "aws:rds/instance:Instance": ("publiclyAccessible", True),
}
"""Types with an input that switches a protection off, and the value that does it."""
_PUBLIC_ACLS: Final = frozenset({"authenticated-read", "public-read", "public-read-write"})
_BLOCKS: Final = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
_SHARES: Final = {
    "aws:ec2/amiLaunchPermission:AmiLaunchPermission": "group",
    "aws:ec2/snapshotCreateVolumePermission:SnapshotCreateVolumePermission": "accountId",
}


def volumes_are_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Volumes are encrypted at rest."""
    for path in _VOLUMES.get(type_, ()):
        for device in each(inputs, path[0]):
            for volume in each(device, *path[1:]) if path[1:] else [device]:
                if not is_true(volume.get("encrypted")):
                    yield f"{'.'.join(path)}.encrypted is not set"
    if type_ == "aws:ec2/launchTemplate:LaunchTemplate" and not each(inputs, "blockDeviceMappings"):
        yield "blockDeviceMappings has no volume, so the image determines the encryption; add the volume"
    key = _ENCRYPTED.get(type_)
    if key is not None and not is_true(inputs.get(key)):
        yield f"{key} is not set"
    of_ebs = type_ == "kubernetes:storage.k8s.io/v1:StorageClass" and "ebs" in str(part(inputs, "provisioner"))
    if of_ebs and not is_true(part(inputs, "parameters", "encrypted")):
        yield "parameters.encrypted is not set, so its volumes are not encrypted"


def data_is_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Logs, messages and the secrets of a cluster are encrypted with a key of the account, which is rotated."""
    key = _KEYED.get(type_)
    if key is not None and not part(inputs, key):
        yield f"{key} is not set; name a KMS key"
    symmetric = part(inputs, "customerMasterKeySpec") in {None, "SYMMETRIC_DEFAULT"}
    if type_ == "aws:kms/key:Key" and symmetric and not is_true(part(inputs, "enableKeyRotation")):
        yield "enableKeyRotation is not set"
    name, off = _SWITCHES.get(type_, ("", None))
    if name in inputs and str(inputs[name]).lower() == str(off).lower():
        yield f"{name} is {str(off).lower()}, which switches a protection off; remove it"
    if type_ == "aws:eks/cluster:Cluster":
        encrypts = "secrets" in (part(inputs, "encryptionConfig", "resources") or ())
        if not encrypts or not part(inputs, "encryptionConfig", "provider", "keyArn"):
            yield "encryptionConfig has no key for secrets; set a KMS key"
    if type_ == "gcp:container/cluster:Cluster" and part(inputs, "databaseEncryption", "state") != "ENCRYPTED":
        yield "databaseEncryption has no key for secrets; set a Cloud KMS key"


def buckets_are_not_public(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Buckets are not public, and cannot become public."""
    noun = type_.rpartition(":")[2]
    if type_.startswith("aws:s3"):
        if part(inputs, "acl") in _PUBLIC_ACLS:
            yield f"acl is {part(inputs, 'acl')}, so it is public; remove it"
        for uri in _grantees(inputs):
            yield f"the access list grants access to {uri}; name the accounts"
        if part(inputs, "website") is not None or "WebsiteConfiguration" in noun:
            yield "a website publishes the bucket; remove it"
        for key in _BLOCKS if noun.endswith("PublicAccessBlock") else ():
            if not is_true(part(inputs, key)):
                yield f"{key} is not set, so the bucket can become public"
    if type_ == "gcp:storage/bucket:Bucket":
        if part(inputs, "publicAccessPrevention") != "enforced":
            yield "publicAccessPrevention is not enforced, so the bucket can become public"
        if not is_true(part(inputs, "uniformBucketLevelAccess")):
            yield "uniformBucketLevelAccess is not set, so single objects can become public"


def images_are_not_public(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Images and snapshots are not shared with everyone."""
    if type_.startswith("aws:ecrpublic/"):
        yield "its images are public; use a private repository"
    if "all" in texts(inputs, _SHARES.get(type_, "")):
        yield "it is shared with every account; name the accounts"
    for distribution in each(inputs, "distributions"):
        if "all" in texts(distribution, "amiDistributionConfiguration", "launchPermission", "userGroups"):
            yield "distributions shares the image with every account; name the accounts"


def _grantees(inputs: Inputs) -> list[str]:
    stated = [*each(inputs, "grants"), *each(inputs, "accessControlPolicy", "grants")]
    uris = [str(part(one, "uri") or part(one, "grantee", "uri")) for one in stated]
    return [uri for uri in uris if uri.endswith(("/AllUsers", "/AuthenticatedUsers"))]


def images_are_scanned(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Container images are scanned when they are pushed, and their tags do not move."""
    if type_ != "aws:ecr/repository:Repository":
        return
    if not is_true(part(inputs, "imageScanningConfiguration", "scanOnPush")):
        yield "imageScanningConfiguration.scanOnPush is not set"
    if part(inputs, "imageTagMutability") in {None, "MUTABLE"}:
        yield "imageTagMutability is not set, so a tag can be overwritten; use IMMUTABLE"


def logs_end(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Logs are deleted after a stated time."""
    if type_ == "aws:cloudwatch/logGroup:LogGroup" and not part(inputs, "retentionInDays"):
        yield "retentionInDays is not set, so the logs are kept forever"
