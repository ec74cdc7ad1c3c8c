"""Rules about machines and what they keep: metadata, encryption, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policy.inputs import Inputs, each, is_true, part
from policy.taggable import LABELLED, TAGGED

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED_TAGS: Final = ("Project", "Environment", "ManagedBy")
"""What tells, in a bill and in a search, whose a thing is. GCP writes labels in lower case."""
_LAUNCHED: Final = ("instance", "volume")
"""What a launch template starts that no default tag of a provider reaches."""
_VOLUMES: Final = {
    "aws:ec2/launchTemplate:LaunchTemplate": (("blockDeviceMappings", "ebs"),),
    "aws:ec2/instance:Instance": (("rootBlockDevice",), ("ebsBlockDevices",)),
    "aws:imagebuilder/imageRecipe:ImageRecipe": (("blockDeviceMappings", "ebs"),),
}


def metadata_needs_a_token(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """A machine's metadata, and with it its role, answers only to a session token (IMDSv2), at a stated distance."""
    key = {
        "aws:ec2/launchTemplate:LaunchTemplate": "metadataOptions",
        "aws:ec2/instance:Instance": "metadataOptions",
        "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": "instanceMetadataOptions",
    }.get(type_)
    if key is None:
        return
    if part(inputs, key, "httpTokens") != "required":
        yield f"{key}.httpTokens is not required; without it any request from the machine gets its role"
    if not isinstance(part(inputs, key, "httpPutResponseHopLimit"), int):
        yield f"{key}.httpPutResponseHopLimit is not stated; the account's default would decide who reaches it"


def volumes_are_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """What a machine writes is encrypted at rest."""
    for path in _VOLUMES.get(type_, ()):
        for device in each(inputs, path[0]):
            for volume in each(device, *path[1:]) if path[1:] else [device]:
                if not is_true(volume.get("encrypted")):
                    yield f"{'.'.join(path)}.encrypted is not set"
    if type_ == "aws:ec2/launchTemplate:LaunchTemplate" and not each(inputs, "blockDeviceMappings"):
        yield "blockDeviceMappings states no volume, so the image's own decides whether it is encrypted"
    if type_ in {"aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem"} and not is_true(inputs.get("encrypted")):
        yield "encrypted is not set"


def secrets_in_the_cluster_are_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Kubernetes secrets are encrypted with a key of ours."""
    if type_ != "aws:eks/cluster:Cluster":
        return
    encrypts = "secrets" in (part(inputs, "encryptionConfig", "resources") or ())
    if not encrypts or not part(inputs, "encryptionConfig", "provider", "keyArn"):
        yield "encryptionConfig names no key for secrets; give it a KMS key"


def images_are_scanned(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """What is pushed to a registry is scanned."""
    scanned = is_true(part(inputs, "imageScanningConfiguration", "scanOnPush"))
    if type_ == "aws:ecr/repository:Repository" and not scanned:
        yield "imageScanningConfiguration.scanOnPush is not set"


def everything_is_tagged(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Whatever can carry tags says whose it is. The provider's default tags count: see `policy.rules.effective`."""
    if type_ in TAGGED:
        missing = [tag for tag in REQUIRED_TAGS if not part(inputs, "tags", tag)]
        if missing:
            yield f"tags lack {', '.join(missing)}"
    if type_ in LABELLED:
        missing = [label for label in map(_as_label, REQUIRED_TAGS) if not part(inputs, "labels", label)]
        if missing:
            yield f"labels lack {', '.join(missing)}"


def what_a_template_launches_is_tagged(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """A provider's default tags stop at the launch template: its instances and volumes need their own."""
    if type_ != "aws:ec2/launchTemplate:LaunchTemplate":
        return
    stated = {part(one, "resourceType"): part(one, "tags") for one in each(inputs, "tagSpecifications")}
    for kind in _LAUNCHED:
        tags = stated.get(kind) or {}
        missing = [tag for tag in REQUIRED_TAGS if tag not in tags]
        if missing:
            yield f"tagSpecifications for {kind} lack {', '.join(missing)}"


def _as_label(tag: str) -> str:
    """A tag's name as GCP lets a label be called: `ManagedBy` is `managed-by`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in tag).lstrip("-")
