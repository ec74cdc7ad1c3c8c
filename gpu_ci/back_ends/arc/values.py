"""The values of a runner's scale set: the arguments of the component, and the pods that the checks count."""

from __future__ import annotations

from components.aws.nodes.cpu_node import CPU_TAINT_KEY
from components.aws.nodes.gpu_node import GPU_TAINT_KEY, every_toleration
from components.kubernetes.arc.scale_set_values import ScaleSetValues
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings


def pools_of(section: ArcSection) -> tuple[str, ...]:
    """Return the pools that may run the job, in the order in which they are tried."""
    return tuple(pool for pool in (section.pool, section.fallback) if pool is not None)


def scale_set(name: str, runner: RunnerSettings, section: ArcSection, settings: Settings) -> ScaleSetValues:
    """Return the values of one runner's scale set."""
    names, needs = pools_of(section), runner.needs
    shared = [settings.gpu_pools[one].sharing for one in names if one in settings.gpu_pools]
    return ScaleSetValues(
        runner=name,
        github_url=settings.github.url if settings.github else "",
        runner_group=settings.arc.runner_group if settings.arc else "default",
        min=section.min,
        max=section.max,
        labels=section.labels,
        container_mode=section.container_mode,
        gpus=needs.devices,
        cpu=needs.cpu,
        memory=needs.memory,
        disk=needs.disk,
        timeout_minutes=runner.timeout_minutes,
        pools=names,
        shared=any(sharing is not None for sharing in shared),
        tolerations=every_toleration(
            [settings.pools[one].taints for one in names], own=GPU_TAINT_KEY if needs.gpu else CPU_TAINT_KEY
        ),
        pull_secret=settings.images[section.image].image_pull_secret,
        job_pull_secret=section.image_pull_secret,
    )
