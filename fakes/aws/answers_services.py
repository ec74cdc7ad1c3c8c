"""What the smaller services of AWS compute beside the inputs: logs, queues, buckets, file systems, schedules.

Forms are those of AWS's own documentation of each resource as the pulumi-aws 7 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fakes.answers_asked import Asked, Made, Maker


def _bucket(asked: Asked) -> Made:
    name = asked.physical("bucket")
    return name, {
        "bucket": name,
        "arn": f"arn:aws:s3:::{name}",
        "bucketDomainName": f"{name}.s3.amazonaws.com",
        "bucketRegionalDomainName": f"{name}.s3.{asked.region}.amazonaws.com",
    }


def _of_bucket(asked: Asked) -> Made:
    return str(asked.inputs.get("bucket", asked.name)), {}


def _log_group(asked: Asked) -> Made:
    name = asked.physical()
    return name, {"name": name, "arn": asked.arn("logs", f"log-group:{name}")}


def _named(service: str, kind: str) -> Maker:
    """Something known by its name, with an ARN of the form `service:…:kind` and the name."""

    def make(asked: Asked) -> Made:
        name = asked.physical()
        return name, {"name": name, "arn": asked.arn(service, f"{kind}{name}")}

    return make


def _event_target(asked: Asked) -> Made:
    target = str(asked.inputs.get("targetId") or asked.uuid())
    return f"{asked.inputs.get('rule', 'rule')}-{target}", {"targetId": target}


def _queue(asked: Asked) -> Made:
    name = asked.physical()
    url = f"https://sqs.{asked.region}.amazonaws.com/{asked.place.account}/{name}"
    return url, {"name": name, "arn": asked.arn("sqs", name), "url": url}


def _topic(asked: Asked) -> Made:
    name = asked.physical()
    arn = asked.arn("sns", name)
    return arn, {"name": name, "arn": arn, "owner": asked.place.account}


def _topic_subscription(asked: Asked) -> Made:
    arn = f"{asked.inputs.get('topic', '')}:{asked.uuid()}"
    return arn, {"arn": arn, "ownerId": asked.place.account}


def _parameter(asked: Asked) -> Made:
    name = asked.physical()
    return name, {"name": name, "arn": asked.arn("ssm", f"parameter/{name.lstrip('/')}"), "version": 1}


def _file_system(asked: Asked) -> Made:
    id_ = f"fs-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("elasticfilesystem", f"file-system/{id_}"),
        "dnsName": f"{id_}.efs.{asked.region}.amazonaws.com",
        "ownerId": asked.place.account,
    }


def _access_point(asked: Asked) -> Made:
    id_ = f"fsap-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("elasticfilesystem", f"access-point/{id_}"),
        "ownerId": asked.place.account,
    }


def _mount_target(asked: Asked) -> Made:
    file_system = asked.inputs.get("fileSystemId", "fs")
    return f"fsmt-{asked.hex(17)}", {
        "dnsName": f"{file_system}.efs.{asked.region}.amazonaws.com",
        "networkInterfaceId": f"eni-{asked.hex(17, 'eni')}",
        "ownerId": asked.place.account,
    }


def _schedule(asked: Asked) -> Made:
    name = asked.physical()
    group = asked.inputs.get("groupName", "default")
    return f"{group}/{name}", {"name": name, "arn": asked.arn("scheduler", f"schedule/{group}/{name}")}


def _service_quota(asked: Asked) -> Made:
    service, quota = asked.inputs.get("serviceCode", ""), asked.inputs.get("quotaCode", "")
    return f"{service}/{quota}", {"arn": asked.arn("servicequotas", f"{service}/{quota}")}


def _budget(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.place.account}:{name}", {
        "name": name,
        "accountId": asked.place.account,
        "arn": asked.global_arn("budgets", f"budget/{name}"),
    }


MAKERS: Final[dict[str, Maker]] = {
    "aws:budgets/budget:Budget": _budget,
    "aws:cloudwatch/eventRule:EventRule": _named("events", "rule/"),
    "aws:cloudwatch/eventTarget:EventTarget": _event_target,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:cloudwatch/metricAlarm:MetricAlarm": _named("cloudwatch", "alarm:"),
    "aws:efs/accessPoint:AccessPoint": _access_point,
    "aws:efs/fileSystem:FileSystem": _file_system,
    "aws:efs/mountTarget:MountTarget": _mount_target,
    "aws:s3/bucket:Bucket": _bucket,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _of_bucket,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _of_bucket,
    "aws:s3/bucketPolicy:BucketPolicy": _of_bucket,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _of_bucket,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _of_bucket,
    "aws:s3/bucketVersioning:BucketVersioning": _of_bucket,
    "aws:scheduler/schedule:Schedule": _schedule,
    "aws:scheduler/scheduleGroup:ScheduleGroup": _named("scheduler", "schedule-group/"),
    "aws:servicequotas/serviceQuota:ServiceQuota": _service_quota,
    "aws:sns/topic:Topic": _topic,
    "aws:sns/topicSubscription:TopicSubscription": _topic_subscription,
    "aws:sqs/queue:Queue": _queue,
    "aws:ssm/parameter:Parameter": _parameter,
}
"""How each type is answered."""
