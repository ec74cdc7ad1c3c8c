"""Tests of the flow logs: encrypted, with an end, and written by a role that can write nothing else."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from components.aws.network.flow_logs import FlowLogs, FlowLogsArgs
from gpu_ci.checks.cost.bill import FLOW_LOGS_GB, bill
from gpu_ci.knowledge.cost.month import Case
from ops.plan.model import Plan
from tests.checks.stacks import stack
from tests.components.made import made, only
from tests.stack_file.stacks import PRODUCTION
from tests.tables import OUT

pytestmark = pytest.mark.plan

GROUP = "/aws/vpc/gpu-ci-small/flow-logs"
ARN = f"arn:aws:logs:us-west-2:123456789012:log-group:{GROUP}"


@pytest.fixture(scope="module")
def plan() -> Plan:
    args = FlowLogsArgs(
        vpc_id="vpc-1",
        title="gpu-ci-small",
        account="123456789012",
        region="us-west-2",
        retention_days=14,
        protect=False,
    )
    return made(lambda here: FlowLogs("flow-logs", args, here))


def test_flow_logs_record_every_connection_in_an_encrypted_group_with_a_retention(plan: Plan) -> None:
    log, group = only(plan, "aws:ec2/flowLog:FlowLog"), only(plan, "aws:cloudwatch/logGroup:LogGroup")

    assert (log.inputs["vpcId"], log.inputs["trafficType"]) == ("vpc-1", "ALL")
    assert log.property_dependencies["logDestination"] == (group.urn,)
    assert (group.inputs["name"], group.inputs["retentionInDays"]) == (GROUP, 14)
    assert group.property_dependencies["kmsKeyId"] == (only(plan, "aws:kms/key:Key").urn,)


def test_the_role_writes_to_its_group_only(plan: Plan) -> None:
    (statement,) = json.loads(only(plan, "aws:iam/rolePolicy:RolePolicy").inputs["policy"])["Statement"]
    trust = json.loads(only(plan, "aws:iam/role:Role").inputs["assumeRolePolicy"])["Statement"][0]

    assert statement["Resource"] == [ARN, f"{ARN}:*"]
    assert trust["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}


def test_flow_logs_are_in_the_cost_of_the_stack() -> None:
    with_logs = bill(stack(name=PRODUCTION)).by_path(Case.IDLE)["network.flow-logs"]
    longer = bill(stack({"network/flow-logs/retention-days": 365}, PRODUCTION)).by_path(Case.IDLE)
    without = bill(stack({"network/flow-logs": OUT}, PRODUCTION)).by_path(Case.IDLE)

    assert with_logs == FLOW_LOGS_GB * Decimal("0.50") + FLOW_LOGS_GB * 3 * Decimal("0.03") + 1
    assert longer["network.flow-logs"] > with_logs
    assert "network.flow-logs" not in without
