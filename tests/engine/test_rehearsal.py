"""The phases of a rehearsal, and what each of them finds out about a program that is not as it should be."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pulumi
import pytest

from fakes.aws import names as aws
from ops.engine import agreement, rehearsal
from ops.engine.engine import Engine
from ops.plan.recorder import record
from tests.engine import programs
from tests.engine.programs import Made, amazon, stack_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.engine.pulumi_cli import Found
    from ops.engine.rehearsal_report import Phase

pytestmark = pytest.mark.engine


def failed(cli: Found, program: Callable[[], None], config: dict[str, str] | None = None) -> Phase:
    """The phase at which a small program fails."""
    phases = rehearsal.rehearse(cli, stack_file(config), program=program).phases
    assert [phase.ok for phase in phases] == [True] * (len(phases) - 1) + [False]
    return phases[-1]


def test_the_phases_of_a_life_are_told_in_order(cli: Found) -> None:
    done = rehearsal.rehearse(cli, stack_file({"gpu-ci:tags": '{"Team":{"max":1}}'}), program=programs.network)

    assert [(phase.name, phase.said) for phase in done.phases] == [
        ("preview", "6 to create, each as planned"),
        ("up", "6 created, each as planned"),
        ("preview again", "nothing to do"),
        ("change", "tags.Team.max from 1 to 2: 1 touched, as planned"),
        ("preview after the change", "nothing to do"),
        ("destroy", "6 deleted, nothing left"),
        ("up with a fault", "create number 1 refused, 4 made"),
        ("up to the end", "the other 2 made; all as planned"),
        ("destroy", "6 deleted, nothing left"),
    ]


def test_a_program_that_is_another_each_time_is_found_out(cli: Found) -> None:
    numbers = itertools.count()

    def program() -> None:
        Made(aws.KEY, "key", {"description": f"run {next(numbers)}"}, amazon())

    phase = failed(cli, program)

    assert (phase.name, phase.said) == ("preview", "3 to create")
    assert phase.findings == (
        f"urn:pulumi:small::gpu-ci::{aws.KEY}::key description: the plan has 'run 2', the engine has 'run 1'",
    )


def test_a_program_that_never_comes_to_rest_is_found_out(cli: Found) -> None:
    runs: list[None] = []

    def program() -> None:
        runs.append(None)
        # Two recordings, a preview and an update run it before the second preview.
        Made(aws.KEY, "key", {"description": "old" if len(runs) < 5 else "new"}, amazon())

    phase = failed(cli, program)

    assert phase.said == "1 to do"
    assert (phase.name, phase.findings) == ("preview again", (f"update {aws.KEY} key (description)",))


def test_a_resource_made_in_an_apply_is_found_out(cli: Found) -> None:
    """The recorder's preview and the engine's agree that it is not there; the plan of the update has it."""

    def program() -> None:
        opts = amazon()
        key = Made(aws.KEY, "key", {}, opts)
        key.arn.apply(lambda id_: Made(aws.KEY, "hidden", {"description": id_}, opts))

    with Engine(cli, stack_file(), program) as engine:
        outcome = engine.preview(goals=True)
    found = agreement.with_preview(record(stack_file(), program=program), outcome.goals)

    assert [one.urn.rpartition("::")[2] for one in found if not one.path] == ["hidden"]


def test_a_dependency_that_is_missing_shows_as_a_refusal(cli: Found) -> None:
    """The role's policy is no input of the cluster's: without `depends_on`, the cluster may come first."""

    def program() -> None:
        opts = amazon()
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

    assert phase.name == "up"
    assert "The provided role doesn't have the Amazon EKS Managed Policies" in phase.findings[0]


def test_what_stays_in_the_cloud_after_a_destroy_is_found_out(cli: Found) -> None:
    """The group comes after the cluster, so that EKS has made one of its own, which nobody deletes."""

    def program() -> None:
        opts = amazon()
        vpc = Made(aws.VPC, "vpc", {"cidrBlock": "10.0.0.0/16"}, opts)
        subnet = Made(aws.SUBNET, "subnet", {"vpcId": vpc.id, "cidrBlock": "10.0.1.0/24"}, opts)
        role = Made(aws.ROLE, "role", {"name": "cluster"}, opts)
        policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
        attached = Made(aws.ATTACHMENT, "policy", {"role": role.id, "policyArn": policy}, opts)
        after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[attached]))
        logged = {"name": "ci", "roleArn": role.arn, "enabledClusterLogTypes": ["audit"]}
        Made(aws.CLUSTER, "cluster", {**logged, "vpcConfig": {"subnetIds": [subnet.id]}}, after)

    phase = failed(cli, program)

    assert (phase.name, phase.findings) == (
        "destroy",
        (f"{aws.LOG_GROUP} /aws/eks/ci/cluster is still in the cloud",),
    )


def test_what_is_kept_on_purpose_is_no_fault(cli: Found) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions.merge(amazon(), pulumi.ResourceOptions(retain_on_delete=True))
        Made(aws.KEY, "key", {"description": "kept"}, opts)

    done = rehearsal.rehearse(cli, stack_file(), program=program, faults=False)

    assert [phase.findings for phase in done.phases if phase.findings] == []


def test_a_protected_stack_first_refuses_to_go(cli: Found) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions.merge(amazon(), pulumi.ResourceOptions(protect=True))
        Made(aws.KEY, "key", {"description": "guarded"}, opts)

    done = rehearsal.rehearse(cli, stack_file(), program=program, faults=False)

    assert done.phases[-1].said == "refused for 1 protected, then unprotected; 3 deleted, nothing left"


def test_a_protection_that_does_not_hold_is_found_out(cli: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions.merge(amazon(), pulumi.ResourceOptions(protect=True))
        Made(aws.KEY, "key", {"description": "guarded"}, opts)

    monkeypatch.setattr(Engine, "preview_destroy", Engine.preview)
    phase = failed(cli, program)

    assert (phase.name, phase.findings) == ("destroy", ("protected: 1, and yet the destroy was not refused",))
