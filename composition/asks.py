"""From the stack file to what is asked of drivers: plain questions, answered in `gpu.software.compatibility`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from config import pins
from gpu.machines import ec2_type
from gpu.software.compatibility import Ask, conflicts
from gpu.software.drivers import server_package
from gpu.software.image_tags import Origin, container_image, cuda_base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.runners import ArcBackEnd, RunnerSettings
    from config.services import ImageSettings
    from config.settings import Settings

DRIVER_KEY: Final = "host-image.driver"
"""The one key that chooses a driver: nodes of EKS have their image's own."""


def compatibility(settings: Settings) -> Iterator[Ask]:
    """What each runner's job, image and machine are to be together.

    What cannot be right by itself, the driver of the host image or a runner's container image, is asked once where it
    stands, and left out of what is asked of everything that uses it.
    """
    host = _host_image(settings)
    images = {name: _container_image(name, image) for name, image in settings.images.items()}
    yield from [] if host is None else [host]
    yield from images.values()
    driver = host.driver if host and not any("driver" in terms for terms in conflicts(host)) else None
    for name, runner in settings.runners.items():
        if runner.arc is not None:
            yield _on_eks(name, runner, runner.arc, images[runner.arc.image], settings)
        else:
            yield _on_its_own(name, runner, driver)
    tests = settings.test_image
    if tests is not None:
        yield Ask(
            path="test-image.cuda-image",
            image=cuda_base(tests.cuda_image),
            driver=driver,
            driver_key=DRIVER_KEY if driver else "",
            elsewhere=("driver",),
        )


def _host_image(settings: Settings) -> Ask | None:
    image = settings.host_image
    if image is None:
        return None
    return Ask(
        path="host-image",
        gpus=(image.verifier.gpu,),
        driver=server_package(image.driver),
        driver_key=DRIVER_KEY,
        places=(("driver", DRIVER_KEY),),
        cuda=image.cuda,
    )


def _container_image(name: str, image: ImageSettings) -> Ask:
    """What is stated of an image, and what its tag says where others publish it."""
    path = f"images.{name}"
    places = (("image-cuda", f"{path}.cuda"), *((("image", f"{path}.tag"),) if image.tag else ()))
    reference = _reference(image) if image.reference else None
    return Ask(path=path, image=reference, image_cuda=image.cuda, places=places)


def _on_its_own(name: str, runner: RunnerSettings, driver: str | None) -> Ask:
    """A machine for each job, of the stack's own image on Google Cloud, of anybody's on AWS."""
    parameter = runner.cirun_aws.image_parameter if runner.cirun_aws is not None else None
    key = f"runners.{name}.cirun-aws.image-parameter" if parameter else ""
    driver = driver if runner.cirun_gcp is not None else None
    return Ask(
        path=f"runners.{name}",
        gpus=(runner.needs.gpu,),
        driver=driver,
        driver_key=DRIVER_KEY if driver else "",
        elsewhere=("driver",),
        machine_image=parameter,
        machine_image_key=key,
        places=(("machine-image", key),) if key else (),
        cuda=runner.needs.cuda,
        torch=runner.needs.torch,
        onnxruntime=runner.needs.onnxruntime,
    )


def _on_eks(name: str, runner: RunnerSettings, arc: ArcBackEnd, stated: Ask, settings: Settings) -> Ask:
    image = settings.images[arc.image]
    pools = [settings.gpu_pools[pool] for pool in (arc.pool, arc.fallback) if pool is not None]
    types = [ec2_type(one) for pool in pools for one in pool.instance_types]
    models = {machine.gpu.slug for machine in types if machine.gpu is not None}
    version = settings.cluster.version if settings.cluster else next(iter(pins.EKS_AMI_RELEASES))
    reference = None if conflicts(stated) else stated.image
    bare = reference is not None and container_image(reference).origin is Origin.GITHUB_RUNNER
    return Ask(
        path=f"runners.{name}",
        gpus=tuple(sorted(models)),
        machine_image=f"AL2023_x86_64_NVIDIA:{pins.EKS_AMI_RELEASES[version]}",
        cuda=runner.needs.cuda,
        image=reference,
        image_cuda=None if bare else image.cuda,
        elsewhere=("image", "image-cuda"),
        torch=runner.needs.torch,
        onnxruntime=runner.needs.onnxruntime,
    )


def _reference(image: ImageSettings) -> str:
    tag = f":{image.tag}" if image.tag else ""
    return f"{image.reference}{tag}{f'@{image.digest}' if image.digest else ''}"
