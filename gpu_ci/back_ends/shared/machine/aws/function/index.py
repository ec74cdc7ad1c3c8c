"""The function that AWS Lambda runs every few minutes for one EC2 instance.

It stops the instance when it has run for too long, even if its own timers, GitHub or the workflow do not. If the host
of the instance fails, it stops the instance and starts it again, on another host. EC2's own recovery does not support
instance types with an instance store, which almost all types with a GPU have.

It needs only Lambda's Python. An error is raised, so that Lambda repeats the call twice; the next call comes anyway.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3

MARK = "gpu-ci-recovery"
"""The tag of an instance that is stopped to be started on another host."""


def handler(event: dict[str, Any], _context: object) -> str:
    """Check one instance, and return what was done."""
    return check(boto3.client("ec2"), event["instance"], timedelta(hours=event["hours"]), datetime.now(UTC))


def check(ec2: Any, instance_id: str, limit: timedelta, now: datetime) -> str:
    """Stop an instance that has run for `limit` or whose host failed; start one that was stopped for the latter."""
    (reservation,) = ec2.describe_instances(InstanceIds=[instance_id])["Reservations"]
    (instance,) = reservation["Instances"]
    state, marked = instance["State"]["Name"], MARK in {tag["Key"] for tag in instance.get("Tags", ())}
    if state == "stopped" and marked:
        # The mark is removed first: an instance that cannot start is not started again and again.
        ec2.delete_tags(Resources=[instance_id], Tags=[{"Key": MARK}])
        ec2.start_instances(InstanceIds=[instance_id])
        return f"{instance_id} starts on another host"
    if state != "running":
        return f"{instance_id} is {state}"
    age = now - instance["LaunchTime"]
    if age >= limit:
        ec2.stop_instances(InstanceIds=[instance_id])
        return f"{instance_id} has run for {age}, more than {limit}, and is stopped"
    if _host_failed(ec2, instance_id):
        ec2.create_tags(Resources=[instance_id], Tags=[{"Key": MARK, "Value": now.isoformat()}])
        ec2.stop_instances(InstanceIds=[instance_id])
        return f"{instance_id} is stopped, because its host has failed"
    return f"{instance_id} has run for {age} of {limit}"


def _host_failed(ec2: Any, instance_id: str) -> bool:
    """Return whether EC2 reports a fault of the host. A new instance has no status yet."""
    found = ec2.describe_instance_status(InstanceIds=[instance_id])["InstanceStatuses"]
    return any(one["SystemStatus"]["Status"] == "impaired" for one in found)
