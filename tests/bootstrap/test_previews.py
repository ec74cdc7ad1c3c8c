"""The access of previews: trust in pull requests of the repository only, and no call that changes something."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from bootstrap.grants import Place
from bootstrap.permissions_aws import AWS, LIMIT, deploy_policies
from bootstrap.permissions_gcp import BY_GCLOUD, DEPLOYER, READER, READS
from bootstrap.previews import KINDS, read_policies
from components.aws.github_trust import provider_arn
from gpu_ci.policy.rules import findings
from gpu_ci.stack_file.identity import PROJECT, own_tags
from tests.bootstrap.declared import BOTH, plan
from tests.components.iam import accepts, allowed

pytestmark = pytest.mark.plan

PROVIDER: Final = provider_arn("123456789012")
TOKEN: Final = {
    "aud": "sts.amazonaws.com",
    "sub": "repo:example-org/gpu-infra:environment:staging-preview",
    "repository_id": "456789",
    "ref": "refs/pull/7/merge",
    "environment": "staging-preview",
}
STAGING: Final = own_tags(PROJECT, "staging")
HERE: Final = {"aws:RequestedRegion": "us-west-2"}
MINE: Final = {f"aws:ResourceTag/{key}": value for key, value in STAGING.items()}
IAM: Final = "arn:aws:iam::123456789012"
READ: Final = re.compile(r"(Describe|Get|List)[A-Z]\w+")


def place(stack: str = "staging", region: str = "us-west-2") -> Place:
    return Place(account="123456789012", region=region, prefix=f"{PROJECT}-{stack}", tags=own_tags(PROJECT, stack))


ON_MAIN: Final = {
    **TOKEN,
    "sub": "repo:example-org/gpu-infra:environment:staging-plan",
    "ref": "refs/heads/main",
    "environment": "staging-plan",
}
each_role = pytest.mark.parametrize("kind", KINDS)


def trust(kind: str = "preview") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan(*BOTH).one("aws:iam/role:Role", kind).inputs["assumeRolePolicy"])
    return found


@pytest.mark.parametrize("number", ["1", "123456"])
@pytest.mark.parametrize(
    "subject", [TOKEN["sub"], "repo:example-org@123456/gpu-infra@456789:environment:staging-preview"]
)
def test_a_pull_request_of_the_repository_is_trusted(number: str, subject: str) -> None:
    assert accepts(trust(), PROVIDER, {**TOKEN, "sub": subject, "ref": f"refs/pull/{number}/merge"})


@pytest.mark.parametrize(
    ("why", "changed"),
    [
        ("the default branch, as for pull_request_target and workflow_run", {"ref": "refs/heads/main"}),
        ("another branch", {"ref": "refs/heads/feature"}),
        ("a branch with the name of a pull request", {"ref": "refs/heads/refs/pull/7/merge"}),
        ("a tag", {"ref": "refs/tags/refs/pull/7/merge"}),
        ("the head of a pull request", {"ref": "refs/pull/7/head"}),
        ("no environment", {"sub": "repo:example-org/gpu-infra:pull_request"}),
        ("the environment of the deployment", {"sub": "repo:example-org/gpu-infra:environment:staging"}),
        (
            "another repository",
            {"sub": "repo:example-org/vision:environment:staging-preview", "repository_id": "567890"},
        ),
        ("a fork", {"sub": "repo:mallory/gpu-infra:environment:staging-preview", "repository_id": "999"}),
        ("a repository that got the name", {"repository_id": "999"}),
        ("another audience", {"aud": "https://github.com/example-org"}),
    ],
)
def test_another_job_is_refused(why: str, changed: dict[str, str]) -> None:
    assert not accepts(trust(), PROVIDER, {**TOKEN, **changed}), why


@pytest.mark.parametrize("claim", ["aud", "sub", "repository_id", "ref"])
def test_a_token_without_a_claim_is_refused(claim: str) -> None:
    assert not accepts(trust(), PROVIDER, {name: value for name, value in TOKEN.items() if name != claim})


def test_a_plan_is_made_on_the_branch_of_the_deployment_only() -> None:
    assert accepts(trust("plan"), PROVIDER, ON_MAIN)
    assert not accepts(trust("plan"), PROVIDER, TOKEN)
    assert not accepts(trust("plan"), PROVIDER, {**ON_MAIN, "ref": "refs/pull/7/merge"})
    assert not accepts(trust("plan"), PROVIDER, {**ON_MAIN, "ref": "refs/heads/feature"})
    assert not accepts(trust("preview"), PROVIDER, ON_MAIN)


def test_the_deployment_does_not_trust_a_pull_request() -> None:
    deploys = json.loads(plan(*BOTH).one("aws:iam/role:Role", "deploy").inputs["assumeRolePolicy"])

    assert not accepts(deploys, PROVIDER, TOKEN)
    assert not accepts(deploys, PROVIDER, {**TOKEN, "sub": "repo:example-org/gpu-infra:environment:staging"})


def documents(kind: str) -> Iterator[dict[str, Any]]:
    """Yield every policy of the role in the plan: those that are attached, and its own."""
    made = plan(*BOTH)
    role = made.one("aws:iam/role:Role", kind).inputs["name"]
    policies = {one.inputs["name"]: one for one in made.of("aws:iam/policy:Policy")}
    attached = made.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    names = [one.inputs["policyArn"].rpartition("/")[2] for one in attached if one.inputs["role"] == role]
    own = [one for one in made.of("aws:iam/rolePolicy:RolePolicy") if one.inputs["role"] == role]
    for one in (*(policies[name] for name in names), *own):
        yield json.loads(one.inputs["policy"])


@each_role
def test_the_role_changes_nothing(kind: str) -> None:
    actions = sorted({action for one in documents(kind) for row in one["Statement"] for action in row["Action"]})
    changing = [action for action in actions if not READ.fullmatch(action.partition(":")[2])]

    assert len(actions) > 60
    assert changing == ["kms:Decrypt"]
    assert {row["Effect"] for one in documents(kind) for row in one["Statement"]} == {"Allow"}


def test_the_role_makes_the_reads_of_every_type() -> None:
    reads = {
        action for row in AWS.values() for grant in row for action in grant.actions
        if READ.fullmatch(action.partition(":")[2])
    }  # fmt: skip
    granted = {
        action for text in read_policies(place()).values() for one in json.loads(text)["Statement"]
        for action in one["Action"]
    }  # fmt: skip

    assert granted == reads


@each_role
def test_the_role_reads_the_state_and_its_key_only(kind: str) -> None:
    (own,) = (
        one.inputs["policy"] for one in plan(*BOTH).of("aws:iam/rolePolicy:RolePolicy") if one.name == f"{kind}-state"
    )
    key = plan(*BOTH).one("aws:iam/rolePolicy:RolePolicy", "deploy-state").inputs["policy"]
    statements = {tuple(one["Action"]): one["Resource"] for one in json.loads(own)["Statement"]}

    assert statements == {
        ("s3:ListBucket",): ["arn:aws:s3:::gpu-ci-staging-123456789012"],
        ("s3:GetObject",): ["arn:aws:s3:::gpu-ci-staging-123456789012/*"],
        ("kms:Decrypt",): json.loads(key)["Statement"][-1]["Resource"],
    }


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("ec2:DescribeInstances", "arn:aws:ec2:us-west-2:123456789012:instance/*", HERE),
        ("eks:DescribeCluster", "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-staging", {}),
        ("iam:GetRole", f"{IAM}:role/cluster-1a2b3c4", MINE),
        ("kms:DescribeKey", "arn:aws:kms:us-west-2:123456789012:key/0000", MINE),
    ],
)
def test_a_read_of_the_stack_is_allowed(action: str, resource: str, context: dict[str, str]) -> None:
    assert allowed(read_policies(place()).values(), action, resource, context)


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        (
            "ec2:DescribeInstances",
            "arn:aws:ec2:eu-west-1:123456789012:instance/*",
            {"aws:RequestedRegion": "eu-west-1"},
        ),
        ("ec2:RunInstances", "arn:aws:ec2:us-west-2:123456789012:instance/*", HERE),
        ("eks:DescribeCluster", "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-production", {}),
        ("eks:CreateAccessEntry", "arn:aws:eks:us-west-2:123456789012:access-entry/gpu-ci-staging/x", {}),
        ("iam:PassRole", f"{IAM}:role/cluster-1a2b3c4", {"iam:PassedToService": "eks.amazonaws.com"}),
        ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-west-2:123456789012:secret:x", {}),
        ("s3:PutObject", "arn:aws:s3:::gpu-ci-staging-123456789012/x", {}),
        ("ecr:GetAuthorizationToken", "*", HERE),
    ],
)
def test_another_call_is_refused(action: str, resource: str, context: dict[str, str]) -> None:
    assert not allowed(read_policies(place()).values(), action, resource, context)


def test_every_policy_fits_its_limit() -> None:
    policies = read_policies(place("s" * 40, "ap-southeast-2"))

    assert policies.keys() == deploy_policies(place()).keys()
    assert {name: len(text) for name, text in policies.items() if len(text) > LIMIT} == {}


@pytest.mark.parametrize("document", read_policies(place()).values())
def test_the_policies_satisfy_the_policy_rules(document: str) -> None:
    found = findings("aws:iam/policy:Policy", "gpu-ci-x", {"policy": document})

    assert [str(one) for one in found if one.rule != "everything-is-tagged"] == []


def test_google_cloud_trusts_pull_requests_in_the_environment_only() -> None:
    made = plan("deploy", "preview", "gcp")
    provider = made.one(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider", "preview-federation"
    ).inputs
    member = made.one("gcp:serviceaccount/iAMMember:IAMMember", "preview").inputs["member"]

    assert provider["attributeCondition"] == (
        "assertion.repository_owner_id == '123456' && assertion.repository_id in ['456789']"
        " && assertion.event_name in ['pull_request'] && assertion.environment == 'staging-preview'"
    )
    assert member.endswith("/attribute.repository_id/456789")
    assert provider["workloadIdentityPoolId"] == "gpu-ci-staging-preview"


def test_google_cloud_trusts_a_plan_on_the_branch_in_its_environment_only() -> None:
    made = plan("deploy", "preview", "plan", "gcp")
    provider = made.one("gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider", "plan-federation").inputs
    member = made.one("gcp:serviceaccount/iAMMember:IAMMember", "plan").inputs["member"]

    assert provider["attributeCondition"].endswith(" && assertion.environment == 'staging-plan'")
    assert member.endswith("/attribute.repository_ref/456789:refs/heads/main")


@each_role
def test_the_account_on_google_cloud_has_only_reading_roles(kind: str) -> None:
    made = plan("deploy", "preview", "plan", "gcp")
    account = made.one("gcp:serviceaccount/account:Account", kind)
    granted = {
        one.inputs["role"]
        for type_ in ("projects/iAMMember:IAMMember", "storage/bucketIAMMember:BucketIAMMember",
                      "kms/cryptoKeyIAMMember:CryptoKeyIAMMember")
        for one in made.of(f"gcp:{type_}")
        if one.name.startswith(f"{kind}-")
    }  # fmt: skip

    assert granted == {f"roles/{role}" for role in (*READER, "storage.objectViewer", "cloudkms.cryptoKeyDecrypter")}
    assert [one for one in granted if not re.search(r"([vV]iewer|reader|Reviewer|Consumer|Decrypter)$", one)] == []
    assert len(account.inputs["accountId"].replace("staging", "s" * 16)) <= 30


def test_every_role_that_deploys_has_a_reading_role() -> None:
    assert READS.keys() == set(DEPLOYER) - {*BY_GCLOUD}


@pytest.mark.parametrize("clouds", [("aws",), ("gcp",), ("aws", "gcp")], ids="-".join)
def test_the_variables_contain_the_location_of_the_state(clouds: tuple[str, ...]) -> None:
    outputs = plan("deploy", "preview", "plan", *clouds).outputs

    for kind in KINDS:
        variables = outputs[f"{kind}_variables"]
        assert variables["PULUMI_BACKEND_URL"] == outputs["deploy_variables"]["PULUMI_BACKEND_URL"]
        assert {name.partition("_")[0].lower() for name in variables} == {*clouds, "pulumi"}


def test_without_the_section_there_is_no_access() -> None:
    made = plan("deploy", "images", "aws", "gcp")

    assert [one.urn for one in made if one.name.startswith(("plan", "preview", "read"))] == []
    assert {"preview_variables", "plan_variables"} & made.outputs.keys() == set()
