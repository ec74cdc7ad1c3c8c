"""A role trusts the jobs of one repository in one environment and on one ref, and no others."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.aws.github_trust import provider_arn, subjects, trust_policy
from gpu_ci.policy.rules.trust import trust_has_conditions
from tests.components.iam import accepts

pytestmark = pytest.mark.pure

PROVIDER: Final = provider_arn("123456789012")
OLD: Final = {
    "aud": "sts.amazonaws.com",
    "sub": "repo:acme/gpu-infra:environment:staging",
    "repository": "acme/gpu-infra",
    "repository_id": "456789",
    "repository_owner_id": "123456",
    "ref": "refs/heads/main",
    "environment": "staging",
    "job_workflow_ref": "acme/gpu-infra/.github/workflows/ci.yml@refs/heads/main",
}
"""The claims of a deployment, in a repository from before 15 July 2026."""
NEW: Final = {**OLD, "sub": "repo:acme@123456/gpu-infra@456789:environment:staging"}
ON_MAIN: Final = {**OLD, "sub": "repo:acme/gpu-infra:ref:refs/heads/main"}


def trust(environment: str | None = "staging", ref: str | None = "refs/heads/main") -> dict[str, Any]:
    return trust_policy(PROVIDER, "acme/gpu-infra", 123456, 456789, environment, ref)


@pytest.mark.parametrize("token", [OLD, NEW], ids=["names", "numbers"])
def test_the_deployment_is_trusted_in_both_forms_of_its_subject(token: dict[str, str]) -> None:
    assert accepts(trust(), PROVIDER, token)


@pytest.mark.parametrize(
    ("why", "changed"),
    [
        ("another repository", {"sub": "repo:acme/other:environment:staging", "repository_id": "7"}),
        ("a repository with the same prefix", {"sub": "repo:acme/gpu-infra-x:environment:staging"}),
        ("an owner with the same prefix", {"sub": "repo:acme-evil/gpu-infra:environment:staging"}),
        ("an owner that ends alike", {"sub": "repo:evil/acme/gpu-infra:environment:staging"}),
        ("a pull request", {"sub": "repo:acme/gpu-infra:pull_request", "ref": "refs/pull/1/merge"}),
        ("another environment", {"sub": "repo:acme/gpu-infra:environment:production", "environment": "production"}),
        ("an environment with the same prefix", {"sub": "repo:acme/gpu-infra:environment:staging-2"}),
        ("no environment", {"sub": "repo:acme/gpu-infra:ref:refs/heads/main"}),
        ("another branch", {"ref": "refs/heads/feature"}),
        ("a tag with the branch's name", {"ref": "refs/tags/main"}),
        ("a branch with the same prefix", {"ref": "refs/heads/main2"}),
        ("another audience", {"aud": "https://github.com/acme"}),
        ("no audience", {"aud": ""}),
        ("the name was registered again by another owner", {"repository_id": "999999"}),
        (
            "the name was registered again, and the subject has numbers",
            {"sub": "repo:acme@999/gpu-infra@888:environment:staging", "repository_id": "888"},
        ),
        ("the subject of another repository has the numbers", {"sub": "repo:evil@123456/gpu-infra@456789:ref:x"}),
        ("another case of the owner", {"sub": "repo:Acme/gpu-infra:environment:staging"}),
        ("another case of the environment", {"sub": "repo:acme/gpu-infra:environment:Staging"}),
        ("a wildcard as the environment", {"sub": "repo:acme/gpu-infra:environment:*"}),
    ],
)
def test_another_token_is_refused(why: str, changed: dict[str, str]) -> None:
    assert not accepts(trust(), PROVIDER, {**OLD, **changed}), why


@pytest.mark.parametrize("claim", ["aud", "sub", "repository_id", "ref"])
def test_a_token_without_a_claim_is_refused(claim: str) -> None:
    assert not accepts(trust(), PROVIDER, {name: value for name, value in OLD.items() if name != claim})


def test_another_provider_is_refused() -> None:
    assert not accepts(trust(), provider_arn("210987654321"), OLD)


def test_a_role_without_an_environment_trusts_one_ref() -> None:
    on_main = trust(environment=None)

    assert accepts(on_main, PROVIDER, ON_MAIN)
    assert not accepts(on_main, PROVIDER, OLD)
    assert not accepts(on_main, PROVIDER, {**ON_MAIN, "sub": "repo:acme/gpu-infra:pull_request"})


def test_a_role_without_a_ref_trusts_every_branch_of_its_environment() -> None:
    """The environment's own rules at GitHub limit the branches then."""
    assert accepts(trust(ref=None), PROVIDER, {**OLD, "ref": "refs/heads/feature"})


def test_a_whole_repository_cannot_be_trusted() -> None:
    with pytest.raises(ValueError, match="the trust in acme/gpu-infra needs an environment or a ref"):
        trust(environment=None, ref=None)


_NAMES = st.text("abcXYZ019-_.", min_size=1, max_size=6)


@given(
    owner=_NAMES,
    name=_NAMES,
    owner_id=st.integers(1, 99),
    number=st.integers(1, 99),
    environment=_NAMES,
    other=st.tuples(_NAMES, _NAMES, st.integers(1, 99), st.integers(1, 99), _NAMES),
)
def test_no_two_repositories_share_a_trusted_token(
    owner: str, name: str, owner_id: int, number: int, environment: str, other: tuple[str, str, int, int, str]
) -> None:
    other_owner, other_name, other_owner_id, other_number, other_environment = other
    policy = trust_policy(PROVIDER, f"{owner}/{name}", owner_id, number, environment)
    by_name, by_number = subjects(
        f"{other_owner}/{other_name}", other_owner_id, other_number, environment=other_environment
    )
    token = {"aud": "sts.amazonaws.com", "repository_id": str(other_number)}
    same = (owner, name, number, environment) == (other_owner, other_name, other_number, other_environment)

    assert accepts(policy, PROVIDER, {**token, "sub": by_name}) == same
    assert accepts(policy, PROVIDER, {**token, "sub": by_number}) == (same and owner_id == other_owner_id)


@pytest.mark.parametrize("document", [trust(), trust(environment=None), trust(ref=None)])
def test_the_trust_satisfies_the_policy_rules(document: dict[str, Any]) -> None:
    assert list(trust_has_conditions("aws:iam/role:Role", "deploy", {"assumeRolePolicy": document})) == []


def test_a_trust_in_a_whole_organisation_is_reported() -> None:
    """The same tokens and the same rule, on the trust policy that must not exist."""
    everyone = trust()
    everyone["Statement"][0]["Condition"] = {"StringLike": {"token.actions.githubusercontent.com:sub": "repo:acme/*"}}

    assert accepts(everyone, PROVIDER, {**OLD, "sub": "repo:acme/other:pull_request"})
    assert list(trust_has_conditions("aws:iam/role:Role", "deploy", {"assumeRolePolicy": everyone})) == [
        "assumeRolePolicy trusts repo:acme/*; name the repository and its branch"
    ]
