"""Rules of the cluster, its nodes and its image repositories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.knowledge import pins
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.policy.exposure import SHORTEST, exposure
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.aws import types_are_known
from gpu_ci.stack_file.rules.existing_cluster import AUTOSCALER
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.machines import PoolSettings
from gpu_ci.stack_file.sections.settings import Settings

RESERVED_DOMAINS: Final = ("gpu-ci", "nvidia.com", "kubernetes.io", "k8s.io", "eks.amazonaws.com", "k8s.amazonaws.com")
"""Domains of labels that gpu-ci, EKS and Kubernetes set."""
LABEL_PREFIX: Final = "k8s.io/cluster-autoscaler/node-template/label/"
"""The start of the tag from which the autoscaler reads a pool's label."""
TAG_KEY_LIMIT: Final = 128


def minimum_is_at_most_maximum(settings: Settings) -> Iterator[Fault]:
    """Compare `min` and `max` of all node groups."""
    if settings.system_nodes is not None:
        yield from over_maximum("system-nodes", settings.system_nodes.min, settings.system_nodes.max)
    for path, pool in settings.pools_by_path.items():
        yield from over_maximum(path, pool.min, pool.max)


def over_maximum(path: str, least: int, most: int) -> Iterator[Fault]:
    """Report a `min` above its `max`."""
    if least > most:
        yield Fault(f"{path}.min", f"{least} is more than max {most}", f"write at most {most}, or raise max")


def smoke_tests_name_an_image(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the image of the smoke test in the stack file."""
    images = stated.entries["images"]
    if settings.smoke_test is not None and images and (image := settings.smoke_test.image) not in images:
        yield Fault("smoke-test.image", f'"{image}" is not in images', did_you_mean(image, images))


def empty_pools_have_an_autoscaler(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require an autoscaler where a pool is to scale: nothing else changes the size of a node group."""
    existing = settings.cluster.existing if settings.cluster is not None else None
    if "autoscaler" in stated.sections or (existing is not None and AUTOSCALER in existing.add_ons):
        return
    for path, pool in settings.pools_by_path.items():
        if pool.min < pool.max:
            yield Fault(
                f"{path}.max",
                f"the pool stays at {pool.min} nodes, because there is no autoscaler",
                f"state autoscaler: {{}}, or min: {pool.max}",
            )


def instance_types_are_known(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Accept only instance types of which the checks know the hardware."""
    if settings.system_nodes is not None:
        yield from types_are_known("system-nodes", settings.system_nodes.instance_types, settings, stated, gpu=False)
    for path, pool in settings.pools_by_path.items():
        gpu = isinstance(pool, PoolSettings)
        yield from types_are_known(path, pool.instance_types, settings, stated, gpu=gpu)


def pools_have_their_own_names(settings: Settings) -> Iterator[Fault]:
    """Reject a name that both sections of pools have: a runner names its pool without the section."""
    for name in settings.cpu_pools:
        if name in settings.gpu_pools:
            yield Fault(f"cpu-pools.{name}", "is the name of a pool in gpu-pools, too", "use another name")


def labels_and_taints_have_their_own_keys(settings: Settings) -> Iterator[Fault]:
    """Reject keys that every node already has, and keys too long for the autoscaler's tags."""
    longest = TAG_KEY_LIMIT - len(LABEL_PREFIX)
    for pool_path, pool in settings.pools_by_path.items():
        for kind, keys in (("labels", pool.labels), ("taints", pool.taints)):
            for key in keys:
                path, domain = f"{pool_path}.{kind}.{key}", f".{key.rpartition('/')[0]}"
                if key == "role" or any(domain.endswith(f".{reserved}") for reserved in RESERVED_DOMAINS):
                    yield Fault(path, "is set by gpu-ci", "use another key")
                if len(key) > longest:
                    problem = f"has {len(key)} characters, but its tag key allows {longest}"
                    yield Fault(path, problem, "use a shorter key")


def the_kubernetes_version_is_pinned(settings: Settings) -> Iterator[Fault]:
    """Accept only versions with a node image, add-ons and an autoscaler that are known to fit."""
    if settings.cluster is not None and (version := settings.cluster.version) not in pins.EKS_AMI_RELEASES:
        fix = did_you_mean(version, pins.EKS_AMI_RELEASES)
        yield Fault("cluster.version", f"{version} has no pinned node image and add-ons", fix)


def a_protected_endpoint_is_not_open_to_all(settings: Settings) -> Iterator[Fault]:
    """Keep the API of a protected cluster from the whole internet. The forty ranges of EKS cannot cover half of it."""
    if settings.cluster is None or not settings.stack.protect:
        return
    public = [str(allowed) for allowed in settings.cluster.endpoint.public]
    opened = exposure(public)
    for index, allowed in enumerate(public):
        if allowed in opened.wide:
            yield Fault(
                f"cluster.endpoint.public[{index}]",
                f"{allowed} exposes the API of a protected stack to the internet",
                f"list only the ranges that need it, none wider than /{SHORTEST}",
            )


def a_protected_repository_keeps_its_images(settings: Settings) -> Iterator[Fault]:
    """Reject deletion by force in a protected stack."""
    for name, repository in settings.ecr.items() if settings.stack.protect else ():
        if repository.force_delete:
            yield Fault(
                f"ecr.{name}.force-delete", "contradicts stack.protect", "write false, or write stack.protect: false"
            )


def images_name_what_exists(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the repository of an image among those of the stack."""
    known = stated.entries["ecr"]
    for name, image in settings.images.items():
        if image.repository is not None and image.repository not in known:
            problem = f'"{image.repository}" is not in ecr'
            yield Fault(f"images.{name}.repository", problem, did_you_mean(image.repository, known))


RULES: Final[tuple[Rule, ...]] = (
    minimum_is_at_most_maximum,
    labels_and_taints_have_their_own_keys,
    the_kubernetes_version_is_pinned,
    a_protected_endpoint_is_not_open_to_all,
    a_protected_repository_keeps_its_images,
    pools_have_their_own_names,
)
REFERENCES: Final[tuple[Reference, ...]] = (
    empty_pools_have_an_autoscaler,
    images_name_what_exists,
    instance_types_are_known,
    smoke_tests_name_an_image,
)
