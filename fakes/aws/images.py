"""What AWS knows of container repositories and of the building of machine images.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x; refusals and their words are from the API
references of ECR and Image Builder (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws.names import INSTANCE_PROFILE, REPOSITORY, SECURITY_GROUP, SUBNET
from fakes.aws.network import NO_GROUP, NO_SUBNET
from fakes.kinds import Kind, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable


_BUILDER: Final = "aws:imagebuilder/"


def _on_repository(type_: str, *, once: bool = True) -> Kind:
    return Kind(
        type=type_,
        identity=("repository",) if once else (),
        references=[
            Reference(
                "repository",
                REPOSITORY,
                by="name",
                missing="RepositoryNotFoundException: The repository with name '{value}' does not exist",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"repository"}),
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


KINDS: Final = (
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
                holds=False,
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
)
"""Every type of this chapter."""
