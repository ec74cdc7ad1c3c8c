"""A kubeconfig that gets a token from AWS at each call. Pure.

A token in the kubeconfig would expire after fifteen minutes, during a long update or destroy.
"""

from __future__ import annotations

import json
from typing import Any


def kubeconfig(*, name: str, endpoint: str, certificate_authority: str, region: str) -> str:
    """Return a kubeconfig for one EKS cluster, as JSON, which is valid YAML.

    Args:
        name: the name of the cluster in EKS.
        endpoint: the URL of the Kubernetes API.
        certificate_authority: in base64, as EKS returns it.
        region: the AWS region of the cluster.

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
