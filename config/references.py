"""What one section needs of another, and of what is known: rules that find a name, or a whole section, missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from config.faults import Fault
from config.settings import GITHUB_APP_PRIVATE_KEY
from config.translate import listed, nearest
from gpu.instance_types import EC2_TYPES, GPU_MODELS
from gpu.nearest import nearest as nearest_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
BACK_ENDS_NEED = {
    "arc": ("arc", "gpu-pools", "images"),
    "cirun-aws": ("aws",),
    "cirun-gcp": ("gcp", "host-image"),
}
"""A runner's back end to the sections that it cannot do without."""


def sections_have_what_they_need(stated: Stated) -> Iterator[Fault]:
    """A section without another that it stands on cannot be built; whoever needs it stands in one line."""
    needed_by: dict[str, list[str]] = {}
    for section, needed in NEEDS.items():
        for other in needed if stated.has(section) else ():
            needed_by.setdefault(other, []).append(section)
    for name, runner in stated.part("runners").items():
        for back_end in runner if isinstance(runner, Mapping) else ():
            for other in BACK_ENDS_NEED.get(back_end, ()):
                needed_by.setdefault(other, []).append(f"runners.{name}")
    for cloud in ("aws", "gcp"):
        if stated.part("cirun").get(cloud) is True:
            needed_by.setdefault(cloud, []).append(f"cirun.{cloud}")
    for other, needy in needed_by.items():
        if not stated.has(other):
            verb, them = ("needs", needy[0]) if len(needy) == 1 else ("need", "them")
            yield Fault(other, f"missing, and {listed(needy)} {verb} it", f"state {other}, or leave {them} out")


def runners_name_what_exists(stated: Stated) -> Iterator[Fault]:
    """A runner's pool and image are keys of this stack file."""
    for name, runner in stated.settings.runners.items():
        if runner.arc is None:
            continue
        path = f"runners.{name}.arc"
        named = [("gpu-pools", "pool", runner.arc.pool), ("images", "image", runner.arc.image)]
        if runner.arc.fallback is not None:
            named.append(("gpu-pools", "fallback", runner.arc.fallback))
        for section, field, key in named:
            known = stated.names(section)
            if known and key not in known:
                yield Fault(f"{path}.{field}", f'"{key}" is not in {section}', nearest(key, known))
        if runner.arc.fallback == runner.arc.pool:
            yield Fault(f"{path}.fallback", "is the pool itself", "name another pool, or leave it out")


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


def instance_types_are_known(stated: Stated) -> Iterator[Fault]:
    """What a machine has decides nearly every check, so that an unknown one is refused, and not guessed."""
    nodes = stated.settings.system_nodes
    if nodes is not None:
        yield from _machines("system-nodes.instance-types", nodes.instance_types, gpu=False)
    for name, pool in stated.settings.gpu_pools.items():
        yield from _machines(f"gpu-pools.{name}.instance-types", pool.instance_types, gpu=True)
    for name, runner in stated.settings.runners.items():
        if runner.cirun_aws is not None:
            yield from _machines(f"runners.{name}.cirun-aws.instance-types", runner.cirun_aws.instance_types, gpu=True)


def _machines(path: str, stated: Sequence[str], *, gpu: bool) -> Iterator[Fault]:
    """Jobs need a GPU; what keeps the cluster going must not pay for one."""
    fitting = {machine.name: machine.family for machine in EC2_TYPES.values() if (machine.gpu is not None) == gpu}
    families = f"take one of the families {', '.join(sorted(set(fitting.values())))}"
    for index, name in enumerate(stated):
        machine = EC2_TYPES.get(name)
        if machine is None:
            close = nearest_of(name, fitting)
            right = f'did you mean "{close}"?' if close else families
            yield Fault(f"{path}[{index}]", f"{name} is not a known EC2 instance type", right)
        elif (machine.gpu is not None) != gpu:
            wrong = f"{name} has no GPU" if gpu else f"{name} has a GPU, and nothing here uses one"
            yield Fault(f"{path}[{index}]", wrong, families)


def gpus_are_known_and_are_there(stated: Stated) -> Iterator[Fault]:
    """A runner's GPU is a known model, and the one of every machine it may run on."""
    for name, runner in stated.settings.runners.items():
        path, model = f"runners.{name}.needs.gpu", runner.needs.gpu
        if model not in GPU_MODELS:
            yield Fault(path, f'"{model}" is not a known GPU model', nearest(model, GPU_MODELS))
            continue
        if runner.cirun_aws is not None:
            yield from _other_gpus(path, model, runner.cirun_aws.instance_types)
        for named in (runner.arc.pool, runner.arc.fallback) if runner.arc is not None else ():
            pool = stated.settings.gpu_pools.get(named) if named is not None else None
            if pool is not None:
                yield from _other_gpus(path, model, pool.instance_types)


def _other_gpus(path: str, model: str, machines: Sequence[str]) -> Iterator[Fault]:
    for name in machines:
        gpu = EC2_TYPES[name].gpu if name in EC2_TYPES else None
        if gpu is not None and gpu.slug != model:
            yield Fault(path, f"{name} has the GPU {gpu.slug}, not {model}", f"write {gpu.slug}, or leave {name} out")
