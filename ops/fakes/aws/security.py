"""EC2: security groups and flow logs.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the error codes of the EC2 API for
refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.aws.names import DEFAULT_SECURITY_GROUP, FLOW_LOG, LOG_GROUP, ROLE, SECURITY_GROUP, VPC
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.request import Created, Request

_VPC: Final = Reference("vpcId", VPC, missing="InvalidVpcID.NotFound: The vpc ID '{value}' does not exist")


def _security_group(request: Request) -> Created:
    id_ = f"sg-{request.hex(17)}"
    return id_, {
        "arn": request.arn("ec2", f"security-group/{id_}"),
        "name": request.physical(),
        "ownerId": request.place.account,
    }


def _default_security_group(request: Request) -> Created:
    id_, outputs = _security_group(request)
    return id_, {**outputs, "name": "default", "description": "default VPC security group"}


def _flow_log(request: Request) -> Created:
    id_ = f"fl-{request.hex(17)}"
    return id_, {"arn": request.arn("ec2", f"vpc-flow-log/{id_}")}


TABLE: Final = (
    # The group exists as long as its VPC. The provider adopts it, and a delete only removes it from the state.
    Kind(
        type=DEFAULT_SECURITY_GROUP,
        answer=_default_security_group,
        references=[Reference("vpcId", VPC, missing=_VPC.missing, blocks=False)],
    ),
    Kind(
        type=SECURITY_GROUP,
        answer=_security_group,
        identity=("vpcId", "name"),
        taken="InvalidGroup.Duplicate: The security group '{1}' already exists for VPC '{0}'",
        references=[_VPC],
        in_use="DependencyViolation: resource {id} has a dependent object (held by {holder})",
        delete_first="name",
        max_lengths={"name": 255, "description": 255},
    ),
    Kind(
        type=FLOW_LOG,
        answer=_flow_log,
        references=[
            Reference("vpcId", VPC, missing=_VPC.missing, blocks=False, cascades=True),
            Reference("iamRoleArn", ROLE, by="arn", blocks=False),
            Reference("logDestination", LOG_GROUP, by="arn", blocks=False),
        ],
        choices={"trafficType": ("ACCEPT", "ALL", "REJECT")},
    ),
)
