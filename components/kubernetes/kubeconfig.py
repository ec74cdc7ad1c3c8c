"""A kubeconfig that asks AWS for a token at each call. Pure.

A token written into it instead would be fifteen minutes old when a long update or a destroy needs it.
"""

from __future__ import annotations

import json
from typing import Any


def kubeconfig(*, name: str, endpoint: str, certificate_authority: str, region: str) -> str:
    """A kubeconfig for one EKS cluster, as JSON, which is YAML too.

    Args:
        name: the cluster's name in EKS.
        endpoint: where its API answers.
        certificate_authority: base64, as EKS gives it.
        region: where the token is asked for.

    """
    user: dict[str, Any] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "aws",
            "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
            "interactiveMode": "Never",
        }
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [
                {"name": name, "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority}}
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "users": [{"name": name, "user": user}],
        },
        sort_keys=True,
    )
