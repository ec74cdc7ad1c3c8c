"""The page that lists the deployer's roles has every role that the declared resources need, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from fakes.gcp import TABLE

pytestmark = pytest.mark.pure

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "google-cloud-project.md"
NEEDED: Final = {
    "gcp:artifactregistry/repository:Repository": "artifactregistry.admin",
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": "artifactregistry.admin",
    "gcp:compute/firewall:Firewall": "compute.admin",
    "gcp:compute/image:Image": "compute.admin",
    "gcp:compute/imageIamMember:ImageIamMember": "compute.admin",
    "gcp:compute/instance:Instance": "compute.admin",
    "gcp:compute/network:Network": "compute.admin",
    "gcp:compute/router:Router": "compute.admin",
    "gcp:compute/routerNat:RouterNat": "compute.admin",
    "gcp:compute/subnetwork:Subnetwork": "compute.admin",
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": "iam.workloadIdentityPoolAdmin",
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": "iam.workloadIdentityPoolAdmin",
    "gcp:projects/iAMCustomRole:IAMCustomRole": "iam.roleAdmin",
    "gcp:projects/iAMMember:IAMMember": "resourcemanager.projectIamAdmin",
    "gcp:projects/service:Service": "serviceusage.serviceUsageAdmin",
    "gcp:serviceaccount/account:Account": "iam.serviceAccountAdmin",
    "gcp:serviceaccount/iAMMember:IAMMember": "iam.serviceAccountAdmin",
    "gcp:storage/bucket:Bucket": "storage.admin",
}
"""The predefined role that includes every call of a resource (Google's list of IAM roles, 2026)."""
BY_GCLOUD: Final = {"cloudbuild.builds.editor", "iam.serviceAccountUser"}
"""Roles that only `gcloud compute images export` needs (`daisy_utils.py` in the Google Cloud SDK)."""


def listed() -> set[str]:
    return set(re.findall(r"^\| `roles/([\w.]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_type_that_a_stack_may_declare_has_a_role() -> None:
    """The fake Google Cloud refuses every other type."""
    assert {kind.type for kind in TABLE} == NEEDED.keys()


def test_the_page_lists_the_roles_of_the_deployer() -> None:
    assert listed() == set(NEEDED.values()) | BY_GCLOUD
