"""Permissions of a machine on EC2 and of the services that start and stop it. Pure.

Session Manager needs the four actions on its channels and one on the agent's heartbeat (AWS Systems Manager user guide,
"Create a custom IAM role for Session Manager", 2026). The managed policy AmazonSSMManagedInstanceCore also allows
`ssm:GetParameter` on every parameter of the account.
"""

from __future__ import annotations

from typing import Final

from components.aws.documents import allow, document

NAMESPACE: Final = "gpu-ci"
"""The namespace of the machine's metrics."""
STATUS_TAG: Final = "gpu-ci-runner"
"""The tag in which the machine states the status of its runner."""

RECOVERY_TAG: Final = "gpu-ci-recovery"
"""The tag of a machine that is stopped to be started on another host (`function/index.py`)."""


def key_parameter(prefix: str) -> str:
    """Return the SSM parameter with the private key of the GitHub App."""
    return f"/{prefix}/github-app-private-key"


def machine(*, account: str, region: str, parameter: str) -> str:
    """Return the permissions that the machine needs to boot: sessions, the App's key, and its metrics."""
    return document(
        allow(
            [
                "ssm:UpdateInstanceInformation",
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            ["*"],
        ),
        allow(["ssm:GetParameter"], [f"arn:aws:ssm:{region}:{account}:parameter{parameter}"]),
        allow(["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": NAMESPACE}}),
    )


def own_status(instance: str) -> str:
    """Return the permission to write the status tag of the machine itself, and no other tag."""
    return document(allow(["ec2:CreateTags"], [instance], {"ForAllValues:StringEquals": {"aws:TagKeys": [STATUS_TAG]}}))


def switching(instance: str, *, dead_letters: str) -> str:
    """Return the permissions of a schedule: start and stop one machine, and keep events that failed."""
    return document(
        allow(["ec2:StartInstances", "ec2:StopInstances"], [instance]),
        allow(["sqs:SendMessage"], [dead_letters]),
    )


def scheduler_trust(account: str) -> str:
    """Return a trust document for the schedules of one account, and no other's."""
    return document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "scheduler.amazonaws.com"},
            "Action": "sts:AssumeRole",
            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
        }
    )


def calling(function: str) -> str:
    """Return the permission to call one function."""
    return document(allow(["lambda:InvokeFunction"], [function]))


def limiting(instance: str, log: str) -> str:
    """Return the permissions of the time limit: see instances, switch and mark one, and write one log.

    EC2 restricts `Describe*` to no instance.
    """
    return document(
        allow(["ec2:DescribeInstanceStatus", "ec2:DescribeInstances"], ["*"]),
        allow(["ec2:StartInstances", "ec2:StopInstances"], [instance]),
        allow(
            ["ec2:CreateTags", "ec2:DeleteTags"],
            [instance],
            {"ForAllValues:StringEquals": {"aws:TagKeys": [RECOVERY_TAG]}},
        ),
        allow(["logs:CreateLogStream", "logs:PutLogEvents"], [f"{log}:*"]),
    )
