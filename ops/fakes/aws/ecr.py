"""ECR: repositories of container images.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the ECR API reference for refusals, the
outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.aws.names import REPOSITORY
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.request import Created, Request


def _repository(request: Request) -> Created:
    name = request.physical()
    return name, {
        "name": name,
        "arn": request.arn("ecr", f"repository/{name}"),
        "registryId": request.place.account,
        "repositoryUrl": f"{request.place.account}.dkr.ecr.{request.region}.amazonaws.com/{name}",
    }


def _lifecycle_policy(request: Request) -> Created:
    return str(request.inputs.get("repository", request.name)), {"registryId": request.place.account}


TABLE: Final = (
    Kind(
        type=REPOSITORY,
        answer=_repository,
        identity=("name",),
        taken="RepositoryAlreadyExistsException: The repository with name '{0}' already exists in the registry",
        delete_first="name",
        choices={
            "imageTagMutability": ("IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION", "MUTABLE", "MUTABLE_WITH_EXCLUSION"),
            "imageTagMutabilityExclusionFilters.*.filterType": ("WILDCARD",),
            "encryptionConfigurations.*.encryptionType": ("AES256", "KMS", "KMS_DSSE"),
        },
        max_lengths={"name": 256},
    ),
    Kind(
        type="aws:ecr/lifecyclePolicy:LifecyclePolicy",
        answer=_lifecycle_policy,
        identity=("repository",),
        references=[
            Reference(
                "repository",
                REPOSITORY,
                by="name",
                missing="RepositoryNotFoundException: The repository with name '{value}' does not exist",
                blocks=False,
                cascades=True,
            )
        ],
    ),
)
