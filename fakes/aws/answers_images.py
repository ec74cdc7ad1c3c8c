"""What the registry and Image Builder compute beside the inputs.

Forms are those of AWS's own documentation of each resource as the pulumi-aws 7 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

from typing import Final

from fakes.answers_asked import CREATED_AT, Asked, Made, Maker


def _repository(asked: Asked) -> Made:
    name = asked.physical()
    return name, {
        "name": name,
        "arn": asked.arn("ecr", f"repository/{name}"),
        "registryId": asked.place.account,
        "repositoryUrl": f"{asked.place.account}.dkr.ecr.{asked.region}.amazonaws.com/{name}",
    }


def _of_repository(asked: Asked) -> Made:
    """A policy that a repository has one of: known by the repository's name."""
    return str(asked.inputs.get("repository", asked.name)), {"registryId": asked.place.account}


def _pull_through(asked: Asked) -> Made:
    return str(asked.inputs.get("ecrRepositoryPrefix", asked.name)), {"registryId": asked.place.account}


def _registry(asked: Asked) -> Made:
    return asked.place.account, {"registryId": asked.place.account}


def _image_builder(kind: str) -> Maker:
    """Something EC2 Image Builder keeps by name, with its version where it has one."""

    def make(asked: Asked) -> Made:
        name = asked.physical()
        version = asked.inputs.get("version")
        tail = f"/{version}" + ("/1" if kind == "component" else "") if version else ""
        arn = asked.arn("imagebuilder", f"{kind}/{name.lower().replace(' ', '-')}{tail}")
        return arn, {"arn": arn, "name": name}

    return make


def _image(asked: Asked) -> Made:
    arn = asked.arn("imagebuilder", f"image/{asked.name}/1.0.0/1")
    ami = {"image": f"ami-{asked.hex(17)}", "name": asked.name, "region": asked.region}
    return arn, {
        "arn": arn,
        "name": asked.name,
        "version": "1.0.0/1",
        "dateCreated": CREATED_AT,
        "outputResources": [{"amis": [{**ami, "accountId": asked.place.account}]}],
    }


def _image_pipeline(asked: Asked) -> Made:
    arn, outputs = _image_builder("image-pipeline")(asked)
    return arn, {**outputs, "dateCreated": CREATED_AT, "platform": "Linux"}


MAKERS: Final[dict[str, Maker]] = {
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": _of_repository,
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": _pull_through,
    "aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration": _registry,
    "aws:ecr/repository:Repository": _repository,
    "aws:ecr/repositoryPolicy:RepositoryPolicy": _of_repository,
    "aws:imagebuilder/component:Component": _image_builder("component"),
    "aws:imagebuilder/distributionConfiguration:DistributionConfiguration": _image_builder(
        "distribution-configuration"
    ),
    "aws:imagebuilder/image:Image": _image,
    "aws:imagebuilder/imagePipeline:ImagePipeline": _image_pipeline,
    "aws:imagebuilder/imageRecipe:ImageRecipe": _image_builder("image-recipe"),
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": _image_builder(
        "infrastructure-configuration"
    ),
    "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy": _image_builder("lifecycle-policy"),
}
"""How each type is answered."""
