"""The image factory, and the nodes that start from an image that is not of EKS."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any, Final

import pytest

from components.aws.images.image_content import IN_USE_TAG, LIMIT, ImageContent, document
from components.aws.images.image_factory import BUILD_LIMIT, OWNER_TAG, ImageFactory, ImageFactoryArgs
from components.aws.images.pinned_images import PinnedImages, PinnedImagesArgs
from components.aws.nodes.gpu_pool import GpuPool, GpuPoolArgs, OwnImage
from ops.fakes.aws.image_builder import BUILD_MINUTES
from ops.plan.model import Plan, Planned
from tests.components.made import TAGS, made, only, part, waits_for
from tests.components.test_cluster_plan import GROUP, POOL, TEMPLATE

pytestmark = pytest.mark.plan

BUILDER: Final = "aws:imagebuilder/"
IMAGE: Final = f"{BUILDER}image:Image"
CONTENT: Final = ImageContent(
    build="phases:\n  - name: build\n    steps: []\n",
    test="phases:\n  - name: test\n    steps: []\n",
    parent="ssm:/aws/service/one/exact/release",
    system="Amazon Linux 2023",
    device="/dev/xvda",
    disk_gib=50,
    regions=["us-west-2", "us-east-1"],
    number=1,
)
ARGS: Final = ImageFactoryArgs(
    title="gpu-ci-small-eks-image",
    region="us-west-2",
    content=CONTENT,
    instance_types=("g4dn.xlarge", "g5.xlarge"),
    subnet_id="subnet-1",
    group_id="sg-1",
    keep=3,
    tags=TAGS,
)
OWN: Final = OwnImage(
    ami="ami-0123456789abcdef0",
    cluster_name="gpu-ci-small",
    endpoint="https://example.eks.amazonaws.com",
    certificate_authority="Y2VydGlmaWNhdGU=",
    service_range="172.20.0.0/16",
)


@pytest.fixture(scope="module")
def factory() -> Plan:
    return made(lambda here: ImageFactory("eks-image", ARGS, here))


def one(plan: Plan, noun: str) -> Planned:
    return only(plan, f"{BUILDER}{noun[0].lower()}{noun[1:]}:{noun}")


def test_an_image_is_tested_and_its_build_may_take_longer_than_the_default(factory: Plan) -> None:
    image = only(factory, IMAGE)

    assert part(image, "imageTestsConfiguration")["imageTestsEnabled"] is True
    assert int(BUILD_LIMIT.removesuffix("h")) * 60 > BUILD_MINUTES > 60


def test_every_part_of_the_recipe_has_the_version_of_the_content(factory: Plan) -> None:
    recipe = one(factory, "ImageRecipe")
    versions = {part(component, "version") for component in factory.of(f"{BUILDER}component:Component")}

    assert versions == {part(recipe, "version")} == {CONTENT.version}
    assert replace(CONTENT, test=f"{CONTENT.test}# changed\n").version != CONTENT.version


def test_the_name_of_an_ami_has_the_hash_of_its_content_and_the_date(factory: Plan) -> None:
    distributions = part(one(factory, "DistributionConfiguration"), "distributions")

    assert {one["region"]: one["amiDistributionConfiguration"]["name"] for one in distributions} == dict.fromkeys(
        ("us-east-1", "us-west-2"), f"gpu-ci-small-eks-image-{CONTENT.hash[:8]}-{{{{ imagebuilder:buildDate }}}}"
    )


def test_a_failed_builder_is_terminated_and_has_protected_metadata(factory: Plan) -> None:
    machine = one(factory, "InfrastructureConfiguration")

    assert part(machine, "terminateInstanceOnFailure") is True
    assert part(machine, "instanceTypes") == ["g4dn.xlarge", "g5.xlarge"]
    assert part(machine, "instanceMetadataOptions") == {"httpPutResponseHopLimit": 1, "httpTokens": "required"}
    assert part(machine, "securityGroupIds") == ["sg-1"]


def test_nothing_gets_an_ami_before_its_state_is_read(factory: Plan) -> None:
    passed = only(factory, "command:local:Command")
    tags = factory.of("aws:ec2/tag:Tag")

    assert ":image/gpu-ci-small-eks-image/1.0." in part(passed, "triggers")[0]
    assert part(passed, "environment", "IMAGE") == part(passed, "triggers")[0]
    assert 'if [ "$state" != AVAILABLE ]' in part(passed, "create")
    assert all(waits_for(factory, tag, passed) for tag in tags)


def test_the_current_image_is_marked_in_every_region(factory: Plan) -> None:
    tags = factory.of("aws:ec2/tag:Tag")

    assert {part(tag, "region") for tag in tags} == {"us-west-2", "us-east-1"}
    assert len({part(tag, "resourceId") for tag in tags if part(tag, "resourceId").startswith("ami-")}) == 2
    assert {(part(tag, "key"), part(tag, "value")) for tag in tags} == {(IN_USE_TAG, "true")}


def test_the_lifecycle_policy_selects_its_own_images_and_excludes_those_in_use(factory: Plan) -> None:
    policy = one(factory, "LifecyclePolicy")
    (detail,) = part(policy, "policyDetails")

    assert part(policy, "resourceSelection", "tagMap") == {OWNER_TAG: ARGS.title}
    assert part(only(factory, IMAGE), "tags")[OWNER_TAG] == ARGS.title
    assert detail["filter"] == {"type": "COUNT", "value": 3}
    assert detail["exclusionRules"]["amis"]["tagMap"] == {IN_USE_TAG: "true"}
    assert detail["exclusionRules"]["amis"]["lastLaunched"] == {"unit": "DAYS", "value": 90}


def test_each_image_that_pools_name_is_marked_once() -> None:
    plan = made(lambda here: PinnedImages("pinned-images", PinnedImagesArgs(amis=["ami-1", "ami-2"]), here))

    assert [part(tag, "resourceId") for tag in plan.of("aws:ec2/tag:Tag")] == ["ami-1", "ami-2"]


def pool(**changes: Any) -> tuple[Planned, Planned, str]:
    """Return the node group and the launch template of a pool with an image of its own, and the user data."""
    args: GpuPoolArgs = replace(POOL, image=OWN, **changes)
    plan = made(lambda here: GpuPool("pool-t4-spot", args, here))
    template = only(plan, TEMPLATE)
    return only(plan, GROUP), template, base64.b64decode(part(template, "userData")).decode()


def test_a_group_with_an_image_of_its_own_states_no_image_of_eks() -> None:
    group, template, _ = pool()

    assert part(template, "imageId") == OWN.ami
    assert {"amiType", "releaseVersion", "version"} & {key for key, value in group.inputs.items() if value} == set()
    assert part(group, "nodeGroupNamePrefix") == "t4-spot-own-"


def test_a_group_with_the_image_of_eks_states_no_other() -> None:
    plan = made(lambda here: GpuPool("pool-t4-spot", POOL, here))

    assert part(only(plan, GROUP), "amiType") == "AL2023_x86_64_NVIDIA"
    assert part(only(plan, GROUP), "nodeGroupNamePrefix") == "t4-spot-"
    assert only(plan, TEMPLATE).inputs.get("imageId") is None


def test_the_longest_pool_name_fits_into_the_prefix_of_a_group() -> None:
    group, _, _ = pool(node=replace(POOL.node, pool="p" * 36))

    assert part(group, "nodeGroupNamePrefix") == f"{'p' * 32}-own-"


def test_the_nodes_get_everything_that_joins_them() -> None:
    group, _, text = pool()
    config = json.loads(text[text.index("{") : text.rindex("}") + 1])
    labels, taints = (flag.partition("=")[2].split(",") for flag in config["spec"]["kubelet"]["flags"])

    assert text.startswith("MIME-Version: 1.0\n")
    assert text.endswith("--gpu-ci-node--\n")
    assert config["spec"]["cluster"] == {
        "name": "gpu-ci-small",
        "apiServerEndpoint": "https://example.eks.amazonaws.com",
        "certificateAuthority": "Y2VydGlmaWNhdGU=",
        "cidr": "172.20.0.0/16",
    }
    assert dict(label.split("=", 1) for label in labels) == part(group, "labels")
    assert taints == ["nvidia.com/gpu=true:NoSchedule", "team=vision:NoExecute"]
    assert not any(".kubernetes.io" in label or label.startswith("kubernetes.io") for label in labels)


def test_a_fast_pull_is_part_of_the_same_configuration() -> None:
    _, _, text = pool(fast_image_pull=True)

    assert '"FastImagePull": true' in text
    assert '"strategy": "RAID0"' in text


def test_a_document_gets_the_constants_that_it_uses() -> None:
    text = 'phases: []  # {{ ONE }} "{{ TWO }}"\n'

    assert document(text, {"ONE": "1", "TWO": 'a "b"', "THREE": "3"}) == (
        f'{text}constants:\n  - ONE:\n      type: string\n      value: "1"\n'
        '  - TWO:\n      type: string\n      value: "a \\"b\\""\n'
    )


def test_a_document_that_is_too_long_or_misses_a_constant_is_refused() -> None:
    with pytest.raises(ValueError, match="16001 characters; Image Builder accepts 16000"):
        document("x" * (LIMIT + 1), {})
    with pytest.raises(KeyError, match="MISSING"):
        document("{{ MISSING }}", {})
