"""Access to the IAM documents in the inputs of an AWS resource."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.inputs import Inputs, document, each, leaves, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WHOLE_KIND: Final = re.compile(r"arn:aws:[^:]*:[^:]*:[^:]*:(group|key|policy|role|secret|user)[/:]\*")
NARROWING: Final = frozenset(
    {
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceorgid",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "kms:calleraccount",
        "sts:externalid",
    }
)
"""Keys of a condition that limit the callers."""


def statements(type_: str, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Yield each allowing statement of every document of an AWS resource, with the path of the document."""
    if not type_.startswith("aws:"):
        return
    for path, value in leaves(inputs):
        for statement in each(document(value) if isinstance(value, str) else {}, "Statement"):
            if part(statement, "Effect") == "Allow":
                yield path, statement
    # A document that is no text.
    for key in ("policy", "assumeRolePolicy"):
        for statement in each(inputs, key, "Statement"):
            if part(statement, "Effect") == "Allow":
                yield key, statement


def has_principal(statement: Inputs) -> bool:
    """Return True for a statement about callers: of a trust document or of a policy on a resource."""
    return "Principal" in statement or "NotPrincipal" in statement


def allows(statement: Inputs, actions: Iterable[str]) -> list[str]:
    """Return the stated actions that include one of `actions`. IAM ignores the case of actions."""
    wanted = [action.lower() for action in actions]
    stated = texts(statement, "Action")
    return [one for one in stated if any(fnmatchcase(action, one.lower()) for action in wanted)]


def everywhere(statement: Inputs) -> bool:
    """Return True if a statement is about every resource, or every one of a kind in every account."""
    return any(one == "*" or one.startswith("arn:aws:iam::*") or one.endswith(":*:*") for one in _resources(statement))


def of_a_whole_kind(statement: Inputs) -> bool:
    """Return True if a statement is about every role, user, policy, key or secret of an account."""
    return everywhere(statement) or any(_WHOLE_KIND.fullmatch(one) for one in _resources(statement))


def _resources(statement: Inputs) -> list[str]:
    return texts(statement, "Resource")


def callers(statement: Inputs) -> dict[str, list[str]]:
    """Return the principals of a statement by kind; `*` is a principal of the kind AWS."""
    stated = part(statement, "Principal")
    if isinstance(stated, str):
        return {"AWS": [stated]}
    return {kind: texts(stated, kind) for kind in stated} if stated else {}


def conditions(statement: Inputs) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the operator, the key and the values of each condition."""
    stated = part(statement, "Condition")
    for operator in stated or ():
        for key in part(stated, operator) or ():
            yield operator, key, texts(stated, operator, key)


def limits_callers(statement: Inputs) -> bool:
    """Return True if a condition limits the callers to something narrower than everyone."""
    return any(
        key.lower() in NARROWING and values and "*" not in values
        for operator, key, values in conditions(statement)
        if not operator.endswith("IfExists") and "Not" not in operator
    )
