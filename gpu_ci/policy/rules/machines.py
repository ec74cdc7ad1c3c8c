"""Rules about machines on AWS and about tags: metadata, addresses, access, the owner of a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.policy.inputs import Inputs, each, is_true, part
from gpu_ci.policy.taggable import LABELLED, TAGGED

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED_TAGS: Final = ("Project", "Environment", "ManagedBy")
"""Tags that show the owner of a resource on bills and in searches. Labels of Google Cloud are in lower case."""
_LAUNCHED: Final = ("instance", "volume")
"""Resources of a launch template that do not get the default tags of the provider."""


_METADATA: Final = {
    "aws:ec2/instance:Instance": "metadataOptions",
    "aws:ec2/launchConfiguration:LaunchConfiguration": "metadataOptions",
    "aws:ec2/launchTemplate:LaunchTemplate": "metadataOptions",
    "aws:ec2/spotInstanceRequest:SpotInstanceRequest": "metadataOptions",
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": "instanceMetadataOptions",
}
_DEFAULTS: Final = "aws:ec2/instanceMetadataDefaults:InstanceMetadataDefaults"


def metadata_needs_a_token(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Machine metadata, which includes the credentials of the role, requires a session token and a hop limit."""
    key = _METADATA.get(type_)
    if type_ == _DEFAULTS and part(inputs, "httpTokens") != "required":
        yield "httpTokens must be `required`"
    if key is None or part(inputs, key, "httpEndpoint") == "disabled":
        return
    if part(inputs, key, "httpTokens") != "required":
        yield f"{key}.httpTokens must be `required`; otherwise every local request gets the credentials of the role"
    limit = part(inputs, key, "httpPutResponseHopLimit")
    if not isinstance(limit, (int, float)):
        yield f"{key}.httpPutResponseHopLimit is not set; the default of the account would apply"
    elif limit > 1:
        yield f"{key}.httpPutResponseHopLimit is {limit:g}, so every pod gets the credentials of the node; set it to 1"


def machines_have_no_public_address(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No machine on AWS gets a public address automatically, and no machine accepts SSH."""
    if is_true(part(inputs, "mapPublicIpOnLaunch")):
        yield "mapPublicIpOnLaunch gives each machine a public address; use a private subnet"
    interfaces = [inputs, *each(inputs, "networkInterfaces")]
    if type_.startswith("aws:") and any(is_true(part(one, "associatePublicIpAddress")) for one in interfaces):
        yield "associatePublicIpAddress gives the machine a public address; use a private subnet"
    if type_ != "aws:eks/nodeGroup:NodeGroup":
        return
    if part(inputs, "remoteAccess") is not None:
        yield "remoteAccess opens SSH on every node; use AWS Systems Manager for a shell"
    if part(inputs, "launchTemplate") is None:
        yield "launchTemplate is not set, so the metadata has the default hop limit; name a launch template"


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
