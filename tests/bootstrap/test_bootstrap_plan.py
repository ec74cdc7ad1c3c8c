"""The plan of the bootstrap: closed state, narrow trust, and the variables of the pipelines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from bootstrap.permissions_gcp import DEPLOYER
from bootstrap.program import run
from bootstrap.settings import settings_of
from components.aws.github_trust import provider_arn
from gpu_ci.policy.rules import findings
from gpu_ci.stack_file.reading.load import StackFileError
from ops.cli.options import ROOT
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.bootstrap.declared import BOTH, COMMITTED, plan, section, variant
from tests.components.iam import accepts

pytestmark = pytest.mark.plan

PROVIDER: Final = provider_arn("123456789012")
TOKEN: Final = {
    "aud": "sts.amazonaws.com",
    "sub": "repo:example-org@123456/gpu-infra@456789:environment:staging",
    "repository_id": "456789",
    "ref": "refs/heads/main",
}
IMAGES_TOKEN: Final = {
    **TOKEN,
    "sub": "repo:example-org/vision:ref:refs/heads/main",
    "repository_id": "567890",
}
CLOUDS: Final = [BOTH, ("deploy", "aws"), ("deploy", "gcp")]


def trust(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan(*BOTH).one("aws:iam/role:Role", name).inputs["assumeRolePolicy"])
    return found


@pytest.mark.parametrize("sections", CLOUDS, ids="-".join)
def test_the_policy_rules_hold(sections: tuple[str, ...]) -> None:
    resources = plan(*sections)
    providers = {one.urn: one.inputs for one in resources if one.is_provider}
    found = [
        str(finding)
        for one in resources
        for finding in findings(one.type, one.name, one.inputs, providers.get(one.provider))
    ]

    assert found == []


@pytest.mark.parametrize("sections", CLOUDS, ids="-".join)
def test_no_static_key_is_created(sections: tuple[str, ...]) -> None:
    types = {one.type for one in plan(*sections)}

    assert types & {"aws:iam/accessKey:AccessKey", "aws:iam/user:User", "gcp:serviceaccount/key:Key"} == set()
    assert [one.urn for one in plan(*sections) if one.secret_paths] == []


def test_the_state_on_aws_is_versioned_encrypted_and_private() -> None:
    made = plan("deploy", "aws")
    versioning = made.one("aws:s3/bucketVersioning:BucketVersioning", "state").inputs
    encryption = made.one(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", "state"
    ).inputs
    access = json.loads(made.one("aws:s3/bucketPolicy:BucketPolicy", "state").inputs["policy"])

    assert versioning["versioningConfiguration"] == {"status": "Enabled"}
    by_default = encryption["rules"][0]["applyServerSideEncryptionByDefault"]
    assert by_default["sseAlgorithm"] == "aws:kms"
    assert by_default["kmsMasterKeyId"].startswith("arn:aws:kms:us-west-2:123456789012:key/")
    assert access["Statement"] == [
        {
            "Action": "s3:*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            "Effect": "Deny",
            "Principal": "*",
            "Resource": ["arn:aws:s3:::gpu-ci-staging-123456789012", "arn:aws:s3:::gpu-ci-staging-123456789012/*"],
        }
    ]


def test_the_state_on_google_cloud_is_versioned_and_private() -> None:
    bucket = plan("deploy", "gcp").one("gcp:storage/bucket:Bucket", "state").inputs

    assert bucket["versioning"] == {"enabled": True}
    assert bucket["publicAccessPrevention"] == "enforced"
    assert bucket["forceDestroy"] is False


def test_a_stack_on_both_clouds_has_one_state() -> None:
    assert plan(*BOTH).of("gcp:storage/bucket:Bucket") == ()
    assert plan(*BOTH).outputs["deploy_variables"]["PULUMI_BACKEND_URL"].startswith("s3://")


@pytest.mark.parametrize("sections", CLOUDS, ids="-".join)
def test_state_and_keys_are_protected(sections: tuple[str, ...]) -> None:
    kept = {
        *("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "aws:kms/key:Key", "aws:s3/bucket:Bucket"),
        *("gcp:kms/cryptoKey:CryptoKey", "gcp:storage/bucket:Bucket"),
    }

    assert [one.urn for one in plan(*sections) if one.type in kept and not one.protect] == []


@pytest.mark.parametrize(
    ("role", "token", "accepted"),
    [
        ("deploy", TOKEN, True),
        ("deploy", {**TOKEN, "sub": "repo:example-org/gpu-infra:environment:staging"}, True),
        ("deploy", {**TOKEN, "ref": "refs/heads/feature"}, False),
        ("deploy", {**TOKEN, "sub": "repo:example-org/gpu-infra:ref:refs/heads/main"}, False),
        ("deploy", {**TOKEN, "repository_id": "999"}, False),
        ("deploy", IMAGES_TOKEN, False),
        ("images", IMAGES_TOKEN, True),
        ("images", {**IMAGES_TOKEN, "sub": "repo:example-org/vision:pull_request", "ref": "refs/pull/1/merge"}, False),
        ("images", TOKEN, False),
    ],
)
def test_a_role_trusts_the_jobs_of_its_section(role: str, token: dict[str, str], *, accepted: bool) -> None:
    assert accepts(trust(role), PROVIDER, token) is accepted


def test_google_cloud_trusts_the_environment_and_the_branch() -> None:
    made = plan("deploy", "gcp")
    provider = made.of("gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider")[0].inputs
    member = made.one("gcp:serviceaccount/iAMMember:IAMMember", "deploy").inputs["member"]

    assert "assertion.repository_owner_id == '123456'" in provider["attributeCondition"]
    assert "assertion.repository_id in ['456789']" in provider["attributeCondition"]
    assert provider["attributeCondition"].endswith(" && assertion.environment == 'staging'")
    assert member.endswith("/attribute.repository_ref/456789:refs/heads/main")


def test_the_pool_of_the_stack_has_another_name() -> None:
    """The stack names its pool, of `gpu-ci:github-federation`, after its prefix."""
    pool = plan("deploy", "gcp").of("gcp:iam/workloadIdentityPool:WorkloadIdentityPool")[0].inputs

    assert pool["workloadIdentityPoolId"] == "gpu-ci-staging-deploy"


def test_the_account_that_deploys_has_the_listed_roles() -> None:
    granted = [one.inputs["role"] for one in plan("deploy", "gcp").of("gcp:projects/iAMMember:IAMMember")]

    assert granted == [f"roles/{role}" for role in DEPLOYER]


def test_an_existing_provider_is_used() -> None:
    made = record(variant("deploy", aws={**section("aws"), "oidc-provider": "existing"}), program=run)
    role = json.loads(made.one("aws:iam/role:Role", "deploy").inputs["assumeRolePolicy"])

    assert made.of("aws:iam/openIdConnectProvider:OpenIdConnectProvider") == ()
    assert role["Statement"][0]["Principal"] == {"Federated": PROVIDER}


def test_the_variables_match_the_workflow() -> None:
    workflow = (ROOT / ".github" / "workflows" / "deploy.yml").read_text()
    variables = plan(*BOTH).outputs["deploy_variables"]

    assert [name for name in variables if f"vars.{name}" not in workflow] == []


@pytest.mark.parametrize(
    ("name", "kind", "environment"),
    [
        ("preview", "preview", "staging-preview"),
        ("drift", "plan", "${{ matrix.stack }}-plan"),
        ("deploy", "plan", "${{ inputs.stack }}-plan"),
    ],
)
def test_the_variables_of_previews_match_the_workflow(name: str, kind: str, environment: str) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    (job,) = (job for job in workflow["jobs"].values() if job.get("environment") == environment)
    switches = {"PREVIEW_STAGING", "DEPLOY_RUNNER"}

    assert set(re.findall(r"vars\.(\w+)", str(job))) - switches == set(plan(*BOTH).outputs[f"{kind}_variables"])
    assert section(kind)["environment"] == f"staging-{kind}"


WRONG: Final = [
    ({}, ("deploy",), ["aws: missing; state aws, gcp or both: the clouds of the stack"]),
    ({}, ("aws",), ["deploy: missing; state deploy"]),
    (
        {},
        ("deploy", "images", "gcp"),
        ["images: is for repositories on AWS, and there is no section aws; remove it; Google Cloud has gpu-ci:github-federation"],
    ),
    (
        {"deploy": {"repository": "gpu-infra", "owner-id": "123456", "environment": "a b"}},
        ("aws",),
        [
            'deploy.environment: "a b" is not an environment that a subject of OpenID Connect contains unchanged; use letters, digits and _.-',
            'deploy.owner-id: "123456" is text; remove the quotes: 123456',
            'deploy.repository: "gpu-infra" is not a repository with its owner; write OWNER/NAME, as in acme/gpu-infra',
            "deploy.repository-id: missing; state repository-id",
        ],
    ),
    (
        {"deploy": {**section("deploy"), "environment": None}},
        ("aws",),
        ["deploy.environment: nothing is not valid; write text; a number, a version, true and false need quotes"],
    ),
    (
        {"deploy": {**section("deploy"), "branch": "refs/heads/main"}},
        ("aws",),
        ['deploy.branch: "refs/heads/main" is not a branch; write its name alone, as in main'],
    ),
    (
        {"aws": {"account": 123456789012, "region": "us-west", "oidc-provider": "new"}},
        ("deploy",),
        [
            "aws.account: 123456789012 is a number; write it in quotes, exactly as in the file: a number loses its zeros",
            "aws.oidc-provider: \"new\" is not valid; write one of 'create' or 'existing'",
            'aws.region: "us-west" is not an AWS region; write it as us-west-2, without a zone\'s letter',
        ],
    ),
    (
        {"preview": {"environment": "staging"}},
        ("deploy", "aws"),
        ['preview.environment: "staging" is also the environment of deploy; use another, as in staging-preview'],
    ),
    (
        {"preview": {"environment": "reads"}, "plan": {"environment": "reads"}},
        ("deploy", "aws"),
        ['plan.environment: "reads" is also the environment of preview; use another, as in staging-plan'],
    ),
    ({"preview": {}}, ("deploy", "aws"), ["preview.environment: missing; state environment"]),
    ({"bucket": {}}, ("deploy", "aws"), ["bucket: unknown key; known: aws, deploy, gcp, images, plan, preview"]),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "sections", "expected"), WRONG)
def test_all_faults_of_the_settings_are_reported(
    changed: dict[str, Any], sections: tuple[str, ...], expected: list[str]
) -> None:
    file = variant(*sections, **changed)
    with pytest.raises(StackFileError) as stopped:
        settings_of(file.config, file.name, "the settings")

    assert [str(fault) for fault in stopped.value.faults] == expected


def test_a_name_that_is_too_long_for_google_cloud_is_refused() -> None:
    file = variant("deploy", "gcp")
    with pytest.raises(StackFileError, match=r"stack name: .* has 17 characters"):
        settings_of(file.config, "s" * 17, "the settings")


@pytest.mark.parametrize("path", sorted((ROOT / "bootstrap").glob("Pulumi.*.yaml")), ids=lambda path: path.name)
def test_the_settings_of_every_stack_are_valid(path: Path) -> None:
    file = read(path)

    assert settings_of(file.config, file.name, path.name).deploy.environment != ""


def test_the_page_shows_valid_settings() -> None:
    page = (ROOT / "docs" / "how-to" / "bootstrap.md").read_text(encoding="utf-8")
    shown = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    stated = {key: value for text in shown for key, value in yaml.safe_load(text).items()}
    config = {key: json.dumps(value) for key, value in stated.items()}

    assert settings_of(config, "staging", "the page") == settings_of(COMMITTED.config, "staging", "the file")
