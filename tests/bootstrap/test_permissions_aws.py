"""The role that deploys may make the calls of the stack's resources, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

import pytest

from bootstrap import grants
from bootstrap.grants import Place
from bootstrap.permissions_aws import AWS, LIMIT, deploy_policies, push_policy
from gpu_ci.policy.rules import findings
from gpu_ci.stack_file.identity import PROJECT, own_tags
from ops.fakes import tables
from ops.fakes.cloud import request
from ops.plan.model import Planned
from tests.plan.stacks import NAMES, planned

pytestmark = pytest.mark.plan

ACCOUNT: Final = "123456789012"
DEPLOYS: Final = "arn:aws:iam::123456789012:role/gpu-ci-bootstrap/gpu-ci-staging-deploy"


EXISTING: Final = {"examples/eks-existing-cluster.yaml": "platform"}
"""The clusters that other tools manage, by the stack that uses them."""


def place(stack: str = "staging", region: str = "us-west-2") -> Place:
    return Place(account=ACCOUNT, region=region, prefix=f"{PROJECT}-{stack}", tags=own_tags(PROJECT, stack))


def statements(at: Place) -> list[dict[str, Any]]:
    return [one for text in deploy_policies(at).values() for one in json.loads(text)["Statement"]]


def declared(name: str) -> Iterator[Planned]:
    """Yield the resources of AWS in a plan."""
    for resource in planned(name):
        if resource.type.startswith("aws:"):
            yield resource


@pytest.mark.parametrize("name", NAMES)
def test_every_type_that_a_stack_declares_has_a_row(name: str) -> None:
    assert {resource.type for resource in declared(name)} - set(AWS) == set()


def test_every_row_has_a_type_that_a_stack_declares() -> None:
    assert set(AWS) - {resource.type for name in NAMES for resource in declared(name)} == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_matches_the_name_of_every_resource(name: str) -> None:
    plan = planned(name)
    stack, providers = plan.stack, plan.of("pulumi:providers:aws")
    region = providers[0].inputs["region"] if providers else "us-west-2"
    account = json.loads(providers[0].inputs["allowedAccountIds"])[0] if providers else ACCOUNT
    mine = Place(account=account, region=region, prefix=f"{PROJECT}-{stack}", tags={})
    here = request.Place(account=account, region=region)
    unmatched = []
    for resource in declared(name):
        _, computed = tables.computed(resource.type, resource.name, resource.urn, resource.inputs, place=here)
        arn = computed.get("arn")
        if arn is None:
            continue
        resources = [
            one.format(account=mine.account, region=mine.region, prefix=mine.prefix)
            for grant in AWS[resource.type]
            for one in grant.resources
            if grant.service == arn.split(":")[2]
            and any(verb.startswith(("Create", "Put", "Subscribe")) for verb in grant.verbs)
        ]
        # The role has no permission for a cluster that another tool manages; its page says what to add.
        elsewhere = f":nodegroup/{EXISTING.get(name)}/" in arn
        if not elsewhere and not any(fnmatchcase(arn, one) for one in resources):
            unmatched.append(f"{arn} ({', '.join(resources)})")

    assert unmatched == []


@pytest.mark.parametrize("name", NAMES)
def test_every_attached_policy_of_aws_may_be_attached(name: str) -> None:
    attached = {
        str(one.inputs["policyArn"]).removeprefix("arn:aws:iam::aws:policy/")
        for one in planned(name).of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    }

    assert attached - set(grants.MANAGED) == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_service_that_assumes_a_role_may_be_passed_the_role(name: str) -> None:
    trusted = {
        service
        for role in planned(name).of("aws:iam/role:Role")
        for statement in json.loads(role.inputs["assumeRolePolicy"])["Statement"]
        for service in [statement["Principal"].get("Service")]
        if service is not None
    }

    assert trusted - set(grants.SERVICES) == set()


def test_every_policy_fits_its_limit() -> None:
    """With the longest names of a stack, an account and a region."""
    policies = deploy_policies(place("s" * 40, "ap-southeast-2"))

    assert {name: len(text) for name, text in policies.items() if len(text) > LIMIT} == {}
    assert len(policies) <= 10, "a role has at most ten policies"


def test_every_action_is_in_a_policy() -> None:
    granted = {action for one in statements(place()) for action in one["Action"]}

    assert granted == {action for row in AWS.values() for grant in row for action in grant.actions}


def test_no_action_has_a_wildcard() -> None:
    assert [action for one in statements(place()) for action in one["Action"] if "*" in action] == []


def test_every_statement_on_all_resources_has_a_condition() -> None:
    assert [one for one in statements(place()) if "*" in one["Resource"] and "Condition" not in one] == []


def test_actions_on_identities_are_limited_to_names_of_the_stack() -> None:
    allowed = re.compile(
        rf"arn:aws:iam::{ACCOUNT}:(role/aws-service-role/[a-z0-9.-]+\.amazonaws\.com/\*"
        r"|(role|user|instance-profile)/(\*/)?gpu-ci-staging-\*|(role|instance-profile)/[a-z0-9-]+\*?-\?{7})"
    )
    of_iam = [one for one in statements(place()) if any(action.startswith("iam:") for action in one["Action"])]

    assert of_iam != []
    assert [one for statement in of_iam for one in statement["Resource"] if not allowed.fullmatch(one)] == []


def test_a_role_is_passed_to_named_services_only() -> None:
    (passing,) = (one for one in statements(place()) if "iam:PassRole" in one["Action"])

    assert passing["Action"] == ["iam:PassRole"]
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": list(grants.SERVICES)}}


def test_the_role_cannot_change_itself_or_another_stack() -> None:
    """The role that deploys has a path of its own, and roles of other stacks have other tags."""
    changing = [
        one
        for one in statements(place())
        if any(action.startswith("iam:") for action in one["Action"]) and "iam:PassRole" not in one["Action"]
    ]
    by_name = [one for one in changing if "/Environment" not in json.dumps(one.get("Condition", {}))]

    assert [one for one in changing for arn in one["Resource"] if fnmatchcase(DEPLOYS, arn)] == []
    assert [action for one in by_name for action in one["Action"] if "Role" in action] == [
        "iam:CreateServiceLinkedRole"
    ]


def test_only_policies_that_the_stack_uses_are_attached() -> None:
    (attaching,) = (one for one in statements(place()) if "iam:AttachRolePolicy" in one["Action"])

    assert "arn:aws:iam::aws:policy/AdministratorAccess" not in attaching["Condition"]["ArnEquals"]["iam:PolicyARN"]
    assert attaching["Condition"]["StringEquals"]["aws:ResourceTag/Environment"] == "staging"


def test_no_key_of_a_user_is_created() -> None:
    """Pipelines use OpenID Connect; only cirun needs a key, and a person creates it."""
    assert [one for one in statements(place()) if "iam:CreateAccessKey" in one["Action"]] == []


def test_the_role_for_images_pushes_to_the_repositories_of_the_stack() -> None:
    log_in, push = json.loads(push_policy(place()))["Statement"]

    assert log_in["Action"] == ["ecr:GetAuthorizationToken"]
    assert push["Resource"] == ["arn:aws:ecr:us-west-2:123456789012:repository/gpu-ci-staging/*"]
    assert "ecr:PutImage" in push["Action"]
    assert [action for action in push["Action"] if "Delete" in action or action.startswith("ecr:SetRepo")] == []


@pytest.mark.parametrize("document", [*deploy_policies(place()).values(), push_policy(place())])
def test_the_policies_satisfy_the_policy_rules(document: str) -> None:
    found = [
        one
        for one in findings("aws:iam/policy:Policy", "gpu-ci-x", {"policy": document})
        if one.rule != "everything-is-tagged"
    ]

    assert [str(one) for one in found if "kms:" not in one.problem] == []
