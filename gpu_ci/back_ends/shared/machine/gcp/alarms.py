"""Alarms on Google Cloud about one machine, sent by e-mail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from gpu_ci.back_ends.shared.machine.hours import Hours

METRICS: Final = "custom.googleapis.com/gpu-ci"
"""The prefix of the metrics that a machine writes each minute."""
_OFFLINE_MINUTES: Final = 20
"""Minutes from a start until the runner must be online. The first boot installs the driver."""
_IDLE_PERCENT: Final = 5
"""The use of a GPU below which it is idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpAlarmsArgs:
    """The machine and the limits."""

    project: str
    title: str
    """The name of the machine."""
    instance_id: Output[str]
    """The number of the instance."""
    email: str
    """The address."""
    idle_minutes: int
    """Minutes without use of the GPU before the alarm."""
    hours: Hours | None
    """The usual hours; none if all hours are usual."""


class GcpAlarms(pulumi.ComponentResource):
    """Alarms: the runner is offline, the GPU is idle, a job runs at an unusual hour.

    They are queries in PromQL. A condition of another kind is refused until the first value of its metric exists.
    """

    def __init__(self, name: str, args: GcpAlarmsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:MachineAlarms", name, None, opts)
        child = ResourceOptions(parent=self)
        channel = gcp.monitoring.NotificationChannel(
            name,
            project=args.project,
            display_name=f"{args.title}: alarms",
            type="email",
            labels={"email_address": args.email},
            opts=child,
        )
        alarms = {
            "offline": (f"{args.title}: the runner is offline", offline, _OFFLINE_MINUTES),
            "gpu-idle": (
                f"{args.title}: the GPU has been idle for {args.idle_minutes} minutes",
                lambda instance: idle(instance, args.idle_minutes),
                0,
            ),
        }
        if args.hours is not None:
            spans = args.hours.in_utc
            alarms["unusual-hours"] = (
                f"{args.title}: a job runs outside the hours of the schedule",
                lambda instance: unusual(instance, spans),
                5,
            )
        for key, (title, query, minutes) in alarms.items():
            gcp.monitoring.AlertPolicy(
                f"{name}-{key}",
                project=args.project,
                display_name=title,
                combiner="OR",
                conditions=[
                    {
                        "display_name": title,
                        "condition_prometheus_query_language": {
                            "query": args.instance_id.apply(query),
                            "duration": f"{minutes * 60}s",
                            "evaluation_interval": "60s",
                            # The metrics exist after the machine's first minute.
                            "disable_metric_validation": True,
                        },
                    }
                ],
                notification_channels=[channel.name],
                opts=child,
            )
        self.register_outputs({})


def offline(instance: str) -> str:
    """Return the query for a machine that runs while its runner is not online."""
    return f"{_running(instance)} > 0 unless on (instance_id) {_own('RunnerOnline', instance)} == 1"


def idle(instance: str, minutes: int) -> str:
    """Return the query for a machine that has run for some minutes and did not use its GPU."""
    used = f"max_over_time({_own('GpuUtilization', instance)}[{minutes}m])"
    return f"{used} < {_IDLE_PERCENT} and on (instance_id) {_running(instance)} > {minutes * 60}"


def unusual(instance: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Return the query for a job outside some spans of minutes of the week in UTC."""
    now = "(day_of_week() * 1440 + hour() * 60 + minute())"
    usual = " or ".join(f"({now} >= {first} < {last})" for first, last in spans)
    return f"{_own('RunnerBusy', instance)} == 1 unless on () ({usual})"


def _running(instance: str) -> str:
    """Return the seconds since the start; a stopped machine has no such series."""
    return f'compute_googleapis_com:instance_uptime_total{{monitored_resource="gce_instance",instance_id="{instance}"}}'


def _own(metric: str, instance: str) -> str:
    """Return a metric of the machine, by the name that Cloud Monitoring gives it in PromQL."""
    name = METRICS.replace("/", ":", 1).replace(".", "_").replace("-", "_")
    return f'{name}_{metric}{{monitored_resource="gce_instance",instance_id="{instance}"}}'
