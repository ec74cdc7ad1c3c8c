"""The stack of start-stop: its machines, and the jobs that may start and stop them."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from components.aws.github_trust import provider_arn
from gpu_ci.back_ends.start_stop.aws_access import permissions
from gpu_ci.back_ends.start_stop.gcp_access import INSTANCE, condition
from gpu_ci.back_ends.start_stop.names import role_name
from gpu_ci.stack_file.identity import Identity
from ops.plan.model import Plan, Planned
from tests.components.iam import accepts, allowed
from tests.plan.stacks import planned

pytestmark = pytest.mark.plan

ACCOUNT: Final = "123456789012"
MACHINE: Final = f"arn:aws:ec2:us-west-2:{ACCOUNT}:instance/i-1"
TOKEN: Final = {
    "aud": "sts.amazonaws.com",
    "sub": "repo:example-org/vision:environment:gpu-ci",
    "repository_id": "123456789",
    "ref": "refs/pull/7/merge",
}


def plan() -> Plan:
    return planned("examples/start-stop.yaml")


def named(type_: str, name: str) -> Planned:
    (found,) = [one for one in plan().of(type_) if one.name == name]
    return found


def trust() -> Any:
    return json.loads(named("aws:iam/role:Role", "start-gpu-t4-role").inputs["assumeRolePolicy"])


@pytest.mark.parametrize(
    "subject",
    ["repo:example-org/vision:environment:gpu-ci", "repo:example-org@987654/vision@123456789:environment:gpu-ci"],
)
def test_jobs_of_the_environment_can_start_the_machine(subject: str) -> None:
    assert accepts(trust(), provider_arn(ACCOUNT), {**TOKEN, "sub": subject})


@pytest.mark.parametrize(
    ("why", "changed"),
    [
        ("another repository", {"sub": "repo:example-org/speech:environment:gpu-ci", "repository_id": "1"}),
        ("another environment", {"sub": "repo:example-org/vision:environment:production"}),
        ("no environment", {"sub": "repo:example-org/vision:ref:refs/heads/main"}),
        ("a pull request of a fork", {"sub": "repo:example-org/vision:pull_request"}),
        ("a name that was registered again", {"repository_id": "2"}),
        ("another audience", {"aud": "https://github.com/example-org"}),
    ],
)
def test_other_jobs_cannot_start_the_machine(why: str, changed: dict[str, str]) -> None:
    assert not accepts(trust(), provider_arn(ACCOUNT), {**TOKEN, **changed}), why


@pytest.mark.parametrize(
    ("action", "resource", "allows"),
    [
        ("ec2:StartInstances", MACHINE, True),
        ("ec2:StopInstances", MACHINE, True),
        ("ec2:StopInstances", MACHINE.replace("i-1", "i-2"), False),
        ("ec2:TerminateInstances", MACHINE, False),
        ("ec2:CreateTags", MACHINE, False),
        ("ec2:ModifyInstanceAttribute", MACHINE, False),
        ("ec2:DescribeInstances", "*", True),
        ("ssm:GetParameter", "*", False),
    ],
)
def test_the_role_can_only_start_stop_and_describe_the_machine(action: str, resource: str, *, allows: bool) -> None:
    policy = permissions(MACHINE, "us-west-2")

    assert allowed([policy], action, resource, {"aws:RequestedRegion": "us-west-2"}) is allows


def test_the_role_sees_one_region_only() -> None:
    policy = permissions(MACHINE, "us-west-2")

    assert not allowed([policy], "ec2:DescribeInstances", "*", {"aws:RequestedRegion": "us-east-1"})


def test_on_google_cloud_both_subjects_have_the_roles_and_one_is_limited_to_the_instance() -> None:
    members = [
        one for one in plan().of("gcp:projects/iAMMember:IAMMember") if one.name.startswith("start-gpu-l4-access-")
    ]
    limit = condition("gpu-test-runners", "us-central1-b", "gpu-ci-start-stop-gpu-l4")
    limited = [one for one in members if "condition" in one.inputs]
    role = named("gcp:projects/iAMCustomRole:IAMCustomRole", "start-gpu-l4-access-instance")
    other = named("gcp:projects/iAMCustomRole:IAMCustomRole", "start-gpu-l4-access-operations")

    assert len(members) == 4
    assert [one.inputs["condition"]["expression"] for one in limited] == [limit] * 2
    assert all(one.name.startswith("start-gpu-l4-access-instance") for one in limited)
    assert role.inputs["permissions"] == list(INSTANCE)
    assert other.inputs["permissions"] == ["compute.zoneOperations.get"]


def test_compute_engine_itself_stops_the_machine_after_its_hours() -> None:
    machine = named("gcp:compute/instance:Instance", "start-gpu-l4")

    assert machine.inputs["scheduling"]["maxRunDuration"] == {"seconds": 2 * 3600}
    assert machine.inputs["scheduling"]["instanceTerminationAction"] == "STOP"


def test_a_schedule_on_aws_checks_the_hours_of_the_machine() -> None:
    assert [one.name for one in plan().of("aws:scheduler/schedule:Schedule")] == ["start-gpu-t4-limit"]


@pytest.mark.parametrize("runner", ["gpu", "g" * 100])
def test_the_name_of_a_role_fits_iam_and_identifies_the_runner(runner: str) -> None:
    identity = Identity(project="gpu-ci", stack="s" * 40)
    other = role_name(identity, f"{runner}-2")

    assert len(role_name(identity, runner)) <= 64
    assert role_name(identity, runner) != other
