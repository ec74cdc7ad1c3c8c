"""The role that pushes images: one repository of GitHub, one branch, one repository of ECR, and no deletion."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from components.aws.images.image_push import PUSH, permissions, repository_arn, role_arn, role_name
from ops.plan.model import Plan
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.mistakes.saying import write

PUSHED: dict[str, Any] = {"repository": "example-org/gpu-images", "repository-id": 84632179, "owner-id": 9919}
ARN = "arn:aws:ecr:us-west-2:123456789012:repository/gpu-ci-staging/runner-gpu"


def plan(folder: Path, **change: Any) -> Plan:
    """Return the plan of staging with a repository that is pushed to."""
    return record(read(write({"ecr": {"runner-gpu": {"pushed-by": PUSHED | change}}}, folder)))


@pytest.mark.plan
def test_only_jobs_on_the_branch_of_the_repository_assume_the_role(tmp_path: Path) -> None:
    (role,) = [one for one in plan(tmp_path, branch="trunk").of("aws:iam/role:Role") if one.name == "push-runner-gpu"]
    (statement,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    conditions = {key.rpartition(":")[2]: value for key, value in statement["Condition"]["StringEquals"].items()}

    assert role.inputs["name"] == "gpu-ci-staging-push-runner-gpu"
    assert conditions["ref"] == "refs/heads/trunk"
    assert conditions["repository_id"] == "84632179"
    assert conditions["sub"] == [
        "repo:example-org/gpu-images:ref:refs/heads/trunk",
        "repo:example-org@9919/gpu-images@84632179:ref:refs/heads/trunk",
    ]


@pytest.mark.plan
def test_the_role_pushes_to_one_repository_and_deletes_nothing(tmp_path: Path) -> None:
    (policy,) = [one for one in plan(tmp_path).of("aws:iam/rolePolicy:RolePolicy") if one.name == "push-runner-gpu"]
    log_in, push = json.loads(policy.inputs["policy"])["Statement"]

    assert (log_in["Action"], log_in["Resource"]) == (["ecr:GetAuthorizationToken"], ["*"])
    assert push["Resource"] == [ARN]
    assert set(push["Action"]) == set(PUSH)
    assert not any(re.search("Delete|Policy|Create", action) for action in push["Action"])


@pytest.mark.plan
def test_a_repository_that_nothing_pushes_to_has_no_role(tmp_path: Path) -> None:
    found = record(read(write({}, tmp_path))).of("aws:iam/role:Role")

    assert [one.name for one in found if one.name.startswith("push-")] == []


@pytest.mark.pure
@pytest.mark.parametrize("repository", ["team/runner-gpu", "r" * 208, "a.b/c-d/e__f"])
def test_a_name_that_iam_refuses_gets_a_hash(repository: str) -> None:
    name = role_name("gpu-ci-staging", repository)

    assert re.fullmatch(r"gpu-ci-staging-push-[a-z0-9-]+-[0-9a-f]{8}", name)
    assert len(name) <= 64


@pytest.mark.pure
def test_names_of_different_repositories_differ() -> None:
    names = {role_name("gpu-ci-staging", one) for one in ("a/b", "a-b", "a.b", "r" * 100, "r" * 101)}

    assert len(names) == 5
    assert role_arn("123456789012", "gpu-ci-staging", "runner-gpu") == (
        "arn:aws:iam::123456789012:role/gpu-ci-staging-push-runner-gpu"
    )


@pytest.mark.pure
def test_the_permissions_are_the_same_text_for_the_same_repository() -> None:
    arn = repository_arn("123456789012", "us-west-2", "gpu-ci-staging/runner-gpu")

    assert arn == ARN
    assert permissions(arn) == permissions(ARN)
