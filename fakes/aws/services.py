"""What AWS knows of storage, schedules, messages and the other small services.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x; refusals and their words are from the API
references of S3, EFS, EventBridge, SNS, SQS, SSM and Lambda (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws.names import BUCKET, FILE_SYSTEM, ROLE, SECURITY_GROUP, SUBNET
from fakes.aws.network import NO_GROUP, NO_SUBNET
from fakes.kinds import Kind, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable


EVENT_RULE: Final = "aws:cloudwatch/eventRule:EventRule"
_NO_FILE_SYSTEM: Final = "FileSystemNotFound: File system '{value}' does not exist."


def _on_bucket(name: str) -> Kind:
    return Kind(
        type=f"aws:s3/{name}:{name[0].upper()}{name[1:]}",
        identity=("bucket",),
        references=[
            Reference(
                "bucket",
                BUCKET,
                missing="NoSuchBucket: The specified bucket does not exist ({value})",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"bucket"}),
    )


def _named(type_: str, service: str, *, replaced_by: Iterable[str] = ("namePrefix",)) -> Kind:
    """Something known by its name and nothing else."""
    return Kind(
        type=type_,
        identity=("name",),
        taken=f"{service}: {{0}} already exists",
        replaced_by=frozenset({"name", *replaced_by}),
        delete_first="name",
    )


KINDS: Final = (
    Kind(
        type=BUCKET,
        identity=("bucket",),
        taken="BucketAlreadyOwnedByYou: Your previous request to create the named bucket succeeded ({0})",
        replaced_by=frozenset({"bucket", "bucketPrefix", "objectLockEnabled"}),
        delete_first="bucket",
        lengths={"bucket": 63},
    ),
    *(
        _on_bucket(name)
        for name in (
            "bucketLifecycleConfiguration",
            "bucketOwnershipControls",
            "bucketPolicy",
            "bucketPublicAccessBlock",
            "bucketServerSideEncryptionConfiguration",
            "bucketVersioning",
        )
    ),
    Kind(
        type=FILE_SYSTEM,
        in_use="FileSystemInUse: file system '{id}' has mount targets (held by {holder})",
        replaced_by=frozenset({"encrypted", "kmsKeyId", "performanceMode", "availabilityZoneName", "creationToken"}),
        slow=True,
    ),
    Kind(
        type="aws:efs/mountTarget:MountTarget",
        references=[
            Reference("fileSystemId", FILE_SYSTEM, missing=_NO_FILE_SYSTEM),
            Reference("subnetId", SUBNET, missing=NO_SUBNET),
            Reference("securityGroups.*", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-"),
        ],
        replaced_by=frozenset({"fileSystemId", "subnetId", "ipAddress"}),
        slow=True,
    ),
    Kind(
        type="aws:efs/accessPoint:AccessPoint",
        references=[Reference("fileSystemId", FILE_SYSTEM, missing=_NO_FILE_SYSTEM, holds=False, follows=True)],
        replaced_by=frozenset({"fileSystemId", "posixUser", "rootDirectory"}),
    ),
    Kind(
        type=EVENT_RULE,
        identity=("name",),
        taken="ResourceAlreadyExistsException: Rule {0} already exists",
        in_use="ValidationException: Rule can't be deleted since it has targets. (held by {holder})",
        replaced_by=frozenset({"name", "namePrefix", "eventBusName"}),
        delete_first="name",
    ),
    Kind(
        type="aws:cloudwatch/eventTarget:EventTarget",
        references=[
            Reference(
                "rule",
                EVENT_RULE,
                by="name",
                missing="ResourceNotFoundException: Rule {value} does not exist on EventBus default.",
            )
        ],
        replaced_by=frozenset({"rule", "targetId", "eventBusName"}),
    ),
    _named("aws:cloudwatch/metricAlarm:MetricAlarm", "ResourceAlreadyExistsException", replaced_by=[]),
    _named("aws:scheduler/scheduleGroup:ScheduleGroup", "ConflictException"),
    Kind(
        type="aws:scheduler/schedule:Schedule",
        identity=("groupName", "name"),
        taken="ConflictException: Schedule {1} already exists.",
        references=[
            Reference(
                "groupName",
                "aws:scheduler/scheduleGroup:ScheduleGroup",
                by="name",
                missing="ResourceNotFoundException: Schedule group {value} does not exist.",
                foreign="^default$",
                holds=False,
                follows=True,
            ),
            Reference(
                "target.roleArn",
                ROLE,
                by="arn",
                missing="ValidationException: The execution role must allow EventBridge Scheduler to assume it",
                holds=False,
            ),
        ],
        replaced_by=frozenset({"name", "namePrefix", "groupName"}),
        delete_first="name",
        words={"state": ("DISABLED", "ENABLED"), "flexibleTimeWindow.mode": ("FLEXIBLE", "OFF")},
    ),
    _named("aws:sns/topic:Topic", "InvalidParameter", replaced_by=["namePrefix", "fifoTopic"]),
    Kind(
        type="aws:sns/topicSubscription:TopicSubscription",
        references=[
            Reference(
                "topic",
                "aws:sns/topic:Topic",
                by="arn",
                missing="NotFound: Topic does not exist ({value})",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"topic", "protocol", "endpoint"}),
    ),
    _named("aws:sqs/queue:Queue", "QueueNameExists", replaced_by=["namePrefix", "fifoQueue"]),
    _named("aws:ssm/parameter:Parameter", "ParameterAlreadyExists", replaced_by=["type", "keyId"]),
    Kind(type="aws:servicequotas/serviceQuota:ServiceQuota", replaced_by=frozenset({"quotaCode", "serviceCode"})),
    _named("aws:budgets/budget:Budget", "DuplicateRecordException"),
)
"""Every type of this chapter."""
