"""The provider of one project on Google Cloud: a building block."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi_gcp as gcp


def gcp_provider(*, project: str, region: str, labels: Mapping[str, str]) -> gcp.Provider:
    """Declare the provider, which labels every resource."""
    return gcp.Provider(
        "gcp",
        project=project,
        region=region,
        default_labels=labels,
        # Charge calls to this project, whichever credentials make them.
        user_project_override=True,
        billing_project=project,
    )
