"""Rules of machine images on AWS and of the pools that use them: each reports what breaks it, and nothing else."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.stack_file import stacks
from tests.stack_file.stacks import STAGING, broken

pytestmark = pytest.mark.pure

EKS: Final[dict[str, Any]] = {"version": "1.35", "zone": "us-west-2a"}
EC2: Final[dict[str, Any]] = {"serial": "20261105", "driver": "580", "zone": "us-west-2a", "regions": ["us-west-2"]}
OWN: Final = {"gpu-pools/t4-spot/image": "own"}
DIGEST: Final = "sha256:" + "a" * 64

CASES = (
    broken(
        "own_nodes_have_an_image",
        OWN,
        "gpu-pools.t4-spot.image: own needs eks-image, which is missing; state eks-image, or image: stock",
    ),
    broken(
        "own_nodes_fit_their_image",
        {**OWN, "eks-image": {**EKS, "version": "1.36"}},
        "gpu-pools.t4-spot.image: own is an image of Kubernetes 1.36, but the cluster has 1.35; write "
        'eks-image.version: "1.35", or image: stock',
    ),
    broken(
        "own_nodes_fit_their_image",
        {"eks-image": {**EKS, "version": "1.34"}},
        'eks-image.version: 1.34 has no pinned node image; did you mean "1.35"?',
    ),
    broken(
        "own_nodes_fit_their_image",
        {**OWN, "eks-image": {**EKS, "disk": "300Gi"}},
        "gpu-pools.t4-spot.disk.size: 200Gi is smaller than the 300Gi of eks-image; write 300Gi or more, or lower "
        "eks-image.disk",
    ),
    broken(
        "own_nodes_fit_their_image",
        {
            **OWN,
            "gpu-pools/t4-spot/fast-image-pull": True,
            "eks-image": {**EKS, "pre-pull": [f"ghcr.io/example-org/runner@{DIGEST}"]},
        },
        "gpu-pools.t4-spot.fast-image-pull: does not use the container images of eks-image.pre-pull; write false, or "
        "remove eks-image.pre-pull",
    ),
    broken(
        "builders_are_in_the_region",
        {"eks-image": {**EKS, "zone": "us-east-1a"}, "ec2-image": {**EC2, "zone": "us-west-2z"}},
        "ec2-image.zone: us-west-2 has no zone us-west-2z; write one of us-west-2a, us-west-2b, us-west-2c, us-west-2d",
        "eks-image.zone: us-east-1a is not a zone of us-west-2; write us-west-2a",
    ),
    broken(
        "builders_are_in_the_region",
        {"eks-image": {**EKS, "disk": "10Gi"}},
        "eks-image.disk: 10Gi is smaller than the base image of 20 GiB; state 20Gi or more",
    ),
    broken(
        "copies_include_the_original",
        {"ec2-image": {**EC2, "regions": ["us-east-1"]}},
        "ec2-image.regions: does not contain us-west-2, where the image is built; add us-west-2",
    ),
    broken(
        "copies_include_the_original",
        {"ec2-image": {**EC2, "regions": ["us-west-2", "cn-north-1"]}},
        "ec2-image.regions[1]: cn-north-1 is in another partition, which gets no copy; use a commercial region",
    ),
    broken(
        "builders_have_a_gpu",
        {"eks-image": {**EKS, "instance-types": ["t3.large"]}},
        "eks-image.instance-types[0]: t3.large has no GPU; use one of the families g4dn, g5, g6, g6e, g6f, g7e, gr6, "
        "gr6f, p3, p3dn, p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300",
    ),
    broken(
        "parameters_of_nodes_stay",
        {"eks-image": {**EKS, "sysctl": {"vm.overcommit_memory": 0, "kernel.panic": 10, "vm.swappiness": 0}}},
        "eks-image.sysctl.vm.overcommit_memory: 0 has no effect: nodes of EKS have 1; remove it",
    ),
    broken(
        "pulled_images_have_a_login",
        {"ec2-image": {**EC2, "pre-pull": [f"123456789012.dkr-ecr.us-east-1.on.aws/a@{DIGEST}"]}},
        "ec2-image.pre-pull[0]: the builder has no login for this address of ECR; write "
        "123456789012.dkr.ecr.us-east-1.amazonaws.com",
    ),
    broken(
        "amis_are_in_one_region",
        {
            "cirun/aws": True,
            "gpu-pools/t4-spot/image": "ami-0fedcba9876543210",
            "runners/on-aws": {
                "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
                "timeout-minutes": 30,
                "cirun-aws": {
                    "instance-types": ["g4dn.xlarge"],
                    "regions": ["us-east-1"],
                    "images": {"us-east-1": "ami-0fedcba9876543210"},
                },
            },
        },
        "gpu-pools.t4-spot.image: ami-0fedcba9876543210 is the image of us-east-1 in "
        "runners.on-aws.cirun-aws.images.us-east-1, and an AMI exists in one region only; write the id of its copy in "
        "us-west-2",
    ),
)


def test_a_broken_rule_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []


@pytest.mark.parametrize("image", ["stock", "own", "ami-0123456789abcdef0"])
def test_several_pools_may_have_the_same_image(image: str) -> None:
    changes = {"eks-image": EKS, "gpu-pools/t4-spot/image": image, "gpu-pools/t4-on-demand/image": image}

    assert stacks.faults(stacks.sections(STAGING, changes)) == []


def test_the_image_of_another_version_may_exist_before_the_cluster_is_upgraded() -> None:
    assert stacks.faults(stacks.sections(STAGING, {"eks-image": {**EKS, "version": "1.36"}})) == []
