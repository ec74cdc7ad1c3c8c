"""EC2 Image Builder: components, recipes, builds with their tests, and the lifecycle of images.

A build fails if a container image cannot be pulled, and its tests fail if the GPU does not work. The image then exists,
as with the real provider. Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x
(`internal/service/imagebuilder`) for replacements, the Image Builder API reference and user guide for refusals, the
outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from gpu_ci.knowledge.machines import TABLES
from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.knowledge.software.machine_images import driver_of
from ops.fakes.aws.names import ATTACHMENT, INSTANCE_PROFILE, LOG_GROUP, ROLE, SUBNET
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at, values_at
from ops.fakes.cloud.request import CREATED_AT, Answer, Created, Request

COMPONENT: Final = "aws:imagebuilder/component:Component"
RECIPE: Final = "aws:imagebuilder/imageRecipe:ImageRecipe"
INFRASTRUCTURE: Final = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
DISTRIBUTION: Final = "aws:imagebuilder/distributionConfiguration:DistributionConfiguration"
IMAGE: Final = "aws:imagebuilder/image:Image"
LIFECYCLE: Final = "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy"
EC2_TAG: Final = "aws:ec2/tag:Tag"

BUILD_MINUTES: Final = 75
"""The duration of a build. That of an image with large containers exceeds the provider's default limit of 60."""
DATA_LIMIT: Final = 16_000
ACTIONS: Final = frozenset({"ExecuteBash", "Reboot"})
_EKS: Final = re.compile(r"/(?P<version>1\.\d\d)/.*-nvidia-1\.\d\d-v(?P<date>\d{8})/image_id$")
_NO_ARN: Final = "ResourceNotFoundException: The resource dependency with ARN '{value}' does not exist."
_IN_USE: Final = (
    "ResourceDependencyException: Resource dependency error: "
    "The resource ARN '{id}' has other resources depended on it."
)
"""A recipe blocks the delete of its components, and an image that of its recipe
(https://github.com/hashicorp/terraform-provider-aws/issues/40037, 40128, 22127; pulumi/pulumi/issues/6919).

Only a pipeline blocks the delete of an infrastructure or a distribution configuration, and no stack has one
(https://docs.aws.amazon.com/imagebuilder/latest/userguide/delete-infra-config.html, and DeleteDistributionConfiguration
in the API reference).
"""


def _versioned(noun: str) -> Answer:
    """Return the answer for a resource whose ARN has a version."""

    def answer(request: Request) -> Created:
        name, version = request.physical(), request.inputs.get("version", "1.0.0")
        arn = request.arn("imagebuilder", f"{noun}/{name}/{version}") + ("/1" if noun == "component" else "")
        return arn, {"arn": arn, "name": name, "dateCreated": CREATED_AT, "owner": request.place.account}

    return answer


def _named(noun: str) -> Answer:
    def answer(request: Request) -> Created:
        name = request.physical()
        arn = request.arn("imagebuilder", f"{noun}/{name}")
        return arn, {"arn": arn, "name": name}

    return answer


def _image(request: Request) -> Created:
    """Return an image with an AMI in every region: the request does not name those of the distribution."""
    recipe = str(request.inputs.get("imageRecipeArn", "recipe")).partition("image-recipe/")[2]
    arn = f"{request.arn('imagebuilder', f'image/{recipe}')}/{request.number(3)}"
    common = {"accountId": request.place.account, "name": f"image-{request.hex(8)}", "description": ""}
    amis = [{**common, "image": f"ami-{request.hex(17, region)}", "region": region} for region in AWS_ZONES]
    return arn, {
        "arn": arn,
        "dateCreated": CREATED_AT,
        "name": recipe.partition("/")[0],
        "outputResources": [{"amis": amis, "containers": []}],
        "platform": "Linux",
        "version": f"{recipe.partition('/')[2]}/1",
    }


def document_is_valid(_cloud: Objects, component: CloudObject) -> str | None:
    """Refuse a document that is too long, is not YAML, or has unknown actions, repeated steps or unknown constants."""
    data = str(component.inputs.get("data"))
    if len(data) > DATA_LIMIT:
        return f"InvalidRequestException: The value supplied for parameter 'data' is not valid: {len(data)} characters."
    try:
        parsed = yaml.safe_load(data)
    except yaml.YAMLError as error:
        return f"InvalidRequestException: The document is not valid YAML: {error}"
    faults: list[str] = [] if parsed.get("phases") else ["The document has no phase."]
    for phase in parsed.get("phases") or ():
        names = [step["name"] for step in phase["steps"]]
        faults += [f"Step {name} is repeated in phase {phase['name']}." for name in names if names.count(name) > 1]
        faults += [f"Unknown action {step['action']}." for step in phase["steps"] if step["action"] not in ACTIONS]
    known = {name for constant in parsed.get("constants") or () for name in constant}
    used = set(re.findall(r"\{\{ *([\w-]+) *\}\}", data))
    faults += [f"The variable {name} is not defined." for name in sorted(used - known)]
    return f"InvalidRequestException: {faults[0]}" if faults else None


def recipe_installs(cloud: Objects, recipe: CloudObject) -> str | None:
    """Refuse a recipe without a component that builds."""
    if any(phase["name"] == "build" for document in _documents(cloud, recipe) for phase in document["phases"]):
        return None
    return "InvalidRequestException: The recipe must have at least one build component."


def builder_has_permissions(cloud: Objects, image: CloudObject) -> str | None:
    """Refuse a builder that Systems Manager cannot reach, because its role has no permission."""
    infrastructure = _at(cloud, INFRASTRUCTURE, image, "infrastructureConfigurationArn")
    profile = cloud.find(INSTANCE_PROFILE, str(infrastructure.inputs.get("instanceProfileName")))
    role = profile.inputs.get("role") if profile is not None else None
    attached = {str(one.inputs.get("policyArn")) for one in cloud.of(ATTACHMENT) if one.inputs.get("role") == role}
    if any(policy.endswith("AmazonSSMManagedInstanceCore") for policy in attached):
        return None
    return "SSM execution timed out: the SSM agent of the build instance did not become active"


def build_succeeds(cloud: Objects, image: CloudObject) -> str | None:
    """Let a build fail whose container images do not exist. It leaves no AMI."""
    if f"sha256:{'0' * 64}" not in _constants(cloud, image).get("IMAGES", ""):
        return None
    image.outputs = {**image.outputs, "outputResources": []}
    return _failed(image, "build", "an image in IMAGES was not found")


def tests_pass(cloud: Objects, image: CloudObject) -> str | None:
    """Let the tests fail if the GPU does not work or another driver runs. The AMI exists (ParallelCluster 3210)."""
    recipe = _at(cloud, RECIPE, image, "imageRecipeArn")
    infrastructure = _at(cloud, INFRASTRUCTURE, image, "infrastructureConfigurationArn")
    (first, *_) = infrastructure.inputs.get("instanceTypes") or ["m5.large"]
    machine, release = TABLES.ec2_types.get(first), _EKS.search(str(recipe.inputs.get("parentImage")))
    if not cloud.gpus_work or (machine is not None and machine.gpu is None):
        return _failed(image, "test", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver")
    wanted = _constants(cloud, image).get("DRIVER")
    if release and str(driver_of(f"AL2023_x86_64_NVIDIA:{release['date']}").branch.number) != wanted:
        return _failed(image, "test", f"another driver runs, and branch {wanted} was expected")
    return None


def state_problem(cloud: Objects, arn: str) -> str | None:
    """Return the error of the command that asks for the state of an image."""
    image = cloud.find(IMAGE, arn)
    if image is not None and not any(check(cloud, image) for check in (build_succeeds, tests_pass)):
        return None
    return "exit status 1: the last build of the image is FAILED, so nothing uses it"


def _failed(image: CloudObject, phase: str, words: str) -> str:
    return (
        f"waiting for Image Builder Image ({image.id}) create: unexpected state 'FAILED', wanted target 'AVAILABLE'. "
        f"last error: the {phase} phase failed: {words}"
    )


def _constants(cloud: Objects, image: CloudObject) -> dict[str, str]:
    """Return the constants of the documents of an image."""
    documents = _documents(cloud, _at(cloud, RECIPE, image, "imageRecipeArn"))
    listed = [item for document in documents for item in document.get("constants") or ()]
    return {name: one["value"] for item in listed for name, one in item.items()}


def _documents(cloud: Objects, recipe: CloudObject) -> list[dict[str, Any]]:
    arns = [value for _, value in values_at("components.*.componentArn", recipe.inputs)]
    return [yaml.safe_load(one.inputs["data"]) for one in cloud.of(COMPONENT) if one.id in arns]


def _at(cloud: Objects, type_: str, image: CloudObject, path: str) -> CloudObject:
    found = cloud.find(type_, str(value_at(path, image.inputs)))
    if found is None:
        raise LookupError(path)
    return found


TABLE: Final = (
    Kind(
        type=COMPONENT,
        answer=_versioned("component"),
        identity=("name", "version"),
        taken="ResourceAlreadyExistsException: The component {0} version {1} already exists.",
        keeps_name=True,
        in_use=_IN_USE,
        max_lengths={"name": 128},
        before_create=[document_is_valid],
    ),
    Kind(
        type=RECIPE,
        answer=_versioned("image-recipe"),
        identity=("name", "version"),
        taken="ResourceAlreadyExistsException: The image recipe {0} version {1} already exists.",
        keeps_name=True,
        references=[Reference("components.*.componentArn", COMPONENT, missing=_NO_ARN)],
        in_use=_IN_USE,
        max_lengths={"name": 128},
        before_create=[recipe_installs],
    ),
    Kind(
        type=INFRASTRUCTURE,
        answer=_named("infrastructure-configuration"),
        identity=("name",),
        taken="ResourceAlreadyExistsException: The infrastructure configuration {0} already exists.",
        references=[
            Reference(
                "instanceProfileName",
                INSTANCE_PROFILE,
                by="name",
                missing="InvalidParameterValueException: The instance profile {value} does not exist.",
                blocks=False,
            ),
            Reference(
                "subnetId",
                SUBNET,
                missing="InvalidParameterValueException: The subnet {value} does not exist.",
                blocks=False,
            ),
        ],
        delete_first="name",
    ),
    Kind(
        type=DISTRIBUTION,
        answer=_named("distribution-configuration"),
        identity=("name",),
        taken="ResourceAlreadyExistsException: The distribution configuration {0} already exists.",
        delete_first="name",
    ),
    # Deleting an image leaves its AMIs and their snapshots.
    Kind(
        type=IMAGE,
        answer=_image,
        references=[
            Reference("imageRecipeArn", RECIPE, by="arn", missing=_NO_ARN),
            Reference("infrastructureConfigurationArn", INFRASTRUCTURE, by="arn", missing=_NO_ARN, blocks=False),
            Reference("distributionConfigurationArn", DISTRIBUTION, by="arn", missing=_NO_ARN, blocks=False),
            Reference("loggingConfiguration.logGroupName", LOG_GROUP, by="name", blocks=False),
        ],
        slow=True,
        minutes=BUILD_MINUTES,
        before_create=[builder_has_permissions],
        ends=[build_succeeds, tests_pass],
    ),
    Kind(
        type=LIFECYCLE,
        answer=_named("lifecycle-policy"),
        identity=("name",),
        taken="ResourceAlreadyExistsException: The lifecycle policy {0} already exists.",
        references=[
            Reference(
                "executionRole",
                ROLE,
                by="arn",
                missing="InvalidParameterValueException: The role {value} does not exist.",
                blocks=False,
            )
        ],
        delete_first="name",
        choices={
            "policyDetails.*.action.type": ("DELETE", "DEPRECATE", "DISABLE"),
            "policyDetails.*.filter.type": ("AGE", "COUNT"),
            "policyDetails.*.exclusionRules.amis.lastLaunched.unit": ("DAYS", "MONTHS", "WEEKS", "YEARS"),
            "resourceType": ("AMI_IMAGE", "CONTAINER_IMAGE"),
            "status": ("DISABLED", "ENABLED"),
        },
    ),
    Kind(
        type=EC2_TAG,
        answer=lambda request: (f"{request.inputs.get('resourceId', 'ami')},{request.inputs.get('key', 'key')}", {}),
    ),
)
