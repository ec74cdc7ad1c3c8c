"""Rules about callers: none outside the organisation, and no workflow that was not named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.documents import callers, conditions, limits_callers, statements
from gpu_ci.policy.inputs import Inputs, document, each, leaves, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_PUBLIC_MEMBERS: Final = ("allUsers", "allAuthenticatedUsers")
_SUBJECT_OPERATORS: Final = re.compile(r"(ForAllValues:|ForAnyValue:)?String(Equals|Like)(IgnoreCase)?")
_WHOLE_POOL: Final = re.compile(r"principalSet://iam\.googleapis\.com/.*/workloadIdentityPools/[^/]+/\*")
_OF_A_REPOSITORY: Final = re.compile(
    r"(assertion|attribute)\.(repository|repository_id|sub|job_workflow_ref)\b|google\.subject"
)


def no_public_caller(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No policy lets everyone in, or everyone outside a list."""
    for path, statement in statements(type_, inputs):
        if "NotPrincipal" in statement:
            yield f"{path} allows everyone outside NotPrincipal; list who is allowed"
        if any("*" in names for names in callers(statement).values()) and not limits_callers(statement):
            yield f"{path} allows every caller; name the principals, or add a condition on their account"
    if type_ == "aws:lambda/permission:Permission" and part(inputs, "principal") == "*":
        yield "principal is *; name the principal"
    if type_ == "aws:lambda/functionUrl:FunctionUrl" and part(inputs, "authorizationType") == "NONE":
        yield "authorizationType is NONE; use AWS_IAM"


def trust_has_conditions(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Roles of another account and of a federation can only be assumed under a condition that names the caller."""
    for path, statement in statements(type_, inputs):
        names = callers(statement)
        if path != "assumeRolePolicy":
            continue
        if any(name.endswith(":root") or name.isdigit() for name in names.get("AWS", [])) and not limits_callers(
            statement
        ):
            yield f"{path} trusts a whole account; name its roles, or add a condition"
        if "pods.eks.amazonaws.com" in names.get("Service", []) and not any(conditions(statement)):
            yield f"{path} trusts every pod of the account's clusters; add conditions on the namespace and the account"
        if names.get("Federated"):
            yield from _subjects(path, statement)


def _subjects(path: str, statement: Inputs) -> Iterator[str]:
    stated = [
        value
        for operator, key, values in conditions(statement)
        if _SUBJECT_OPERATORS.fullmatch(operator) and key.endswith((":sub", ":job_workflow_ref", ":repository_id"))
        for value in values
    ]
    if not stated and not any(key.lower().startswith("saml:") for _, key, _ in conditions(statement)):
        yield f"{path} trusts every identity of the provider; add a condition on its subject"
    for value in stated:
        # A pull request of anyone has a subject of the repository, too.
        if "*" in value and not re.search(r"^[^*?]+:(ref:refs/|environment:)[^*]*\*?$", value):
            yield f"{path} trusts {value}; name the repository and its branch"


def no_public_member(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No resource of Google Cloud is public."""
    if not type_.startswith("gcp:"):
        return
    for path, value in leaves({**inputs, "policyData": document(part(inputs, "policyData"))}):
        if isinstance(value, str) and value.rpartition(":")[2] in _PUBLIC_MEMBERS:
            yield f"{path} is {value}, so it is public; name the members"
        elif isinstance(value, str) and value in {"publicRead", "publicReadWrite", "authenticatedRead"}:
            yield f"{path} is {value}, so it is public; remove it"


def federation_has_a_condition(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """A federation only accepts tokens of named repositories or subjects."""
    if type_ == "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider":
        condition = part(inputs, "attributeCondition")
        if condition is None or (isinstance(condition, str) and not condition.strip()):
            yield "attributeCondition is not set, so every repository of GitHub gets access; name the repositories"
        elif isinstance(condition, str) and not condition.startswith("[") and not _OF_A_REPOSITORY.search(condition):
            yield "attributeCondition does not name a repository; compare assertion.repository_id"
    for member in [*texts(inputs, "member"), *texts(inputs, "members")]:
        if _WHOLE_POOL.fullmatch(member):
            yield f"{member} is every identity of the pool; name an attribute, as in attribute.repository_id"
    for binding in each(document(part(inputs, "policyData")), "bindings"):
        for member in texts(binding, "members"):
            if _WHOLE_POOL.fullmatch(member):
                yield f"{member} is every identity of the pool; name an attribute"
