"""The phases of a rehearsal, and the faulty programs that each of them finds."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pulumi
import pytest

from ops.engine import engine, plan_differences, rehearsal
from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.engine.rehearsal import Phase
from ops.fakes.aws import names as aws
from ops.plan.recorder import record
from tests.engine import programs
from tests.engine.programs import Made, aws_provider, stack_file

pytestmark = pytest.mark.engine


def failed(cli: Found, program: Callable[[], None], config: dict[str, str] | None = None) -> Phase:
    """Return the phase at which a program fails."""
    phases = rehearsal.rehearse(cli, stack_file(config), program=program).phases
    assert [phase.ok for phase in phases] == [True] * (len(phases) - 1) + [False]
    return phases[-1]


def test_a_rehearsal_reports_its_phases_in_order(cli: Found) -> None:
    done = rehearsal.rehearse(cli, stack_file({"gpu-ci:tags": '{"Team":{"max":1}}'}), program=programs.network)

    assert [(phase.name, phase.summary) for phase in done.phases] == [
        ("preview", "6 to create, as planned"),
        ("up", "6 created, as planned"),
        ("preview again", "no changes"),
        ("change", "tags.Team.max from 1 to 2: 1 changed, as planned"),
        ("preview after the change", "no changes"),
        ("destroy", "6 deleted, nothing remains"),
        ("up with a fault", "create 1 refused, 4 created"),
        ("up after the fault", "the other 2 created, as planned"),
        ("destroy", "6 deleted, nothing remains"),
    ]


def test_a_stack_without_resources_has_no_create_to_fail(cli: Found) -> None:
    done = rehearsal.rehearse(cli, stack_file(), program=lambda: pulumi.export("commands", "none"))

    assert [(phase.name, phase.summary) for phase in done.phases] == [
        ("preview", "1 to create, as planned"),
        ("up", "1 created, as planned"),
        ("preview again", "no changes"),
        ("destroy", "1 deleted, nothing remains"),
    ]


def test_a_program_that_differs_from_run_to_run_fails_the_preview(cli: Found) -> None:
    numbers = itertools.count()

    def program() -> None:
        Made(aws.KEY, "key", {"description": f"run {next(numbers)}"}, aws_provider())

    phase = failed(cli, program)

    assert (phase.name, phase.summary) == ("preview", "3 to create")
    assert phase.findings == (
        f"urn:pulumi:small::gpu-ci::{aws.KEY}::key description: the plan has 'run 2', the engine has 'run 1'",
    )


def test_a_program_that_changes_after_an_update_fails_the_second_preview(cli: Found) -> None:
    runs: list[None] = []

    def program() -> None:
        runs.append(None)
        # Two recordings, a preview and an update run it before the second preview.
        Made(aws.KEY, "key", {"description": "old" if len(runs) < 5 else "new"}, aws_provider())

    phase = failed(cli, program)

    assert phase.summary == "1 changes"
    assert (phase.name, phase.findings) == ("preview again", (f"update {aws.KEY} key (description)",))


def test_a_resource_created_in_an_apply_is_a_difference(cli: Found) -> None:
    """Both previews lack the resource; the plan of the update has it."""

    def program() -> None:
        opts = aws_provider()
        key = Made(aws.KEY, "key", {}, opts)
        key.arn.apply(lambda id_: Made(aws.KEY, "hidden", {"description": id_}, opts))

    with Engine(cli, stack_file(), program) as live:
        outcome = live.preview(goals=True)
    found = plan_differences.from_preview(record(stack_file(), program=program), outcome.goals)

    assert [one.urn.rpartition("::")[2] for one in found if not one.path] == ["hidden"]


def test_a_missing_dependency_fails_the_update(cli: Found) -> None:
    """The cluster has no input from the role's policy: without `depends_on`, it can be created first."""

    def program() -> None:
        opts = aws_provider()
        vpc = Made(aws.VPC, "vpc", {"cidrBlock": "10.0.0.0/16"}, opts)
        subnet = Made(aws.SUBNET, "subnet", {"vpcId": vpc.id, "cidrBlock": "10.0.1.0/24"}, opts)
        role = Made(aws.ROLE, "role", {"name": "cluster"}, opts)
        cluster = Made(
            aws.CLUSTER,
            "cluster",
            {"name": "ci", "roleArn": role.arn, "vpcConfig": {"subnetIds": [subnet.id]}},
            opts,
        )
        policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
        late = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[cluster]))
        Made(aws.ATTACHMENT, "policy", {"role": role.id, "policyArn": policy}, late)

    phase = failed(cli, program)

    assert phase.name == "up", phase.findings
    assert "The provided role doesn't have the Amazon EKS Managed Policies" in phase.findings[0]


def test_an_object_that_remains_fails_the_destroy(cli: Found) -> None:
    """EKS creates a log group for a cluster without one, and no stack deletes it."""

    def program() -> None:
        opts = aws_provider()
        vpc = Made(aws.VPC, "vpc", {"cidrBlock": "10.0.0.0/16"}, opts)
        subnets = [
            Made(aws.SUBNET, zone, {"vpcId": vpc.id, "cidrBlock": cidr, "availabilityZone": zone}, opts)
            for zone, cidr in {"us-west-2a": "10.0.1.0/24", "us-west-2b": "10.0.2.0/24"}.items()
        ]
        role = Made(aws.ROLE, "role", {"name": "cluster"}, opts)
        policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
        attached = Made(aws.ATTACHMENT, "policy", {"role": role.id, "policyArn": policy}, opts)
        after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[attached]))
        logged = {"name": "ci", "roleArn": role.arn, "enabledClusterLogTypes": ["audit"]}
        Made(aws.CLUSTER, "cluster", {**logged, "vpcConfig": {"subnetIds": [one.id for one in subnets]}}, after)

    phase = failed(cli, program)

    assert (phase.name, phase.findings) == (
        "destroy",
        (f"{aws.LOG_GROUP} /aws/eks/ci/cluster is still in the cloud",),
    )


def test_a_retained_object_does_not_fail_the_destroy(cli: Found) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions.merge(aws_provider(), pulumi.ResourceOptions(retain_on_delete=True))
        Made(aws.KEY, "key", {"description": "kept"}, opts)

    done = rehearsal.rehearse(cli, stack_file(), program=program, faults=False)

    assert [phase.findings for phase in done.phases if phase.findings] == []


POOLS = {"gpu-ci:pools": '{"t4":{"max":2}}'}


def test_a_change_keeps_the_nodes_that_the_autoscaler_started(cli: Found) -> None:
    done = rehearsal.rehearse(cli, stack_file(POOLS), program=programs.pools, faults=False)
    results = {phase.name: (phase.summary, phase.findings) for phase in done.phases}

    assert results["change"] == ("pools.t4.max from 2 to 3: 1 changed, as planned", ())
    assert results["preview after the change"] == ("no changes", ())


def test_an_update_without_a_refresh_fails_the_change(cli: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ignore_changes` sends the number of nodes of the last update."""
    monkeypatch.setattr(engine, "project_options", dict)
    phase = failed(cli, programs.pools, POOLS)

    assert phase.name == "change"
    assert phase.findings == ("jobs are lost: EKS drains 2 of 2 nodes of t4: the update sends a smaller count",)


def protected() -> None:
    opts = pulumi.ResourceOptions.merge(aws_provider(), pulumi.ResourceOptions(protect=True))
    Made(aws.KEY, "key", {"description": "protected"}, opts)


def test_a_protected_stack_is_unprotected_before_the_destroy(cli: Found) -> None:
    done = rehearsal.rehearse(cli, stack_file(), program=protected, faults=False)

    assert done.phases[-1].summary == "refused for 1 protected, then unprotected; 3 deleted, nothing remains"


def test_a_protection_without_effect_fails_the_destroy(cli: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "preview_destroy", Engine.preview)
    phase = failed(cli, protected)

    assert phase.name == "destroy"
    assert phase.findings == ("1 resources are protected, and the destroy was not refused",)
