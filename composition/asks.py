"""From the stack file to what is asked of drivers and of quotas: plain questions, answered in `gpu/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from config import pins
from gpu.compatibility import Ask
from gpu.instance_types import ec2_type, gce_type
from gpu.quota import EKS_UPDATE_HEADROOM, Cloud, Demand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.runners import ArcBackEnd, RunnerSettings
    from config.services import ImageSettings
    from config.settings import Settings


def compatibility(settings: Settings) -> Iterator[Ask]:
    """What each runner's job, image and machine are to be together."""
    for name, runner in settings.runners.items():
        if runner.arc is not None:
            yield _on_eks(name, runner, runner.arc, settings)
        else:
            yield Ask(
                path=f"runners.{name}",
                gpus=(runner.needs.gpu,),
                driver=settings.host_image.driver if settings.host_image and runner.cirun_gcp else None,
                cuda=runner.needs.cuda,
                torch=runner.needs.torch,
                onnxruntime=runner.needs.onnxruntime,
            )
    image = settings.host_image
    if image is not None:
        yield Ask(path="host-image", gpus=(image.verifier.gpu,), driver=image.driver, cuda=image.cuda)
    tests = settings.test_image
    if tests is not None:
        yield Ask(path="test-image", image=f"nvidia/cuda:{tests.cuda_image}", driver=image.driver if image else None)


def _on_eks(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> Ask:
    image = settings.images[arc.image]
    pools = [settings.gpu_pools[pool] for pool in (arc.pool, arc.fallback) if pool is not None]
    types = [ec2_type(stated) for pool in pools for stated in pool.instance_types]
    models = {machine.gpu.slug for machine in types if machine.gpu is not None}
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


def demands(settings: Settings) -> list[Demand]:
    """What the stack runs at its largest."""
    return [*_on_amazon(settings), *_on_google(settings)]


def _on_amazon(settings: Settings) -> Iterator[Demand]:
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
    for name, runner in settings.runners.items():
        served = runner.cirun_aws
        if served is not None:
            # Whichever is tried last may be the one that has them all.
            for place in served.regions:
                for spot in dict.fromkeys(served.spot):
                    yield Demand(
                        path=f"runners.{name}",
                        cloud=Cloud.AWS,
                        region=place,
                        machines=served.instance_types,
                        spot=spot,
                        max_count=served.at_once,
                    )


def _on_google(settings: Settings) -> Iterator[Demand]:
    if settings.gcp is None:
        return
    project = settings.gcp.project
    for name, runner in settings.runners.items():
        served = runner.cirun_gcp
        if served is None:
            continue
        for region in dict.fromkeys(zone.rpartition("-")[0] for zone in served.zones):
            for spot in dict.fromkeys(served.spot):
                yield Demand(
                    path=f"runners.{name}",
                    cloud=Cloud.GCP,
                    region=region,
                    machines=served.machine_types,
                    spot=spot,
                    max_count=served.at_once,
                    project=project,
                    **_attached(served.machine_types, runner),
                )


def _attached(machines: tuple[str, ...], runner: RunnerSettings) -> dict[str, Any]:
    """The GPU to attach, for machines that bring none."""
    if all(gce_type(machine).gpu is not None for machine in machines):
        return {}
    return {"gpu": runner.needs.gpu, "gpus": runner.needs.gpus}
