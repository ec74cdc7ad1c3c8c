"""EC2: instances, and the instance profiles of their roles.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the error codes of the EC2 and IAM APIs
for refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from ops.fakes.aws.names import (
    INSTANCE,
    INSTANCE_PROFILE,
    LAUNCH_TEMPLATE,
    ROLE,
    ROUTE,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP,
    SUBNET,
)
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at, values_at
from ops.fakes.cloud.request import CREATED_AT, Created, Request

UNKNOWN_IMAGE: Final = "ami-00000000000000000"
"""An AMI that exists in no region. Any other is one that someone made: the fake cannot know every AMI."""
USER_DATA_LIMIT: Final = 16_384
"""Bytes of user data that EC2 accepts, before base64."""


def _instance(request: Request) -> Created:
    id_ = f"i-{request.hex(17)}"
    return id_, {
        "arn": request.arn("ec2", f"instance/{id_}"),
        "ami": request.inputs.get("ami") or f"ami-{request.hex(17, 'image')}",
        "instanceState": "running",
        "primaryNetworkInterfaceId": f"eni-{request.hex(17, 'eni')}",
        "privateIp": "10.0.0.4",
    }


def _instance_profile(request: Request) -> Created:
    name, path = request.physical(), request.inputs.get("path", "/")
    return name, {
        "name": name,
        "arn": request.iam_arn(f"instance-profile{path}{name}"),
        "uniqueId": f"AIPA{request.upper(17)}",
        "createDate": CREATED_AT,
    }


def _has_an_image(cloud: Objects, instance: CloudObject) -> str | None:
    """Refuse an AMI that does not exist in the region, a machine without any, and a root disk whose AMI has no id.

    For a root disk the provider itself asks EC2 for the image, also for that of a launch template
    (https://github.com/hashicorp/terraform-provider-aws/issues/43488).
    """
    template = cloud.find(LAUNCH_TEMPLATE, str(value_at("launchTemplate.id", instance.inputs)))
    image = instance.inputs.get("ami") or (template.inputs.get("imageId") if template is not None else None)
    if image is None:
        return "MissingParameter: The request must contain the parameter ImageId"
    if image == UNKNOWN_IMAGE:
        return f"InvalidAMIID.NotFound: The image id '[{image}]' does not exist"
    if instance.inputs.get("rootBlockDevice") and not str(image).startswith("ami-"):
        return (
            "collecting instance settings: operation error EC2: DescribeImages, https response error StatusCode: 400, "
            f'api error InvalidAMIID.Malformed: Invalid id: "{image}" (expecting "ami-...")'
        )
    return None


def _user_data_is_short(_cloud: Objects, instance: CloudObject) -> str | None:
    plain = str(instance.inputs.get("userData") or "").encode()
    encoded = base64.b64decode(str(instance.inputs.get("userDataBase64") or ""))
    if max(len(plain), len(encoded)) > USER_DATA_LIMIT:
        return f"InvalidParameterValue: User data is limited to {USER_DATA_LIMIT} bytes"
    return None


def _spot_can_stop(_cloud: Objects, instance: CloudObject) -> str | None:
    options = value_at("instanceMarketOptions.spotOptions", instance.inputs) or {}
    behaviour = options.get("instanceInterruptionBehavior", "terminate")
    if behaviour != "terminate" and options.get("spotInstanceType") != "persistent":
        return f"InvalidParameterCombination: The interruption behavior {behaviour} needs a persistent spot request"
    return None


def _network_reaches_the_internet(cloud: Objects, instance: CloudObject) -> str | None:
    """Refuse a machine whose subnet has no route yet: its first boot would fail without an error."""
    subnet = instance.inputs.get("subnetId")
    tables = {
        link.inputs.get("routeTableId")
        for link in cloud.of(ROUTE_TABLE_ASSOCIATION)
        if link.inputs.get("subnetId") == subnet
    }
    if subnet is None or any(route.inputs.get("routeTableId") in tables for route in cloud.of(ROUTE)):
        return None
    return f"a machine in {subnet} starts before its route to the internet exists"


def _keeps_running(_cloud: Objects, instance: CloudObject, inputs: Mapping[str, Any]) -> str | None:
    """Refuse another size of the root disk that is smaller."""
    old, new = (
        next((int(size) for _, size in values_at("rootBlockDevice.volumeSize", one)), 0)
        for one in (instance.inputs, inputs)
    )
    return "InvalidParameterValue: New size cannot be smaller than existing size" if new < old else None


TABLE: Final = (
    Kind(
        type=INSTANCE,
        answer=_instance,
        references=[
            Reference(
                "launchTemplate.id",
                LAUNCH_TEMPLATE,
                missing="InvalidLaunchTemplateId.NotFound: The specified launch template, with template ID {value}, "
                "does not exist.",
                blocks=False,
            ),
            Reference("subnetId", SUBNET, missing="InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist"),
            Reference(
                "vpcSecurityGroupIds.*",
                SECURITY_GROUP,
                missing="InvalidGroup.NotFound: The security group '{value}' does not exist",
            ),
            Reference(
                "iamInstanceProfile",
                INSTANCE_PROFILE,
                by="name",
                missing="InvalidParameterValue: Value ({value}) for parameter iamInstanceProfile.name is invalid. "
                "Invalid IAM Instance Profile name",
                blocks=False,
            ),
        ],
        choices={
            "instanceInitiatedShutdownBehavior": ("stop", "terminate"),
            "instanceMarketOptions.marketType": ("capacity-block", "spot"),
            "instanceMarketOptions.spotOptions.instanceInterruptionBehavior": ("hibernate", "stop", "terminate"),
            "instanceMarketOptions.spotOptions.spotInstanceType": ("one-time", "persistent"),
            "maintenanceOptions.autoRecovery": ("default", "disabled"),
            "metadataOptions.httpTokens": ("optional", "required"),
        },
        slow=True,
        before_create=[_has_an_image, _user_data_is_short, _spot_can_stop, _network_reaches_the_internet],
        before_update=[_keeps_running],
    ),
    Kind(
        type=INSTANCE_PROFILE,
        answer=_instance_profile,
        identity=("name",),
        taken="EntityAlreadyExists: Instance Profile {0} already exists.",
        references=[
            Reference("role", ROLE, by="name", missing="NoSuchEntity: The role with name {value} cannot be found.")
        ],
        delete_first="name",
        max_lengths={"name": 128},
    ),
)
