"""The hours of a machine on AWS: EventBridge Scheduler starts and stops it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from gpu_ci.back_ends.shared.machine.aws import permissions as aws_permissions
from gpu_ci.back_ends.shared.machine.aws.instance import role_arn
from gpu_ci.back_ends.shared.machine.hours import Hours

if TYPE_CHECKING:
    from gpu_ci.back_ends.shared.machine.aws.instance import Instance

_KEPT_SECONDS = 14 * 24 * 3600
"""The longest time for which a queue keeps a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineScheduleArgs:
    """The machine and its hours."""

    instance: Instance
    hours: Hours
    """The hours in which it runs."""


class MachineSchedule(pulumi.ComponentResource):
    """A start and a stop. Both are repeated for an hour, for example while EC2 has no capacity."""

    failed: Output[str]
    """The name of the queue with the events that failed finally."""

    def __init__(self, name: str, args: MachineScheduleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:MachineSchedule", name, None, opts)
        child, instance = ResourceOptions(parent=self), args.instance
        queue = aws.sqs.Queue(
            name,
            name=f"{instance.title}-schedule",
            region=instance.region,
            message_retention_seconds=_KEPT_SECONDS,
            sqs_managed_sse_enabled=True,
            tags={"Name": instance.title},
            opts=child,
        )
        caller = role_arn(
            name,
            trust=aws_permissions.scheduler_trust(instance.account),
            policy=Output.all(instance.arn, queue.arn).apply(
                lambda arns: aws_permissions.switching(arns[0], dead_letters=arns[1])
            ),
            description=f"Starts and stops {instance.title}",
            opts=child,
        )
        calls = {
            "start": (args.hours.start_cron, "startInstances"),
            "stop": (args.hours.stop_cron, "stopInstances"),
        }
        for verb, (cron, call) in calls.items():
            aws.scheduler.Schedule(
                f"{name}-{verb}",
                name=f"{instance.title}-{verb}",
                region=instance.region,
                flexible_time_window={"mode": "OFF"},
                schedule_expression=aws_cron(cron),
                schedule_expression_timezone=args.hours.time_zone,
                description=f"{verb}s {instance.title}".capitalize(),
                target={
                    "arn": f"arn:aws:scheduler:::aws-sdk:ec2:{call}",
                    "role_arn": caller,
                    "input": instance.id.apply(lambda id_: json.dumps({"InstanceIds": [id_]})),
                    "retry_policy": {"maximum_event_age_in_seconds": 3600, "maximum_retry_attempts": 60},
                    "dead_letter_config": {"arn": queue.arn},
                },
                opts=child,
            )
        self.failed = queue.name
        self.register_outputs({"failed": self.failed})


def aws_cron(cron: str) -> str:
    """Return a time in five fields of cron as EventBridge writes it: Sunday is 1, and a year follows."""
    minute, hour, _, _, days = cron.split()
    return f"cron({minute} {hour} ? * {','.join(str(int(day) + 1) for day in days.split(','))} *)"
