"""Every name and every tag follows from project and stack."""

from __future__ import annotations

import pytest

from gpu_ci.stack_file.identity import Identity

pytestmark = pytest.mark.pure


def test_names_begin_with_project_and_stack() -> None:
    assert Identity(project="gpu-ci", stack="staging").prefix == "gpu-ci-staging"


def test_tags_name_project_stack_and_manager() -> None:
    identity = Identity(project="gpu-ci", stack="staging", extra={"Team": "ml"})

    assert identity.tags == {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi", "Team": "ml"}


def test_labels_are_the_tags_in_the_characters_that_google_cloud_accepts() -> None:
    identity = Identity(project="gpu-ci", stack="staging", extra={"CostCentre": "CI / staging"})

    assert identity.labels == {
        "project": "gpu-ci",
        "environment": "staging",
        "managed-by": "pulumi",
        "cost-centre": "ci---staging",
    }
