"""Rules of the section `arc` of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules.pools import over_maximum
from gpu_ci.stack_file.rules.runners import other_gpus
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.github import GITHUB_IMAGES, GITHUB_LABELS

NAME_LIMIT: Final = 45
"""The longest name that the scale set chart renders."""


def runners_name_what_exists(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the pools and the image of a runner in the stack file."""
    images = stated.entries["images"]
    for name, runner, arc in settings.served(ArcSection):
        path = f"runners.{name}.arc"
        section, other = ("gpu-pools", "cpu-pools") if runner.needs.gpu else ("cpu-pools", "gpu-pools")
        for field, key in (("pool", arc.pool), ("fallback", arc.fallback)):
            known = stated.entries[section]
            if key is None or key in known:
                continue
            if key in stated.entries[other]:
                job = "a" if runner.needs.gpu else "no"
                fix = f"name a pool of {section}{'' if runner.needs.gpu else ', or state needs.gpu'}"
                yield Fault(f"{path}.{field}", f"{key} is in {other}, but the job has {job} GPU", fix)
            elif known:
                yield Fault(f"{path}.{field}", f'"{key}" is not in {section}', did_you_mean(key, known))
        if images and arc.image not in images:
            yield Fault(f"{path}.image", f'"{arc.image}" is not in images', did_you_mean(arc.image, images))
        if arc.fallback == arc.pool:
            yield Fault(f"{path}.fallback", "is the same as pool", "name another pool, or remove it")


def images_for_gpus_state_cuda(settings: Settings) -> Iterator[Fault]:
    """Require the CUDA version of an image that runners with a GPU use."""
    users: dict[str, list[str]] = {}
    for name, runner, arc in settings.served(ArcSection):
        if runner.needs.gpu and arc.image in settings.images:
            users.setdefault(arc.image, []).append(f"runners.{name}")
    for image, names in users.items():
        if not settings.images[image].cuda:
            problem = f"missing, but {listed(names)} {'has' if len(names) == 1 else 'have'} a GPU"
            yield Fault(f"images.{image}.cuda", problem, 'state it in quotes, as in cuda: "12.9"')


def labels_are_not_names_of_other_runners(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Compare labels with names: GitHub gives a job to any runner that has the label it asks for."""
    for name, _, arc in settings.served(ArcSection):
        for index, label in enumerate(arc.labels):
            # GitHub ignores the case of labels.
            if label.lower() != name and label.lower() in stated.entries["runners"]:
                yield Fault(
                    f"runners.{name}.arc.labels[{index}]",
                    f"{label} is the name of another runner, whose jobs would run here too",
                    "use a label that is not the name of a runner",
                )


def names_are_not_labels_of_github(settings: Settings) -> Iterator[Fault]:
    """Reject names that GitHub gives to other runners, and labels of its own machines: those would get the jobs."""
    for name, _, arc in settings.served(ArcSection):
        path = f"runners.{name}"
        if GITHUB_IMAGES.fullmatch(name) or name in GITHUB_LABELS:
            yield Fault(path, "GitHub has this label on other runners, which would get the jobs", "use another name")
        for index, label in enumerate(arc.labels):
            if GITHUB_IMAGES.fullmatch(label.lower()):
                problem = f"{label} is a label of GitHub's own machines, which would get the jobs"
                yield Fault(f"{path}.arc.labels[{index}]", problem, "use another label")


def scale_sets_fit_the_chart(settings: Settings) -> Iterator[Fault]:
    """Check the length of the name, and `min` against `max`."""
    for name, _, arc in settings.served(ArcSection):
        yield from over_maximum(f"runners.{name}.arc", arc.min, arc.max)
        if len(name) > NAME_LIMIT:
            problem = f"the name has {len(name)} characters, but the chart allows {NAME_LIMIT}"
            yield Fault(f"runners.{name}", problem, "use a shorter name")


def only_pods_of_jobs_need_a_secret(settings: Settings) -> Iterator[Fault]:
    """Reject the credentials for the image of a job's own pod where jobs have none."""
    for name, _, arc in settings.served(ArcSection):
        if arc.image_pull_secret is not None and arc.container_mode == "none":
            problem = "is for the pods of jobs, which container-mode: none does not have"
            fix = f"state images.{arc.image}.image-pull-secret for the image of the runner, or remove it"
            yield Fault(f"runners.{name}.arc.image-pull-secret", problem, fix)


def pools_have_the_gpu(settings: Settings) -> Iterator[Fault]:
    """Compare the GPU of a runner with the machines of its pools."""
    for name, runner, arc in settings.served(ArcSection):
        pools = [settings.gpu_pools[key] for key in (arc.pool, arc.fallback or arc.pool) if key in settings.gpu_pools]
        stated = [machine for pool in pools for machine in pool.instance_types]
        yield from other_gpus(name, runner.needs.gpu, stated, settings.machines.ec2_types)


RULES: Final[tuple[Rule, ...]] = (
    names_are_not_labels_of_github,
    scale_sets_fit_the_chart,
    only_pods_of_jobs_need_a_secret,
    pools_have_the_gpu,
    images_for_gpus_state_cuda,
)
REFERENCES: Final[tuple[Reference, ...]] = (runners_name_what_exists, labels_are_not_names_of_other_runners)
