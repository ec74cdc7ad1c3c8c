"""Tests of a machine on EC2 in a plan: its network, its permissions, its disk, its limits and its alarms."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from gpu_ci.back_ends.shared.machine.aws.alarms import unusual
from gpu_ci.back_ends.shared.machine.aws.schedule import aws_cron
from gpu_ci.back_ends.shared.machine.hours import DAYS, Hours
from gpu_ci.back_ends.shared.machine.user_data import LIMIT
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.components.made import only, part
from tests.plan.stacks import changed, planned

pytestmark = pytest.mark.plan

EXAMPLE: Final = "examples/vm-aws.yaml"
INSTANCE: Final = "aws:ec2/instance:Instance"
TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
ALARM: Final = "aws:cloudwatch/metricAlarm:MetricAlarm"
SCHEDULE: Final = "aws:scheduler/schedule:Schedule"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(EXAMPLE)


def with_machine(change: Callable[[dict[str, Any]], object]) -> Plan:
    """Return the plan of the example with the machine's section changed."""

    def changes(runners: dict[str, Any]) -> None:
        change(runners["gpu-vm"]["vm"])

    return record(changed(EXAMPLE, "runners", changes))


def statements(plan: Plan, name: str) -> list[dict[str, Any]]:
    (policy,) = [one for one in plan.of(ROLE_POLICY) if one.name == name]
    found: list[dict[str, Any]] = json.loads(policy.inputs["policy"])["Statement"]
    return found


def instance_of(plan: Plan) -> str:
    """Return the id of the machine, which the schedules name."""
    (stated,) = {
        json.loads(one.inputs["target"]["input"])["InstanceIds"][0]
        for one in plan.of(SCHEDULE)
        if "InstanceIds" in one.inputs["target"]["input"]
    }
    return str(stated)


def actions(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {action: statement["Resource"] for statement in found for action in statement["Action"]}


def test_a_machine_accepts_no_connection(plan: Plan) -> None:
    groups = [one for one in plan if "ecurityGroup" in one.type]

    assert {one.type.rpartition(":")[2]: one.inputs.get("ingress") or [] for one in groups} == {
        "DefaultSecurityGroup": [],
        "SecurityGroup": [],
    }


@pytest.mark.parametrize("ports", [[443], [80, 443], [443, 8443, 22]])
def test_a_machine_reaches_the_internet_on_the_stated_ports_only(ports: list[int]) -> None:
    image = {"image": "ami-0123456789abcdef0", "egress-ports": ports}
    plan = with_machine(lambda vm: (vm.pop("driver"), vm.update(image)))
    group = only(plan, "aws:ec2/securityGroup:SecurityGroup")

    assert group.inputs["egress"] == [
        {"protocol": "tcp", "fromPort": port, "toPort": port, "cidrBlocks": ["0.0.0.0/0"]} for port in ports
    ]
    assert not only(plan, "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup").inputs.get("egress")


def test_the_metadata_needs_a_token_and_stays_on_the_machine(plan: Plan) -> None:
    options = {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1}

    assert part(only(plan, INSTANCE), "metadataOptions") == options
    assert part(only(plan, TEMPLATE), "metadataOptions") == options


def test_the_root_disk_is_encrypted_has_the_stated_size_and_is_stated_once(plan: Plan) -> None:
    """The provider refuses the disk of a machine whose template names its image by a parameter."""
    exact = with_machine(lambda vm: (vm.pop("driver"), vm.update(image="ami-0123456789abcdef0")))
    stated = {"volumeType": "gp3", "volumeSize": 100, "encrypted": True, "deleteOnTermination": True}
    (mapping,) = only(plan, TEMPLATE).inputs["blockDeviceMappings"]

    texts = {"encrypted": "true", "deleteOnTermination": "true"}
    assert mapping == {"deviceName": "/dev/sda1", "ebs": {**stated, **texts}}
    assert "rootBlockDevice" not in only(plan, INSTANCE).inputs
    assert part(only(exact, INSTANCE), "rootBlockDevice") == {**stated, "tags": {"Name": "gpu-ci-vm-aws-gpu-vm"}}
    assert only(exact, INSTANCE).inputs["ami"] == "ami-0123456789abcdef0"
    assert not exact.of(TEMPLATE)


def test_user_data_is_within_the_limit_and_no_input_has_a_secret(plan: Plan) -> None:
    text = part(only(plan, INSTANCE), "userData")

    assert len(text.encode()) < LIMIT
    inputs = json.dumps([one.inputs for one in plan], default=str)
    assert [word for word in ("PRIVATE KEY", "ghs_", "ghp_", "AKIA") if word in inputs] == []
    assert [one.name for one in plan if one.secret_paths] == []


def test_the_role_may_read_the_key_of_the_app_and_no_other_parameter(plan: Plan) -> None:
    granted = actions(statements(plan, "vm-gpu-vm"))

    assert granted["ssm:GetParameter"] == [
        "arn:aws:ssm:us-west-2:123456789012:parameter/gpu-ci-vm-aws/github-app-private-key"
    ]
    assert {action for action in granted if action.startswith("ssm:Get")} == {"ssm:GetParameter"}
    assert not plan.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")


def test_the_role_may_publish_metrics_of_its_namespace_only(plan: Plan) -> None:
    (metrics,) = [one for one in statements(plan, "vm-gpu-vm") if "cloudwatch:PutMetricData" in one["Action"]]

    assert metrics["Condition"] == {"StringEquals": {"cloudwatch:namespace": "gpu-ci"}}


def test_the_role_may_write_one_tag_of_its_own_machine(plan: Plan) -> None:
    (tags,) = statements(plan, "vm-gpu-vm-status")

    assert tags["Action"] == ["ec2:CreateTags"]
    assert tags["Resource"] == [f"arn:aws:ec2:us-west-2:123456789012:instance/{instance_of(plan)}"]
    assert tags["Condition"] == {"ForAllValues:StringEquals": {"aws:TagKeys": ["gpu-ci-runner"]}}


def test_the_limit_may_switch_its_own_machine_only(plan: Plan) -> None:
    granted = actions(statements(plan, "vm-gpu-vm-limit"))
    own = [f"arn:aws:ec2:us-west-2:123456789012:instance/{instance_of(plan)}"]

    assert {action for action, resources in granted.items() if resources == ["*"]} == {
        "ec2:DescribeInstanceStatus",
        "ec2:DescribeInstances",
    }
    assert granted["ec2:StopInstances"] == granted["ec2:StartInstances"] == granted["ec2:CreateTags"] == own


@pytest.mark.parametrize(("release", "kind"), [("24.04", "gp3"), ("22.04", "gp2")])
def test_a_machine_starts_from_the_newest_image_of_its_release_and_keeps_it(release: str, kind: str) -> None:
    plan = with_machine(lambda vm: vm.update(os=f"ubuntu-{release}"))
    parameter = f"/aws/service/canonical/ubuntu/server/{release}/stable/current/amd64/hvm/ebs-{kind}/ami-id"

    assert only(plan, TEMPLATE).inputs["imageId"] == f"resolve:ssm:{parameter}"
    assert part(only(plan, INSTANCE), "launchTemplate", "version") == "1"
    assert "ami" not in only(plan, INSTANCE).inputs


@pytest.mark.parametrize("spot", [False, True])
def test_a_spot_machine_stops_instead_of_terminating(spot: bool) -> None:
    instance = only(with_machine(lambda vm: vm.update(spot=spot)), INSTANCE)

    assert instance.inputs["instanceInitiatedShutdownBehavior"] == "stop"
    assert instance.inputs.get("instanceMarketOptions") == (
        {
            "marketType": "spot",
            "spotOptions": {"spotInstanceType": "persistent", "instanceInterruptionBehavior": "stop"},
        }
        if spot
        else None
    )


def test_a_machine_without_a_schedule_and_alarms_keeps_its_limit() -> None:
    plan = with_machine(lambda vm: (vm.pop("schedule"), vm.pop("alerts")))

    assert [one.inputs["scheduleExpression"] for one in plan.of(SCHEDULE)] == ["rate(15 minutes)"]
    assert not any(plan.of(type_) for type_ in (ALARM, "aws:sqs/queue:Queue", "aws:sns/topic:Topic"))


def test_a_schedule_starts_and_stops_the_machine_in_its_time_zone(plan: Plan) -> None:
    found = {one.inputs["name"]: one.inputs for one in plan.of(SCHEDULE)}
    start = found["gpu-ci-vm-aws-gpu-vm-start"]

    assert (start["scheduleExpression"], start["scheduleExpressionTimezone"]) == (
        "cron(0 2 ? * 2,3,4,5,6 *)",
        "Europe/Prague",
    )
    assert found["gpu-ci-vm-aws-gpu-vm-stop"]["scheduleExpression"] == "cron(0 6 ? * 2,3,4,5,6 *)"
    assert start["target"]["arn"] == "arn:aws:scheduler:::aws-sdk:ec2:startInstances"
    assert json.loads(start["target"]["input"]) == {"InstanceIds": [instance_of(plan)]}


@pytest.mark.parametrize(
    ("cron", "expected"), [("30 7 * * 0", "cron(30 7 ? * 1 *)"), ("0 22 * * 1,6", "cron(0 22 ? * 2,7 *)")]
)
def test_the_days_of_a_schedule_have_the_format_of_eventbridge(cron: str, expected: str) -> None:
    assert aws_cron(cron) == expected


def test_every_alarm_goes_to_the_stated_address_and_ignores_a_stopped_machine(plan: Plan) -> None:
    topic = "arn:aws:sns:us-west-2:123456789012:gpu-ci-vm-aws-gpu-vm-alarms"
    alarms = {one.inputs["name"].removeprefix("gpu-ci-vm-aws-gpu-vm-"): one.inputs for one in plan.of(ALARM)}

    assert only(plan, "aws:sns/topicSubscription:TopicSubscription").inputs["endpoint"] == "ci@example.org"
    assert set(alarms) == {"offline", "gpu-idle", "limit-failed", "unusual-hours", "schedule-failed"}
    assert {name for name, alarm in alarms.items() if alarm["alarmActions"] != [topic]} == set()
    assert {alarm["treatMissingData"] for alarm in alarms.values()} == {"notBreaching"}
    assert alarms["gpu-idle"]["period"] * alarms["gpu-idle"]["evaluationPeriods"] == 3600


def usual(expression: str, at: datetime) -> bool:
    """Evaluate an expression of metric math for a job at a time in UTC."""
    minute = at.isoweekday() * 1440 + at.hour * 60 + at.minute
    condition = expression.removeprefix("IF(").removesuffix(", 0, busy)")
    python = ast.parse(condition.replace(" AND ", " and ").replace(" OR ", " or "), mode="eval")
    return bool(eval(compile(python, "expression", "eval"), {"now": minute}))  # noqa: S307 - it is this test's own


TIMES: Final = st.times().map(lambda time: f"{time.hour:02}:{time.minute:02}")
ZONES: Final = st.sampled_from(["UTC", "Europe/Prague", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"])


@hypothesis(max_examples=80, deadline=None)
@given(
    zone=ZONES,
    days=st.lists(st.sampled_from(DAYS), min_size=1, max_size=7, unique=True),
    start=TIMES,
    stop=TIMES,
    at=st.datetimes(datetime(2026, 1, 5), datetime(2026, 2, 20)),  # noqa: DTZ001 - made aware below
)
def test_a_job_is_at_a_usual_hour_while_the_schedule_runs_the_machine(
    zone: str, days: list[str], start: str, stop: str, at: datetime
) -> None:
    """In winter of the north, and in summer of the south: the expression allows the hours of both seasons."""
    if start == stop:
        return
    hours = Hours(time_zone=zone, days=days, start=start, stop=stop)
    local = at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
    clock = f"{local.hour:02}:{local.minute:02}"
    today, yesterday = (DAYS[(local - timedelta(days=ago)).isoweekday() % 7] for ago in (0, 1))
    if hours.next_day:
        runs = (today in days and clock >= start) or (yesterday in days and clock < stop)
    else:
        runs = today in days and start <= clock < stop

    assert usual(unusual(hours.in_utc), at) or not runs


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (datetime(2026, 1, 5, 2, 0, tzinfo=UTC), True),
        (datetime(2026, 1, 5, 6, 0, tzinfo=UTC), False),
        (datetime(2026, 1, 11, 3, 0, tzinfo=UTC), False),
    ],
)
def test_an_hour_outside_the_schedule_is_unusual(at: datetime, expected: bool) -> None:
    hours = Hours(time_zone="UTC", days=("mon", "tue"), start="02:00", stop="06:00")

    assert usual(unusual(hours.in_utc), at) == expected


def test_sunday_is_the_last_day_of_a_schedule_week() -> None:
    hours = Hours(time_zone="UTC", days=("sun",), start="22:00", stop="03:00")

    assert unusual(hours.in_utc) == "IF((now >= 1440 AND now < 1620) OR (now >= 11400 AND now < 11520), 0, busy)"
