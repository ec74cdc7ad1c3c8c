"""What AWS knows of identities and keys.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x; refusals and their words are from the API
references of IAM and KMS (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws.names import ATTACHMENT, INLINE_POLICY, INSTANCE_PROFILE, KEY, POLICY, ROLE, USER, USER_POLICY
from fakes.kinds import Kind, Reference

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import Thing


def _role_is_bare(cloud: Cloud, role: Thing) -> str | None:
    """IAM deletes no role with something on it."""
    if cloud.pointing_at(role, ATTACHMENT) and not role.inputs.get("forceDetachPolicies"):
        return "DeleteConflict: Cannot delete entity, must detach all policies first."
    if cloud.pointing_at(role, INLINE_POLICY) and not role.inputs.get("forceDetachPolicies"):
        return "DeleteConflict: Cannot delete entity, must delete policies first."
    if cloud.pointing_at(role, INSTANCE_PROFILE):
        return "DeleteConflict: Cannot delete entity, must remove roles from instance profile first."
    return None


def _on_role() -> Reference:
    # A role with a path is named by its name alone; what looks like more is an ARN, and somebody else's.
    missing = "NoSuchEntity: The role with name {value} cannot be found."
    return Reference("role", ROLE, missing=missing, foreign="/", holds=False)


KINDS: Final = (
    Kind(
        type=ROLE,
        identity=("name",),
        taken="EntityAlreadyExists: Role with name {0} already exists.",
        replaced_by=frozenset({"name", "namePrefix", "path"}),
        delete_first="name",
        lengths={"name": 64, "namePrefix": 38, "description": 1000},
        before_delete=[_role_is_bare],
    ),
    Kind(
        type=ATTACHMENT,
        identity=("role", "policyArn"),
        references=[
            _on_role(),
            Reference(
                "policyArn",
                POLICY,
                by="arn",
                missing="NoSuchEntity: Policy {value} does not exist or is not attachable.",
                foreign="^arn:aws:iam::aws:policy/",
            ),
        ],
        replaced_by=frozenset({"role", "policyArn"}),
    ),
    Kind(
        type=INLINE_POLICY,
        identity=("role", "name"),
        references=[_on_role()],
        replaced_by=frozenset({"role", "name", "namePrefix"}),
        lengths={"name": 128},
    ),
    Kind(
        type=USER,
        identity=("name",),
        taken="EntityAlreadyExists: User with name {0} already exists.",
        in_use="DeleteConflict: Cannot delete entity, must delete policies first. (held by {holder})",
        replaced_by=frozenset({"name", "path"}),
        delete_first="name",
        lengths={"name": 64},
    ),
    Kind(
        type=USER_POLICY,
        identity=("user", "name"),
        references=[Reference("user", USER, missing="NoSuchEntity: The user with name {value} cannot be found.")],
        replaced_by=frozenset({"user", "name", "namePrefix"}),
        lengths={"name": 128},
    ),
    Kind(
        type=POLICY,
        identity=("arn",),
        taken="EntityAlreadyExists: A policy called {0} already exists.",
        in_use="DeleteConflict: Cannot delete a policy attached to entities. (held by {holder})",
        replaced_by=frozenset({"name", "namePrefix", "path", "description"}),
        delete_first="name",
        lengths={"name": 128},
    ),
    Kind(
        type=INSTANCE_PROFILE,
        identity=("name",),
        taken="EntityAlreadyExists: Instance Profile {0} already exists.",
        references=[_on_role()],
        replaced_by=frozenset({"name", "namePrefix", "path"}),
        delete_first="name",
        lengths={"name": 128},
    ),
    Kind(
        type="aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        identity=("arn",),
        taken="EntityAlreadyExists: Provider with url {0} already exists.",
        replaced_by=frozenset({"url"}),
    ),
    # A key is not deleted but marked for deletion, whoever uses it: nothing holds it.
    Kind(
        type=KEY,
        replaced_by=frozenset({"keyUsage", "customerMasterKeySpec", "customKeyStoreId", "multiRegion", "xksKeyId"}),
        words={"keyUsage": ("ENCRYPT_DECRYPT", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT", "SIGN_VERIFY")},
    ),
    Kind(
        type="aws:kms/alias:Alias",
        identity=("name",),
        taken="AlreadyExistsException: An alias with the name {0} already exists",
        references=[
            Reference(
                "targetKeyId",
                KEY,
                by="keyId",
                missing="NotFoundException: Key '{value}' does not exist",
                foreign="^arn:",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"name", "namePrefix"}),
        delete_first="name",
        lengths={"name": 256},
    ),
)
"""Every type of this chapter."""
