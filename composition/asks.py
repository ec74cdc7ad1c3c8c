"""From the stack file to what is asked of drivers and of quotas: plain questions, answered in `gpu/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config import pins
from gpu.compatibility import Ask
from gpu.instance_types import ec2_type
from gpu.quota import EKS_UPDATE_HEADROOM, Cloud, Demand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.runners import ArcBackEnd, RunnerSettings
    from config.services import ImageSettings
    from config.settings import Settings


def compatibility(settings: Settings) -> Iterator[Ask]:
    """What each runner's job, image and node are to be together."""
    for name, runner in settings.runners.items():
        if runner.arc is not None:
            yield _on_eks(name, runner, runner.arc, settings)


def _on_eks(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> Ask:
    pool, image = settings.gpu_pools[arc.pool], settings.images[arc.image]
    models = {model.slug for stated in pool.instance_types if (model := ec2_type(stated).gpu) is not None}
    version = settings.cluster.version if settings.cluster else next(iter(pins.EKS_AMI_RELEASES))
    return Ask(
        path=f"runners.{name}",
        gpus=tuple(sorted(models)),
        machine_image=f"AL2023_x86_64_NVIDIA:{pins.EKS_AMI_RELEASES[version]}",
        cuda=runner.needs.cuda,
        image=_elsewhere(image),
        image_cuda=image.cuda,
        torch=runner.needs.torch,
        onnxruntime=runner.needs.onnxruntime,
    )


def _elsewhere(image: ImageSettings) -> str | None:
    """An image that others publish, whose tag says what is in it."""
    return f"{image.reference}:{image.tag}" if image.reference and image.tag else None


def demands(settings: Settings) -> Iterator[Demand]:
    """What the stack runs at its largest."""
    if settings.aws is None:
        return
    region = settings.aws.region
    if settings.system_nodes is not None:
        yield Demand(
            path="system-nodes",
            cloud=Cloud.AWS,
            region=region,
            machines=settings.system_nodes.instance_types,
            spot=False,
            max_count=settings.system_nodes.max,
            headroom=EKS_UPDATE_HEADROOM,
        )
    for name, pool in settings.gpu_pools.items():
        yield Demand(
            path=f"gpu-pools.{name}",
            cloud=Cloud.AWS,
            region=region,
            machines=pool.instance_types,
            spot=pool.capacity == "spot",
            max_count=pool.max,
            headroom=EKS_UPDATE_HEADROOM,
        )
