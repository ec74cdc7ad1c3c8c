"""Services that watch and switch machines: EventBridge Scheduler, Lambda, SNS, SQS and CloudWatch alarms.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the API references of the services for
refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from ops.fakes.aws.names import ALARM, FUNCTION, LOG_GROUP, QUEUE, ROLE, SCHEDULE, SUBSCRIPTION, TOPIC
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import values_at
from ops.fakes.cloud.request import Created, Request

_SCHEDULED: Final = re.compile(r"rate\([1-9]\d* (minute|hour|day)s?\)|cron\(\S+ \S+ \S+ \S+ \S+ \S+\)|at\(\S+\)")
_DAY: Final = 86_400
"""Seconds of the longest evaluation of an alarm with periods below an hour."""


def _schedule(request: Request) -> Created:
    name, group = request.physical(), request.inputs.get("groupName") or "default"
    arn = request.arn("scheduler", f"schedule/{group}/{name}")
    return f"{group}/{name}", {"name": name, "groupName": group, "arn": arn}


def _function(request: Request) -> Created:
    name = request.physical()
    return name, {
        "name": name,
        "arn": request.arn("lambda", f"function:{name}"),
        "version": "$LATEST",
        "lastModified": "2026-01-01T00:00:00.000+0000",
    }


def _topic(request: Request) -> Created:
    arn = request.arn("sns", request.physical())
    return arn, {"name": request.physical(), "arn": arn, "owner": request.place.account}


def _subscription(request: Request) -> Created:
    topic = request.inputs.get("topic", "topic")
    arn = f"{topic}:{request.uuid()}"
    # A person must confirm a subscription by e-mail.
    return arn, {"arn": arn, "pendingConfirmation": request.inputs.get("protocol") == "email"}


def _queue(request: Request) -> Created:
    name = request.physical()
    url = f"https://sqs.{request.region}.amazonaws.com/{request.place.account}/{name}"
    return url, {"name": name, "url": url, "arn": request.arn("sqs", name)}


def _alarm(request: Request) -> Created:
    name = request.physical()
    return name, {"name": name, "arn": request.arn("cloudwatch", f"alarm:{name}")}


def _time_is_valid(_cloud: Objects, schedule: CloudObject) -> str | None:
    expression = str(schedule.inputs.get("scheduleExpression"))
    if _SCHEDULED.fullmatch(expression) is None:
        return f"ValidationException: Invalid Schedule Expression {expression}."
    return None


def _lambda_can_assume(cloud: Objects, function: CloudObject) -> str | None:
    role = next((one for one in cloud.of(ROLE) if one.at("arn") == function.inputs.get("role")), None)
    if role is not None and "lambda.amazonaws.com" not in str(role.inputs.get("assumeRolePolicy")):
        return "InvalidParameterValueException: The role defined for the function cannot be assumed by Lambda."
    return None


def _scheduler_can_assume(cloud: Objects, schedule: CloudObject) -> str | None:
    stated = next((value for _, value in values_at("target.roleArn", schedule.inputs)), None)
    role = next((one for one in cloud.of(ROLE) if one.at("arn") == stated), None)
    if role is not None and "scheduler.amazonaws.com" not in str(role.inputs.get("assumeRolePolicy")):
        return "ValidationException: The execution role you provide must allow AWS EventBridge Scheduler to assume it."
    return None


def _alarm_is_evaluated(_cloud: Objects, alarm: CloudObject) -> str | None:
    """Refuse an evaluation of more than a day, and an alarm without exactly one result."""
    inputs = alarm.inputs
    seconds = int(inputs.get("period") or 0) * int(inputs.get("evaluationPeriods") or 0)
    if seconds > _DAY:
        return "ValidationError: Metrics cannot be checked across more than a day (EvaluationPeriods * Period > 86400)"
    queries = inputs.get("metricQueries") or []
    if queries and sum(bool(query.get("returnData")) for query in queries) != 1:
        return "ValidationError: Exactly one element of the metrics list should return data."
    return None


_ROLE_MISSING: Final = "InvalidParameterValueException: The role {value} does not exist"

TABLE: Final = (
    Kind(
        type=SCHEDULE,
        answer=_schedule,
        identity=("groupName", "name"),
        taken="ConflictException: Schedule {1} already exists.",
        references=[
            Reference("target.roleArn", ROLE, by="arn", missing=_ROLE_MISSING, blocks=False),
            Reference(
                "target.arn",
                FUNCTION,
                by="arn",
                missing="ValidationException: Provided Arn {value} is not in correct format",
                foreign="^arn:aws:scheduler:::aws-sdk:",
                blocks=False,
            ),
            Reference("target.deadLetterConfig.arn", QUEUE, by="arn", blocks=False),
        ],
        delete_first="name",
        choices={"flexibleTimeWindow.mode": ("FLEXIBLE", "OFF"), "state": ("DISABLED", "ENABLED")},
        max_lengths={"name": 64, "description": 512},
        before_create=[_time_is_valid, _scheduler_can_assume],
    ),
    Kind(
        type=FUNCTION,
        answer=_function,
        identity=("name",),
        taken="ResourceConflictException: Function already exist: {0}",
        references=[
            Reference("role", ROLE, by="arn", missing=_ROLE_MISSING, blocks=False),
            Reference("loggingConfig.logGroup", LOG_GROUP, by="name", blocks=False),
        ],
        delete_first="name",
        choices={"architectures.*": ("arm64", "x86_64"), "loggingConfig.logFormat": ("JSON", "Text")},
        max_lengths={"name": 64, "description": 256},
        before_create=[_lambda_can_assume],
    ),
    Kind(
        type=TOPIC,
        answer=_topic,
        delete_first="name",
        max_lengths={"displayName": 100},
    ),
    Kind(
        type=SUBSCRIPTION,
        answer=_subscription,
        references=[
            Reference(
                "topic", TOPIC, by="arn", missing="NotFoundException: Topic does not exist", blocks=False, cascades=True
            )
        ],
        choices={
            "protocol": ("application", "email", "email-json", "firehose", "http", "https", "lambda", "sms", "sqs")
        },
    ),
    Kind(
        type=QUEUE,
        answer=_queue,
        identity=("name",),
        taken="QueueAlreadyExists: A queue already exists with the same name and other attributes: {0}",
        delete_first="name",
    ),
    Kind(
        type=ALARM,
        answer=_alarm,
        identity=("name",),
        references=[
            Reference(
                "alarmActions.*",
                TOPIC,
                by="arn",
                missing="ValidationError: Invalid alarm action {value}",
                foreign="^arn:aws:automate:",
                blocks=False,
            )
        ],
        delete_first="name",
        choices={
            "comparisonOperator": (
                "GreaterThanOrEqualToThreshold",
                "GreaterThanThreshold",
                "GreaterThanUpperThreshold",
                "LessThanLowerOrGreaterThanUpperThreshold",
                "LessThanLowerThreshold",
                "LessThanOrEqualToThreshold",
                "LessThanThreshold",
            ),
            "treatMissingData": ("breaching", "ignore", "missing", "notBreaching"),
        },
        max_lengths={"name": 255, "alarmDescription": 1024},
        before_create=[_alarm_is_evaluated],
    ),
)
