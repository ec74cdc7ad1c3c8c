"""What one section needs of another: rules that find a name, or a whole section, missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config.faults import Fault
from config.settings import GITHUB_APP_PRIVATE_KEY
from config.translate import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.stated import Stated

NEEDS = {
    "network": ("aws",),
    "ecr": ("aws",),
    "cluster": ("aws", "network", "system-nodes"),
    "system-nodes": ("cluster",),
    "gpu-pools": ("cluster", "device-plugin"),
    "device-plugin": ("cluster",),
    "autoscaler": ("cluster",),
    "storage": ("cluster",),
    "monitoring": ("cluster",),
    "arc": ("cluster", "github"),
    "host-image": ("gcp",),
    "artifact-registry": ("gcp",),
    "test-image": ("artifact-registry",),
    "github-federation": ("gcp",),
}
"""Section to the sections it cannot do without."""


def sections_have_what_they_need(stated: Stated) -> Iterator[Fault]:
    """A section without another that it stands on cannot be built."""
    for section, needed in NEEDS.items():
        if stated.has(section):
            for other in needed:
                if not stated.has(other):
                    yield Fault(other, f"missing, and {section} needs it", f"state {other}, or leave {section} out")


def runners_name_what_exists(stated: Stated) -> Iterator[Fault]:
    """A runner's pool and image are keys of this stack file."""
    for name, runner in stated.settings.runners.items():
        if runner.arc is None:
            continue
        path = f"runners.{name}.arc"
        if not stated.has("arc"):
            yield Fault("arc", f"missing, and runners.{name} needs it", "state arc: {} to switch the controller on")
        for section, field, key in (("gpu-pools", "pool", runner.arc.pool), ("images", "image", runner.arc.image)):
            known = stated.names(section)
            if key not in known:
                yield Fault(f"{path}.{field}", f'"{key}" is not in {section}', nearest(key, known))


def images_name_what_exists(stated: Stated) -> Iterator[Fault]:
    """An image in this stack's registry names a repository of it."""
    known = stated.names("ecr")
    for name, image in stated.settings.images.items():
        if image.repository is not None and image.repository not in known:
            yield Fault(
                f"images.{name}.repository", f'"{image.repository}" is not in ecr', nearest(image.repository, known)
            )


def secrets_are_set(stated: Stated) -> Iterator[Fault]:
    """Whoever speaks to GitHub as an App needs the App's key."""
    if stated.has("github") and GITHUB_APP_PRIVATE_KEY not in stated.secrets:
        yield Fault(
            GITHUB_APP_PRIVATE_KEY,
            "missing, and github needs it",
            f"run: pulumi config set --secret gpu-ci:{GITHUB_APP_PRIVATE_KEY} < key.pem",
        )


def empty_pools_have_an_autoscaler(stated: Stated) -> Iterator[Fault]:
    """Nothing but an autoscaler ever moves a node group off its minimum."""
    if stated.has("autoscaler"):
        return
    for name, pool in stated.settings.gpu_pools.items():
        if pool.min < pool.max:
            yield Fault(
                f"gpu-pools.{name}.max",
                f"the pool would stay at {pool.min} nodes, since nothing scales it",
                f"state autoscaler: {{}}, or min: {pool.max}",
            )
