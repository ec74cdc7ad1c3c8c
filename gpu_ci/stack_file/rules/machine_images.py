"""Rules of machine images on AWS and of the GPU pools that use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpu_ci.knowledge import pins
from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.aws import OTHER_PARTITIONS, types_are_known, unknown_region, unknown_zone
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.machine_images import MachineImageSettings
from gpu_ci.stack_file.sections.machines import IMAGE_ROOT_GIB, OWN
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

NODE_PARAMETERS: Final = {
    "kernel.keys.root_maxbytes": 25_000_000,
    "kernel.keys.root_maxkeys": 1_000_000,
    "kernel.panic": 10,
    "kernel.panic_on_oops": 1,
    "net.bridge.bridge-nf-call-ip6tables": 1,
    "net.bridge.bridge-nf-call-iptables": 1,
    "net.ipv4.ip_forward": 1,
    "vm.overcommit_memory": 1,
    "vm.panic_on_oom": 0,
}
"""Kernel parameters of every node: the kubelet sets them when it starts (kubernetes/kubernetes,
pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables), and the network of pods needs those that begin with net
(awslabs/amazon-eks-ami, 99-kubernetes-cri.conf, 2026)."""

_DUAL_STACK: Final = re.compile(r"(\d{12})\.dkr-ecr(?:-fips)?\.([a-z0-9-]+)\.on\.aws/")


def images(settings: Settings) -> dict[str, MachineImageSettings]:
    """Return the images that the stack builds on AWS, by section."""
    stated = {"eks-image": settings.eks_image, "ec2-image": settings.ec2_image}
    return {path: image for path, image in stated.items() if image is not None}


def builders_are_in_the_region(settings: Settings) -> Iterator[Fault]:
    """Check the zone of each builder: Image Builder builds in the region of the stack."""
    if settings.aws is None:
        return
    region = settings.aws.region
    for path, image in images(settings).items():
        zones = AWS_ZONES.get(region, ())
        if region_of(image.zone) != region:
            yield Fault(f"{path}.zone", f"{image.zone} is not a zone of {region}", f"write {region}{image.zone[-1]}")
        elif zones and image.zone not in zones:
            yield unknown_zone(f"{path}.zone", image.zone, zones)
        if gibibytes(image.disk) < IMAGE_ROOT_GIB:
            problem = f"{image.disk} is smaller than the base image of {IMAGE_ROOT_GIB} GiB"
            yield Fault(f"{path}.disk", problem, f"state {IMAGE_ROOT_GIB}Gi or more")


def builders_have_a_gpu(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Accept only known types with a GPU: without one, every test of the image fails."""
    for path, image in images(settings).items():
        yield from types_are_known(path, image.instance_types, settings, stated, gpu=True)


def copies_include_the_original(settings: Settings) -> Iterator[Fault]:
    """Check the regions of the copies."""
    image, aws = settings.ec2_image, settings.aws
    for index, region in enumerate(image.regions if image is not None else ()):
        path = f"ec2-image.regions[{index}]"
        if region.startswith(OTHER_PARTITIONS):
            yield Fault(path, f"{region} is in another partition, which gets no copy", "use a commercial region")
        else:
            yield from unknown_region(path, region, AWS_ZONES)
    if image is not None and aws is not None and aws.region not in image.regions:
        problem = f"does not contain {aws.region}, where the image is built"
        yield Fault("ec2-image.regions", problem, f"add {aws.region}")


def own_nodes_have_an_image(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require the section of the image where a pool uses it."""
    for name, pool in settings.gpu_pools.items() if "eks-image" not in stated.sections else ():
        if pool.image == OWN:
            fix = "state eks-image, or image: stock"
            yield Fault(f"gpu-pools.{name}.image", "own needs eks-image, which is missing", fix)


def own_nodes_fit_their_image(settings: Settings) -> Iterator[Fault]:
    """Compare the pools that use the image with it: the Kubernetes version, the disk and the pulled images."""
    image, cluster = settings.eks_image, settings.cluster
    if image is None:
        return
    if image.version not in pins.EKS_AMI_RELEASES:
        fix = did_you_mean(image.version, pins.EKS_AMI_RELEASES)
        yield Fault("eks-image.version", f"{image.version} has no pinned node image", fix)
    for name, pool in settings.gpu_pools.items():
        path = f"gpu-pools.{name}"
        if pool.image != OWN:
            continue
        if cluster is not None and cluster.version != image.version:
            problem = f"own is an image of Kubernetes {image.version}, but the cluster has {cluster.version}"
            yield Fault(f"{path}.image", problem, f'write eks-image.version: "{cluster.version}", or image: stock')
        if gibibytes(pool.disk.size) < gibibytes(image.disk):
            problem = f"{pool.disk.size} is smaller than the {image.disk} of eks-image"
            yield Fault(f"{path}.disk.size", problem, f"write {image.disk} or more, or lower eks-image.disk")
        if pool.fast_image_pull and image.pre_pull:
            problem = "does not use the container images of eks-image.pre-pull"
            yield Fault(f"{path}.fast-image-pull", problem, "write false, or remove eks-image.pre-pull")


def parameters_of_nodes_stay(settings: Settings) -> Iterator[Fault]:
    """Reject other values of parameters that the kubelet sets: they would be lost when a node joins."""
    for key, value in settings.eks_image.sysctl.items() if settings.eks_image is not None else ():
        needed = NODE_PARAMETERS.get(key, value)
        if value != needed:
            yield Fault(f"eks-image.sysctl.{key}", f"{value} has no effect: nodes of EKS have {needed}", "remove it")


def pulled_images_have_a_login(settings: Settings) -> Iterator[Fault]:
    """Reject addresses of ECR for which the builder's tools get no token."""
    for path, image in images(settings).items():
        for index, reference in enumerate(image.pre_pull):
            if (dual := _DUAL_STACK.match(reference)) is not None:
                problem = "the builder has no login for this address of ECR"
                fix = f"write {dual[1]}.dkr.ecr.{dual[2]}.amazonaws.com"
                yield Fault(f"{path}.pre-pull[{index}]", problem, fix)


def amis_are_in_one_region(settings: Settings) -> Iterator[Fault]:
    """Compare the regions in which each AMI is used: an AMI exists in one region only."""
    used = [
        (f"runners.{name}.{kebab(back_end)}.{key}", region, ami)
        for name, runner in settings.runners.items()
        for back_end, section in runner.stated.items()
        for key, (region, ami) in section.amis().items()
    ]
    if settings.aws is not None:
        pools = settings.gpu_pools.items()
        used += [(f"gpu-pools.{name}.image", settings.aws.region, pool.image) for name, pool in pools]
    known: dict[str, tuple[str, str]] = {}
    for path, region, ami in used:
        first, there = known.setdefault(ami, (path, region))
        if ami.startswith("ami-") and there != region:
            problem = f"{ami} is the image of {there} in {first}, and an AMI exists in one region only"
            yield Fault(path, problem, f"write the id of its copy in {region}")


RULES: Final[tuple[Rule, ...]] = (
    amis_are_in_one_region,
    builders_are_in_the_region,
    copies_include_the_original,
    own_nodes_fit_their_image,
    parameters_of_nodes_stay,
    pulled_images_have_a_login,
)
REFERENCES: Final[tuple[Reference, ...]] = (builders_have_a_gpu, own_nodes_have_an_image)
