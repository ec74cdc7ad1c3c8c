"""What AWS knows of identities, keys, registries, images and the small services around them.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x; refusals and their words are from the API
references of IAM, KMS, ECR, Image Builder, EventBridge Scheduler and S3 (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.standin.amazon_cluster import KEY, ROLE
from ops.standin.amazon_network import INSTANCE_PROFILE, NO_GROUP, NO_SUBNET, SECURITY_GROUP, SUBNET
from ops.standin.kinds import Kind, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.standin.cloud import Cloud
    from ops.standin.things import Thing

POLICY: Final = "aws:iam/policy:Policy"
ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INLINE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
REPOSITORY: Final = "aws:ecr/repository:Repository"
BUCKET: Final = "aws:s3/bucket:Bucket"
FILE_SYSTEM: Final = "aws:efs/fileSystem:FileSystem"

_NO_ENTITY: Final = "NoSuchEntity: The {noun} with name {{value}} cannot be found."
_BUILDER: Final = "aws:imagebuilder/"


def _role_is_bare(cloud: Cloud, role: Thing) -> str | None:
    """IAM deletes no role with something on it."""
    if cloud.pointing_at(role, ATTACHMENT) and not role.inputs.get("forceDetachPolicies"):
        return "DeleteConflict: Cannot delete entity, must detach all policies first."
    if cloud.pointing_at(role, INLINE_POLICY) and not role.inputs.get("forceDetachPolicies"):
        return "DeleteConflict: Cannot delete entity, must delete policies first."
    if cloud.pointing_at(role, INSTANCE_PROFILE):
        return "DeleteConflict: Cannot delete entity, must remove roles from instance profile first."
    return None


def _on_role(*, follows: bool = False) -> Reference:
    missing = _NO_ENTITY.format(noun="role")
    return Reference("role", ROLE, missing=missing, foreign="/", holds=False, follows=follows)


def _on_repository(type_: str, *, once: bool = True) -> Kind:
    return Kind(
        type=type_,
        identity=("repository",) if once else (),
        references=[
            Reference(
                "repository",
                REPOSITORY,
                by="name",
                missing="RepositoryNotFoundException: The repository with name '{value}' does not exist in the registry",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"repository"}),
    )


def _on_bucket(name: str) -> Kind:
    return Kind(
        type=f"aws:s3/{name}:{name[0].upper()}{name[1:]}",
        identity=("bucket",),
        references=[
            Reference(
                "bucket",
                BUCKET,
                missing="NoSuchBucket: The specified bucket does not exist ({value})",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"bucket"}),
    )


def _builder(name: str, *, references: Iterable[Reference] = (), replaced_by: Iterable[str] = ()) -> Kind:
    """Image Builder keeps its parts by name, and none goes while another uses it."""
    return Kind(
        type=f"{_BUILDER}{name}:{name[0].upper()}{name[1:]}",
        identity=("arn",),
        taken="ResourceAlreadyExistsException: The resource '{0}' already exists.",
        references=list(references),
        in_use="ResourceDependencyException: Resource dependency error: the resource is used by '{holder}'.",
        replaced_by=frozenset({"name", *replaced_by}),
        delete_first="name",
        lengths={"name": 128},
    )


def _part(path: str, name: str) -> Reference:
    return Reference(
        path,
        f"{_BUILDER}{name}:{name[0].upper()}{name[1:]}",
        by="arn",
        missing="InvalidParameterValueException: The value supplied for parameter is not valid: {value} does not exist",
        foreign=":aws:component/|:aws:image/",
    )


def _named(type_: str, service: str, *, replaced_by: Iterable[str] = (), references: Iterable[Reference] = ()) -> Kind:
    """Something known by its name and nothing else."""
    return Kind(
        type=type_,
        identity=("name",),
        taken=f"{service}: {{0}} already exists",
        references=list(references),
        replaced_by=frozenset({"name", "namePrefix", *replaced_by}),
        delete_first="name",
    )


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
    Kind(
        type=REPOSITORY,
        identity=("name",),
        taken="RepositoryAlreadyExistsException: The repository with name '{0}' already exists in the registry",
        replaced_by=frozenset({"name", "encryptionConfigurations"}),
        delete_first="name",
        words={
            "imageTagMutability": ("IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION", "MUTABLE", "MUTABLE_WITH_EXCLUSION"),
            "imageTagMutabilityExclusionFilters.*.filterType": ("WILDCARD",),
            "encryptionConfigurations.*.encryptionType": ("AES256", "KMS", "KMS_DSSE"),
        },
        lengths={"name": 256},
    ),
    _on_repository("aws:ecr/lifecyclePolicy:LifecyclePolicy"),
    _on_repository("aws:ecr/repositoryPolicy:RepositoryPolicy"),
    Kind(
        type="aws:ecr/pullThroughCacheRule:PullThroughCacheRule",
        identity=("ecrRepositoryPrefix",),
        taken="PullThroughCacheRuleAlreadyExistsException: a rule with prefix {0} already exists",
        replaced_by=frozenset({"ecrRepositoryPrefix", "upstreamRegistryUrl", "upstreamRepositoryPrefix"}),
    ),
    Kind(type="aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration", identity=("registryId",)),
    _builder("component", replaced_by=["data", "uri", "version", "platform", "changeDescription", "kmsKeyId"]),
    _builder(
        "imageRecipe",
        references=[_part("components.*.componentArn", "component")],
        replaced_by=[
            "components",
            "parentImage",
            "version",
            "blockDeviceMappings",
            "userDataBase64",
            "workingDirectory",
        ],
    ),
    _builder(
        "infrastructureConfiguration",
        references=[
            Reference(
                "instanceProfileName",
                INSTANCE_PROFILE,
                by="name",
                missing="InvalidParameterValueException: The specified instance profile does not exist: {value}",
            ),
            Reference("subnetId", SUBNET, missing=NO_SUBNET),
            Reference("securityGroupIds.*", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-"),
        ],
    ),
    _builder("distributionConfiguration"),
    _builder("lifecyclePolicy"),
    _builder(
        "imagePipeline",
        references=[
            _part("imageRecipeArn", "imageRecipe"),
            _part("infrastructureConfigurationArn", "infrastructureConfiguration"),
            _part("distributionConfigurationArn", "distributionConfiguration"),
        ],
    ),
    Kind(
        type=f"{_BUILDER}image:Image",
        references=[
            _part("imageRecipeArn", "imageRecipe"),
            _part("infrastructureConfigurationArn", "infrastructureConfiguration"),
            _part("distributionConfigurationArn", "distributionConfiguration"),
        ],
        replaced_by=frozenset(
            {
                "imageRecipeArn",
                "infrastructureConfigurationArn",
                "distributionConfigurationArn",
                "imageTestsConfiguration",
            }
        ),
        slow=True,
    ),
    Kind(
        type=BUCKET,
        identity=("bucket",),
        taken="BucketAlreadyOwnedByYou: Your previous request to create the named bucket succeeded ({0})",
        replaced_by=frozenset({"bucket", "bucketPrefix", "objectLockEnabled"}),
        delete_first="bucket",
        lengths={"bucket": 63},
    ),
    *(
        _on_bucket(name)
        for name in (
            "bucketLifecycleConfiguration",
            "bucketOwnershipControls",
            "bucketPolicy",
            "bucketPublicAccessBlock",
            "bucketServerSideEncryptionConfiguration",
            "bucketVersioning",
        )
    ),
    Kind(
        type=FILE_SYSTEM,
        in_use="FileSystemInUse: file system '{id}' has mount targets (held by {holder})",
        replaced_by=frozenset({"encrypted", "kmsKeyId", "performanceMode", "availabilityZoneName", "creationToken"}),
        slow=True,
    ),
    *(
        Kind(
            type=type_,
            references=[
                Reference(
                    "fileSystemId", FILE_SYSTEM, missing="FileSystemNotFound: File system '{value}' does not exist."
                ),
                Reference("subnetId", SUBNET, missing=NO_SUBNET),
                Reference("securityGroups.*", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-"),
            ],
            replaced_by=frozenset({"fileSystemId", "subnetId", "ipAddress", "posixUser", "rootDirectory"}),
        )
        for type_ in ("aws:efs/mountTarget:MountTarget", "aws:efs/accessPoint:AccessPoint")
    ),
    _named("aws:cloudwatch/eventRule:EventRule", "ResourceAlreadyExistsException", replaced_by=["eventBusName"]),
    Kind(
        type="aws:cloudwatch/eventTarget:EventTarget",
        references=[
            Reference(
                "rule",
                "aws:cloudwatch/eventRule:EventRule",
                by="name",
                missing="ResourceNotFoundException: Rule {value} does not exist on EventBus default.",
            )
        ],
        replaced_by=frozenset({"rule", "targetId", "eventBusName"}),
    ),
    _named("aws:cloudwatch/metricAlarm:MetricAlarm", "ResourceAlreadyExistsException"),
    _named("aws:scheduler/scheduleGroup:ScheduleGroup", "ConflictException"),
    Kind(
        type="aws:scheduler/schedule:Schedule",
        identity=("groupName", "name"),
        taken="ConflictException: Schedule {1} already exists.",
        references=[
            Reference(
                "groupName",
                "aws:scheduler/scheduleGroup:ScheduleGroup",
                by="name",
                missing="ResourceNotFoundException: Schedule group {value} does not exist.",
                foreign="^default$",
                holds=False,
                follows=True,
            ),
            Reference(
                "target.roleArn",
                ROLE,
                by="arn",
                missing="ValidationException: The execution role you provide must allow EventBridge Scheduler to assume it",
                holds=False,
            ),
        ],
        replaced_by=frozenset({"name", "namePrefix", "groupName"}),
        delete_first="name",
        words={"state": ("DISABLED", "ENABLED"), "flexibleTimeWindow.mode": ("FLEXIBLE", "OFF")},
    ),
    _named("aws:sns/topic:Topic", "InvalidParameter", replaced_by=["fifoTopic"]),
    Kind(
        type="aws:sns/topicSubscription:TopicSubscription",
        references=[
            Reference(
                "topic",
                "aws:sns/topic:Topic",
                by="arn",
                missing="NotFound: Topic does not exist ({value})",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"topic", "protocol", "endpoint"}),
    ),
    _named("aws:sqs/queue:Queue", "QueueNameExists", replaced_by=["fifoQueue"]),
    _named("aws:ssm/parameter:Parameter", "ParameterAlreadyExists", replaced_by=["type", "keyId"]),
    _named(
        "aws:lambda/function:Function",
        "ResourceConflictException",
        replaced_by=["packageType"],
        references=[
            Reference(
                "role",
                ROLE,
                by="arn",
                missing="InvalidParameterValueException: The role defined for the function cannot be assumed by Lambda.",
                holds=False,
            )
        ],
    ),
    Kind(type="aws:servicequotas/serviceQuota:ServiceQuota", replaced_by=frozenset({"quotaCode", "serviceCode"})),
    _named("aws:budgets/budget:Budget", "DuplicateRecordException"),
)
"""Every type of this chapter."""
