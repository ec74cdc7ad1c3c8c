"""Alarms on AWS about one machine, sent by e-mail.

The machine publishes its metrics each minute while it runs. Times of metric math are in UTC, and Monday is day 1
(CloudWatch user guide, "Using math expressions with CloudWatch metrics", 2026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from gpu_ci.back_ends.shared.machine.aws.permissions import NAMESPACE
from gpu_ci.back_ends.shared.machine.hours import DAY, WEEK, Hours

if TYPE_CHECKING:
    from gpu_ci.back_ends.shared.machine.aws.instance import Instance

_PERIOD: Final = 300
_OFFLINE_PERIODS: Final = 4
"""Periods from a start until the runner must be online. The first boot installs the driver."""
_IDLE_PERCENT: Final = 5
"""The use of a GPU below which it is idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineAlarmsArgs:
    """The machine, its limits, and the address."""

    instance: Instance
    email: str
    """The address, which must confirm the subscription once."""
    idle_minutes: int
    """Minutes without use of the GPU before the alarm."""
    hours: Hours | None
    """The usual hours; none if all hours are usual."""
    function: Output[str]
    """The name of the function of the time limit."""
    failed: Output[str] | None
    """The name of the queue with failed starts and stops; none without a schedule."""


class MachineAlarms(pulumi.ComponentResource):
    """Alarms: runner offline, GPU idle, a job at an unusual hour, a failed limit or schedule."""

    def __init__(self, name: str, args: MachineAlarmsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:MachineAlarms", name, None, opts)
        child, instance = ResourceOptions(parent=self), args.instance
        topic = aws.sns.Topic(
            name, name=f"{instance.title}-alarms", region=instance.region, display_name=instance.title, opts=child
        )
        aws.sns.TopicSubscription(
            name, region=instance.region, topic=topic.arn, protocol="email", endpoint=args.email, opts=child
        )
        machine = {"InstanceId": instance.id}
        alarms: dict[str, dict[str, Any]] = {
            "offline": {
                "alarm_description": f"{instance.title} runs, but its runner is offline",
                "comparison_operator": "LessThanThreshold",
                "threshold": 1,
                "evaluation_periods": _OFFLINE_PERIODS,
                "metric_queries": [
                    _metric("online", NAMESPACE, "RunnerOnline", machine),
                    # EC2 publishes this metric only while the machine runs.
                    _metric("running", "AWS/EC2", "StatusCheckFailed", machine),
                    _shown("FILL(online, 0) + 0 * running", "the runner is online"),
                ],
            },
            "gpu-idle": {
                "alarm_description": f"{instance.title} has not used its GPU for {args.idle_minutes} minutes",
                "comparison_operator": "LessThanThreshold",
                "threshold": _IDLE_PERCENT,
                "evaluation_periods": args.idle_minutes * 60 // _PERIOD,
                **_watched(NAMESPACE, "GpuUtilization", "Maximum", machine),
            },
            "limit-failed": {
                "alarm_description": f"The time limit of {instance.title} failed",
                **_any(),
                **_watched("AWS/Lambda", "Errors", "Sum", {"FunctionName": args.function}),
            },
        }
        if args.hours is not None:
            alarms["unusual-hours"] = {
                "alarm_description": f"A job runs on {instance.title} outside the hours of the schedule",
                **_any(),
                "metric_queries": [
                    _metric("busy", NAMESPACE, "RunnerBusy", machine),
                    {"id": "now", "expression": _NOW, "label": "minute of the week", "return_data": False},
                    _shown(unusual(args.hours.in_utc), "a job at an unusual hour"),
                ],
            }
        if args.failed is not None:
            alarms["schedule-failed"] = {
                "alarm_description": f"A start or a stop of {instance.title} failed; the queue has the event",
                **_any(),
                **_watched("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", {"QueueName": args.failed}),
            }
        for key, stated in alarms.items():
            aws.cloudwatch.MetricAlarm(
                f"{name}-{key}",
                name=f"{instance.title}-{key}",
                region=instance.region,
                # A stopped machine publishes nothing.
                treat_missing_data="notBreaching",
                alarm_actions=[topic.arn],
                **stated,
                opts=child,
            )
        self.register_outputs({})


_NOW: Final = "DAY(busy) * 1440 + HOUR(busy) * 60 + MINUTE(busy)"


def unusual(spans: Sequence[tuple[int, int]]) -> str:
    """Return the expression that is 1 for a job outside some spans of minutes of the week in UTC, from Sunday 00:00.

    CloudWatch counts Sunday as day 7, the last of its week.
    """
    moved = [
        part
        for first, last in spans
        for part in ((first + WEEK, min(last, DAY) + WEEK), (max(first, DAY), last))
        if part[0] < part[1]
    ]
    usual = " OR ".join(f"(now >= {first} AND now < {last})" for first, last in sorted(moved))
    return f"IF({usual}, 0, busy)"


def _any() -> dict[str, Any]:
    """Return the condition of an alarm about anything at all in one period."""
    return {"comparison_operator": "GreaterThanThreshold", "threshold": 0, "evaluation_periods": 1}


def _watched(namespace: str, metric: str, statistic: str, dimensions: Mapping[str, Output[str]]) -> dict[str, Any]:
    """Return the metric of an alarm."""
    return {
        "namespace": namespace,
        "metric_name": metric,
        "statistic": statistic,
        "period": _PERIOD,
        "dimensions": dimensions,
    }


def _metric(id_: str, namespace: str, metric: str, dimensions: Mapping[str, Output[str]]) -> dict[str, Any]:
    """Return the maximum of a metric that an expression names."""
    return {
        "id": id_,
        "metric": {
            "namespace": namespace,
            "metric_name": metric,
            "stat": "Maximum",
            "period": _PERIOD,
            "dimensions": dimensions,
        },
    }


def _shown(expression: str, label: str) -> dict[str, Any]:
    """Return the expression that an alarm compares."""
    return {"id": "shown", "expression": expression, "label": label, "return_data": True}
