"""What one section needs of another, and of what is known: rules that find a name, or a whole section, missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from config.faults import Fault, listed
from config.runners import BACK_ENDS_NEED
from config.settings import GITHUB_APP_PRIVATE_KEY
from config.stated import inner, listed_at
from gpu.machines import EC2_TYPES, GPU_MODELS
from gpu.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from config.stated import Stated

_TYPES: Final = "instance-types"
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
    for name, runner in stated.entries("runners"):
        path, arc = f"runners.{name}.arc", inner(runner, "arc")
        for section, field in (("gpu-pools", "pool"), ("gpu-pools", "fallback"), ("images", "image")):
            key, known = arc.get(field), stated.names(section)
            if key is not None and known and key not in known:
                yield Fault(f"{path}.{field}", f'"{key}" is not in {section}', did_you_mean(key, known))
        if arc.get("fallback") is not None and arc["fallback"] == arc.get("pool"):
            yield Fault(f"{path}.fallback", "is the pool itself", "name another pool, or leave it out")


def images_name_what_exists(stated: Stated) -> Iterator[Fault]:
    """An image in this stack's registry names a repository of it."""
    known = stated.names("ecr")
    for name, image in stated.entries("images"):
        repository = image.get("repository")
        if repository is not None and repository not in known:
            yield Fault(f"images.{name}.repository", f'"{repository}" is not in ecr', did_you_mean(repository, known))


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
    for name, pool in stated.entries("gpu-pools"):
        least, most = pool.get("min"), pool.get("max")
        if least is not None and most is not None and least < most:
            yield Fault(
                f"gpu-pools.{name}.max",
                f"the pool would stay at {least} nodes, since nothing scales it",
                f"state autoscaler: {{}}, or min: {most}",
            )


def instance_types_are_known(stated: Stated) -> Iterator[Fault]:
    """What a machine has decides nearly every check, so that an unknown one is refused, and not guessed."""
    yield from _machines("system-nodes", stated.of("system-nodes"), gpu=False)
    for name, pool in stated.entries("gpu-pools"):
        yield from _machines(f"gpu-pools.{name}", pool, gpu=True)
    for name, runner in stated.entries("runners"):
        yield from _machines(f"runners.{name}.cirun-aws", inner(runner, "cirun-aws"), gpu=True)


def _machines(group: str, stated: Mapping[str, Any], *, gpu: bool) -> Iterator[Fault]:
    """Jobs need a GPU; what keeps the cluster going must not pay for one."""
    fitting = {machine.name: machine.family for machine in EC2_TYPES.values() if (machine.gpu is not None) == gpu}
    families = f"take one of the families {', '.join(sorted(set(fitting.values())))}"
    path = f"{group}.{_TYPES}"
    for index, name in listed_at(stated, _TYPES):
        machine = EC2_TYPES.get(name)
        if machine is None:
            close = nearest(name, fitting)
            right = f'did you mean "{close}"?' if close else families
            yield Fault(f"{path}[{index}]", f"{name} is not a known EC2 instance type", right)
        elif (machine.gpu is not None) != gpu:
            wrong = f"{name} has no GPU" if gpu else f"{name} has a GPU, and nothing here uses one"
            yield Fault(f"{path}[{index}]", wrong, families)


def gpus_are_known_and_are_there(stated: Stated) -> Iterator[Fault]:
    """A runner's GPU is a known model, and the one of every machine it may run on."""
    pools = dict(stated.entries("gpu-pools"))
    for name, runner in stated.entries("runners"):
        path, model = f"runners.{name}.needs.gpu", inner(runner, "needs").get("gpu")
        if model is None:
            continue
        if model not in GPU_MODELS:
            yield Fault(path, f'"{model}" is not a known GPU model', did_you_mean(model, GPU_MODELS))
            continue
        arc = inner(runner, "arc")
        groups = [inner(runner, "cirun-aws"), *(pools.get(str(arc.get(named)), {}) for named in ("pool", "fallback"))]
        yield from _other_gpus(path, model, [machine for group in groups for _, machine in listed_at(group, _TYPES)])


def _other_gpus(path: str, model: str, machines: Sequence[str]) -> Iterator[Fault]:
    """One line for each GPU that is not the runner's, with every machine that has it."""
    others: dict[str, list[str]] = {}
    for name in dict.fromkeys(machines):
        gpu = EC2_TYPES[name].gpu if name in EC2_TYPES else None
        if gpu is not None and gpu.slug != model:
            others.setdefault(gpu.slug, []).append(name)
    for slug, names in others.items():
        verb, them = ("has", names[0]) if len(names) == 1 else ("have", "them")
        yield Fault(path, f"{listed(names)} {verb} the GPU {slug}, not {model}", f"write {slug}, or leave {them} out")
