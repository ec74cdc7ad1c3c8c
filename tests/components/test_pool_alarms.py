"""Alarms of CloudWatch about the machines of GPU pools: their conditions, their address and their cost."""

from __future__ import annotations

from typing import Any

import pytest

from components.aws.nodes.pool_alarm_rules import PERIOD, pool_alarms
from gpu_ci.checks.cost import bill
from gpu_ci.derived.kubernetes import job_pools
from ops.fakes.aws.watch import TABLE
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.checks.stacks import stack
from tests.plan import stacks

pytestmark = pytest.mark.plan

STATED = {"email": "ci@example.org", "idle-minutes": 90}


def planned() -> Plan:
    def change(monitoring: dict[str, Any]) -> None:
        monitoring["cloudwatch"] = STATED

    return record(stacks.changed(stacks.STAGING, "monitoring", change))


def test_each_pool_has_its_alarms_for_its_machines_and_one_topic_gets_them() -> None:
    plan = planned()
    alarms = {one.inputs["name"]: one.inputs for one in plan.of("aws:cloudwatch/metricAlarm:MetricAlarm")}
    mine = {name: one for name, one in alarms.items() if "AutoScalingGroupName" in one.get("dimensions", {})}
    (topic,) = [one for one in plan.of("aws:sns/topic:Topic") if one.name == "pool-alarms"]
    (address,) = [one for one in plan.of("aws:sns/topicSubscription:TopicSubscription") if one.name == "pool-alarms"]

    assert set(mine) == {
        f"gpu-ci-staging-{pool}-{key}" for pool in ("t4-spot", "t4-on-demand") for key in ("failed", "idle")
    }
    assert topic.inputs["name"] == "gpu-ci-staging-pool-alarms"
    assert (address.inputs["protocol"], address.inputs["endpoint"]) == ("email", "ci@example.org")
    assert len({one["dimensions"]["AutoScalingGroupName"] for one in mine.values()}) == 2


def test_idle_machines_raise_an_alarm_after_the_stated_minutes() -> None:
    idle = pool_alarms("t4", idle_minutes=90)["idle"]

    assert idle["evaluation_periods"] * PERIOD == 90 * 60
    assert (idle["metric_name"], idle["statistic"], idle["comparison_operator"]) == (
        "CPUUtilization", "Maximum", "LessThanThreshold"
    )  # fmt: skip


@pytest.mark.parametrize("minutes", [15, 60, 1440])
def test_cloudwatch_evaluates_every_period_that_the_stack_file_accepts(minutes: int) -> None:
    for alarm in pool_alarms("t4", idle_minutes=minutes).values():
        assert alarm["period"] * alarm["evaluation_periods"] <= 86_400


def test_a_pool_without_machines_raises_no_alarm() -> None:
    assert {one["treat_missing_data"] for one in pool_alarms("t4", idle_minutes=60).values()} == {"notBreaching"}
    (row,) = [one for one in TABLE if one.type == "aws:cloudwatch/metricAlarm:MetricAlarm"]
    assert "notBreaching" in row.choices["treatMissingData"]


@pytest.mark.parametrize(
    ("changes", "pools"),
    [
        ({}, {"t4-spot", "t4-on-demand"}),
        ({"gpu-pools/t4-spot/min": 1}, {"t4-on-demand"}),
        ({"runners/gpu-t4-steady/arc/min": 1}, {"t4-spot"}),
        ({"runners/gpu-t4/arc/min": 1}, set()),
    ],
)
def test_only_pools_that_are_for_jobs_have_the_alarm_of_idle_machines(changes: dict[str, Any], pools: set[str]) -> None:
    assert job_pools(stack(changes)) == pools


def test_the_alarms_are_in_the_cost() -> None:
    changes = {"monitoring/cloudwatch": STATED, "gpu-pools/t4-spot/min": 1}
    (item,) = [one for one in bill.bill(stack(changes)).items if one.path == "monitoring.cloudwatch"]

    assert (item.what, int(item.quantity.idle)) == ("alarms", 3)
