"""IAM and KMS: roles, users, policies and keys.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the API references of IAM and KMS for
refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.aws.names import ATTACHMENT, INLINE_POLICY, KEY, ROLE, USER, USER_POLICY
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import CREATED_AT, Answer, Created, Request


def _role(request: Request) -> Created:
    name, path = request.physical(), request.inputs.get("path", "/")
    return name, {
        "name": name,
        "arn": request.iam_arn(f"role{path}{name}"),
        "uniqueId": f"AROA{request.upper(17)}",
        "createDate": CREATED_AT,
    }


def _user(request: Request) -> Created:
    name, path = request.physical(), request.inputs.get("path", "/")
    arn = request.iam_arn(f"user{path}{name}")
    return name, {"name": name, "arn": arn, "uniqueId": f"AIDA{request.upper(17)}"}


def _inline_policy(owner: str) -> Answer:
    """Return the answer for a policy inside a role or a user."""

    def answer(request: Request) -> Created:
        name = request.physical()
        return f"{request.inputs.get(owner, owner)}:{name}", {"name": name}

    return answer


def _attachment(request: Request) -> Created:
    return f"{request.inputs.get('role', 'role')}/{request.inputs.get('policyArn', '')}", {}


def _key(request: Request) -> Created:
    id_ = request.uuid()
    return id_, {"arn": request.arn("kms", f"key/{id_}"), "keyId": id_}


def _alias(request: Request) -> Created:
    name = request.physical() if request.inputs.get("name") else f"alias/{request.physical()}"
    target = str(request.inputs.get("targetKeyId", "")).rpartition("/")[2]
    return name, {
        "name": name,
        "arn": request.arn("kms", name),
        "targetKeyArn": request.arn("kms", f"key/{target}"),
    }


def _role_has_no_policies(cloud: Objects, role: CloudObject) -> str | None:
    if role.inputs.get("forceDetachPolicies"):
        return None
    if cloud.pointing_at(role, ATTACHMENT):
        return "DeleteConflict: Cannot delete entity, must detach all policies first."
    if cloud.pointing_at(role, INLINE_POLICY):
        return "DeleteConflict: Cannot delete entity, must delete policies first."
    return None


# The inputs name a role by its name. A value with a slash is an ARN of a role outside the stack.
_ROLE: Final = Reference(
    "role", ROLE, missing="NoSuchEntity: The role with name {value} cannot be found.", foreign="/", blocks=False
)

TABLE: Final = (
    Kind(
        type=ROLE,
        answer=_role,
        identity=("name",),
        taken="EntityAlreadyExists: Role with name {0} already exists.",
        delete_first="name",
        in_use="DeleteConflict: Cannot delete entity, must remove roles from instance profile first. (in {holder})",
        max_lengths={"name": 64, "namePrefix": 38, "description": 1000},
        before_delete=[_role_has_no_policies],
    ),
    Kind(
        type=ATTACHMENT,
        answer=_attachment,
        identity=("role", "policyArn"),
        references=[_ROLE],
    ),
    Kind(
        type=INLINE_POLICY,
        answer=_inline_policy("role"),
        identity=("role", "name"),
        references=[_ROLE],
        max_lengths={"name": 128},
    ),
    Kind(
        type=USER,
        answer=_user,
        identity=("name",),
        taken="EntityAlreadyExists: User with name {0} already exists.",
        in_use="DeleteConflict: Cannot delete entity, must delete policies first. (held by {holder})",
        delete_first="name",
        max_lengths={"name": 64},
    ),
    Kind(
        type=USER_POLICY,
        answer=_inline_policy("user"),
        identity=("user", "name"),
        references=[Reference("user", USER, missing="NoSuchEntity: The user with name {value} cannot be found.")],
        max_lengths={"name": 128},
    ),
    # KMS schedules the deletion of a key even if it is in use.
    Kind(
        type=KEY,
        answer=_key,
        choices={"keyUsage": ("ENCRYPT_DECRYPT", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT", "SIGN_VERIFY")},
    ),
    Kind(
        type="aws:kms/alias:Alias",
        answer=_alias,
        identity=("name",),
        taken="AlreadyExistsException: An alias with the name {0} already exists",
        references=[
            Reference(
                "targetKeyId",
                KEY,
                by="keyId",
                missing="NotFoundException: Key '{value}' does not exist",
                foreign="^arn:",
                blocks=False,
                cascades=True,
            )
        ],
        delete_first="name",
        max_lengths={"name": 256},
    ),
)
