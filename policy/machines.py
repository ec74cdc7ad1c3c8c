"""Rules about machines and their data: metadata, encryption, tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policy.inputs import Inputs, each, is_true, part
from policy.taggable import LABELLED, TAGGED

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED_TAGS: Final = ("Project", "Environment", "ManagedBy")
"""Tags that show the owner of a resource on bills and in searches. Labels of Google Cloud are in lower case."""
_LAUNCHED: Final = ("instance", "volume")
"""Resources of a launch template that do not get the default tags of the provider."""
_VOLUMES: Final = {
    "aws:ec2/launchTemplate:LaunchTemplate": (("blockDeviceMappings", "ebs"),),
    "aws:ec2/instance:Instance": (("rootBlockDevice",), ("ebsBlockDevices",)),
    "aws:imagebuilder/imageRecipe:ImageRecipe": (("blockDeviceMappings", "ebs"),),
}


def metadata_needs_a_token(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Machine metadata, which includes the credentials of the role, requires a session token and a hop limit."""
    key = {
        "aws:ec2/launchTemplate:LaunchTemplate": "metadataOptions",
        "aws:ec2/instance:Instance": "metadataOptions",
        "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": "instanceMetadataOptions",
    }.get(type_)
    if key is None:
        return
    if part(inputs, key, "httpTokens") != "required":
        yield f"{key}.httpTokens must be `required`; otherwise every local request gets the credentials of the role"
    if not isinstance(part(inputs, key, "httpPutResponseHopLimit"), int):
        yield f"{key}.httpPutResponseHopLimit is not set; the default of the account would apply"


def volumes_are_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Volumes are encrypted at rest."""
    for path in _VOLUMES.get(type_, ()):
        for device in each(inputs, path[0]):
            for volume in each(device, *path[1:]) if path[1:] else [device]:
                if not is_true(volume.get("encrypted")):
                    yield f"{'.'.join(path)}.encrypted is not set"
    if type_ == "aws:ec2/launchTemplate:LaunchTemplate" and not each(inputs, "blockDeviceMappings"):
        yield "blockDeviceMappings has no volume, so the image determines the encryption; add the volume"
    if type_ in {"aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem"} and not is_true(inputs.get("encrypted")):
        yield "encrypted is not set"


def secrets_in_the_cluster_are_encrypted(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Kubernetes secrets are encrypted with a key of the stack."""
    if type_ != "aws:eks/cluster:Cluster":
        return
    encrypts = "secrets" in (part(inputs, "encryptionConfig", "resources") or ())
    if not encrypts or not part(inputs, "encryptionConfig", "provider", "keyArn"):
        yield "encryptionConfig has no key for secrets; set a KMS key"


def images_are_scanned(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Container images are scanned when they are pushed."""
    scanned = is_true(part(inputs, "imageScanningConfiguration", "scanOnPush"))
    if type_ == "aws:ecr/repository:Repository" and not scanned:
        yield "imageScanningConfiguration.scanOnPush is not set"


def everything_is_tagged(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Every resource that supports tags has the required ones. Default tags of the provider count, too."""
    if type_ in TAGGED:
        missing = [tag for tag in REQUIRED_TAGS if not part(inputs, "tags", tag)]
        if missing:
            yield f"tags lack {', '.join(missing)}"
    if type_ in LABELLED:
        missing = [label for label in map(_as_label, REQUIRED_TAGS) if not part(inputs, "labels", label)]
        if missing:
            yield f"labels lack {', '.join(missing)}"


def launched_machines_are_tagged(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Launch templates tag their instances and volumes, which do not get the default tags of the provider."""
    if type_ != "aws:ec2/launchTemplate:LaunchTemplate":
        return
    stated = {part(one, "resourceType"): part(one, "tags") for one in each(inputs, "tagSpecifications")}
    for kind in _LAUNCHED:
        tags = stated.get(kind) or {}
        missing = [tag for tag in REQUIRED_TAGS if tag not in tags]
        if missing:
            yield f"tagSpecifications for {kind} lack {', '.join(missing)}"


def _as_label(tag: str) -> str:
    """Return the label name of a tag: `ManagedBy` is `managed-by`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in tag).lstrip("-")
