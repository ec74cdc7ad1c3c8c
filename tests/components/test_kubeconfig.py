"""The kubeconfig reaches one cluster, asks for a token at each call, and holds none."""

from __future__ import annotations

import json

import pytest
import yaml

from components.kubernetes.kubeconfig import kubeconfig

pytestmark = pytest.mark.pure

TEXT = kubeconfig(
    name="gpu-ci-staging", endpoint="https://x.eks.example", certificate_authority="Q0E=", region="us-west-2"
)


def test_the_kubeconfig_has_one_cluster_one_user_and_one_context() -> None:
    config = json.loads(TEXT)
    (cluster,), (user,), (context,) = config["clusters"], config["users"], config["contexts"]

    assert config["current-context"] == context["name"]
    assert context["context"] == {"cluster": cluster["name"], "user": user["name"]}
    assert cluster["cluster"] == {"server": "https://x.eks.example", "certificate-authority-data": "Q0E="}


def test_the_kubeconfig_gets_a_token_by_command_and_stores_none() -> None:
    """A token in it would be stale by the time that a long update or a destroy needs it."""
    (user,) = json.loads(TEXT)["users"]
    asked = user["user"]["exec"]

    assert set(user["user"]) == {"exec"}
    assert [asked["command"], *asked["args"]] == [
        "aws", "--region", "us-west-2", "eks", "get-token", "--cluster-name", "gpu-ci-staging", "--output", "json",
    ]  # fmt: skip
    assert asked["interactiveMode"] == "Never"


def test_the_kubeconfig_is_json_with_sorted_keys() -> None:
    assert yaml.safe_load(TEXT) == json.loads(TEXT)
    assert json.dumps(json.loads(TEXT), sort_keys=True) == TEXT
