"""The limit of a machine's running time on AWS that does not depend on the machine, on GitHub or on a workflow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.documents import service_trust
from gpu_ci.back_ends.shared.machine.aws import permissions as aws_permissions
from gpu_ci.back_ends.shared.machine.aws.instance import Instance, role_arn

MINUTES: Final = 15
"""Minutes between two checks. A lost stop costs at most `max-hours` and these minutes."""
RUNTIME: Final = "python3.13"
_LOG_DAYS: Final = 30
_SOURCE: Final = Path(__file__).parent / "function" / "index.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimitArgs:
    """The machine and its limit."""

    instance: Instance
    hours: int
    """Hours after a start at which the instance is stopped."""


class TimeLimit(pulumi.ComponentResource):
    """A schedule, and the function that it calls: the function stops the machine, and replaces a failed host."""

    function: Output[str]
    """The name of the function."""

    def __init__(self, name: str, args: TimeLimitArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:TimeLimit", name, None, opts)
        child, instance = ResourceOptions(parent=self), args.instance
        title = f"{instance.title}-limit"
        log = aws.cloudwatch.LogGroup(
            name, name=f"/aws/lambda/{title}", region=instance.region, retention_in_days=_LOG_DAYS, opts=child
        )
        function = aws.lambda_.Function(
            name,
            name=title,
            region=instance.region,
            runtime=RUNTIME,
            architectures=["arm64"],
            handler="index.handler",
            code=pulumi.AssetArchive({"index.py": pulumi.StringAsset(_SOURCE.read_text(encoding="utf-8"))}),
            role=role_arn(
                name,
                trust=service_trust("lambda.amazonaws.com"),
                policy=Output.all(instance.arn, log.arn).apply(lambda arns: aws_permissions.limiting(*arns)),
                description=f"The time limit of {instance.title}",
                opts=child,
            ),
            timeout=60,
            logging_config={"log_format": "Text", "log_group": log.name},
            description=f"Stops {instance.title} after {args.hours} hours",
            opts=child,
        )
        caller = role_arn(
            f"{name}-schedule",
            trust=aws_permissions.scheduler_trust(instance.account),
            policy=function.arn.apply(aws_permissions.calling),
            description=f"Calls the time limit of {instance.title}",
            opts=child,
        )
        aws.scheduler.Schedule(
            name,
            name=title,
            region=instance.region,
            flexible_time_window={"mode": "OFF"},
            schedule_expression=f"rate({MINUTES} minutes)",
            description=f"The time limit of {instance.title}",
            target={
                "arn": function.arn,
                "role_arn": caller,
                "input": instance.id.apply(lambda id_: json.dumps({"hours": args.hours, "instance": id_})),
                # A later call is as good as a repeated one.
                "retry_policy": {"maximum_event_age_in_seconds": MINUTES * 60, "maximum_retry_attempts": 3},
            },
            opts=child,
        )
        self.function = function.name
        self.register_outputs({"function": self.function})
