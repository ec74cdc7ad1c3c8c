"""Alarms of CloudWatch about the machines of the GPU pools, sent by e-mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, ResourceOptions

from components.aws.nodes.pool_alarm_rules import pool_alarms


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolAlarmsArgs:
    """The pools and the address."""

    title: str
    """The start of the names of the topic and the alarms."""
    email: str
    """The address, which must confirm the subscription once."""
    groups: Mapping[str, Input[str]]
    """Pool to the name of its auto-scaling group."""
    idle_minutes: Mapping[str, int]
    """Pool to the minutes without work before the alarm, for the pools whose machines are only for jobs."""


class PoolAlarms(pulumi.ComponentResource):
    """A topic with one address, and the alarms of each pool: a failed machine, and machines without work."""

    def __init__(self, name: str, args: PoolAlarmsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:PoolAlarms", name, None, opts)
        child = ResourceOptions(parent=self)
        topic = aws.sns.Topic(name, name=f"{args.title}-pool-alarms", display_name=args.title, opts=child)
        aws.sns.TopicSubscription(name, topic=topic.arn, protocol="email", endpoint=args.email, opts=child)
        for pool, group in args.groups.items():
            for key, alarm in pool_alarms(pool, idle_minutes=args.idle_minutes.get(pool)).items():
                aws.cloudwatch.MetricAlarm(
                    f"{name}-{pool}-{key}",
                    name=f"{args.title}-{pool}-{key}",
                    dimensions={"AutoScalingGroupName": group},
                    alarm_actions=[topic.arn],
                    **alarm,
                    opts=child,
                )
        self.register_outputs({})
