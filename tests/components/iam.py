"""An evaluator of IAM policies, as far as this project uses them, for tests with tokens of GitHub and with calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

HOST: Final = "token.actions.githubusercontent.com"
CLAIMS: Final = frozenset(
    {
        *("actor", "actor_id", "aud", "enterprise_id", "environment", "job_workflow_ref", "ref", "repository"),
        *("repository_id", "sub", "workflow"),
    }
)
"""The claims of GitHub that AWS STS reads ("IAM and STS condition context keys", 2026). Others do not exist for it."""


def accepts(policy: Mapping[str, Any], provider: str, token: Mapping[str, str]) -> bool:
    """Return True if a token of a provider may assume a role with this trust policy."""
    context = {f"{HOST}:{claim}".lower(): value for claim, value in token.items() if claim in CLAIMS}
    return any(_allows(statement, provider, context) for statement in policy["Statement"])


def _allows(statement: Mapping[str, Any], provider: str, context: Mapping[str, str]) -> bool:
    if statement["Effect"] != "Allow" or "sts:AssumeRoleWithWebIdentity" not in _list(statement["Action"]):
        return False
    if provider not in _list(statement["Principal"].get("Federated", [])):
        return False
    # All operators and keys must match; of the values of a key, one.
    return all(
        _matches(operator, context.get(key.lower()), _list(values))
        for operator, keys in statement.get("Condition", {}).items()
        for key, values in keys.items()
    )


def _matches(operator: str, value: str | None, stated: list[str]) -> bool:
    if operator == "StringEquals":
        return value is not None and value in stated
    if operator == "StringLike":
        # IAM knows * and ? only; fnmatch also reads sets in brackets.
        return value is not None and any(fnmatchcase(value, one.replace("[", "[[]")) for one in stated)
    raise AssertionError(f"the evaluator does not know {operator}")


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def allowed(policies: Iterable[str], action: str, resource: str, context: Mapping[str, str]) -> bool:
    """Return True if one of the policies allows an action on a resource. None of them has a statement that denies."""
    return any(
        action in _list(statement["Action"])
        and any(fnmatchcase(resource, one) for one in _list(statement["Resource"]))
        and all(
            _holds(operator, context.get(key), _list(values))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
        for text in policies
        for statement in json.loads(text)["Statement"]
    )


def _holds(operator: str, value: str | None, stated: list[str]) -> bool:
    if operator.endswith("IfExists"):
        return value is None or _holds(operator.removesuffix("IfExists"), value, stated)
    return _matches("StringEquals" if operator == "ArnEquals" else operator, value, stated)
