"""Check that GPU, driver, CUDA, container image and frameworks are compatible, for every job, image and machine.

The images of machines and the container images are checked first. An error in one of them is reported once, at its own
key, and not for each runner that uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gpu_ci.back_ends.offer import Offer
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge import pins
from gpu_ci.knowledge.software.compatibility import Query, explain, findings
from gpu_ci.knowledge.software.image_tags import Origin, container_image, cuda_base
from gpu_ci.knowledge.software.machine_images import on_ubuntu
from gpu_ci.knowledge.verdict import Level, Verdict, ok
from gpu_ci.stack_file.sections.images import ImageSettings
from gpu_ci.stack_file.sections.machines import OWN, STOCK
from gpu_ci.stack_file.sections.settings import Settings

CHECK: Final = "compatibility"
DRIVER_KEY: Final = "host-image.driver"
EC2_DRIVER_KEY: Final = "ec2-image.driver"
"""The keys that choose a driver: the nodes of EKS have the one of their image."""
_CHECKED_ELSEWHERE: Final = frozenset({"driver", "image", "image_cuda"})
"""Fields of a query whose own problems are reported at the host image or the container image."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the host image, each container image, each runner, and the image of GPU tests."""
    settings = stack.settings
    host = settings.host_image
    driver = None
    if host is not None:
        query = Query(
            gpu=host.verifier.gpu, driver=host.driver, driver_key=DRIVER_KEY, driver_is_shared=True, cuda=host.cuda
        )
        yield from _verdicts("host-image", query, {"driver": DRIVER_KEY})
        broken = any("driver" in finding.parts for finding in findings(query) if finding.level is Level.ERROR)
        driver = None if broken else host.driver
    refused = False
    if (ec2 := settings.ec2_image) is not None:
        machine = settings.machines.ec2(ec2.instance_types[0])
        query = Query(
            gpu=machine.gpu.slug if machine.gpu is not None else None,
            machine_image=on_ubuntu(ec2.os, ec2.driver),
            machine_image_key=EC2_DRIVER_KEY,
        )
        yield from _verdicts("ec2-image", query, {"machine_image": EC2_DRIVER_KEY})
        refused = any(finding.level is Level.ERROR for finding in findings(query))
    for name, image in settings.images.items():
        path = f"images.{name}"
        keys = {"image_cuda": f"{path}.cuda", **({"image": f"{path}.tag"} if image.tag else {})}
        yield from _verdicts(path, _image(image), keys)
    for name, offer in stack.offers.items():
        if not settings.runners[name].needs.gpu:
            continue
        yield from _runner(stack, name, offer, driver, ec2_refused=refused)
    if settings.smoke_test is not None:
        yield from _smoke_test(settings, settings.smoke_test.image)
    if settings.test_image is not None:
        query = Query(image=cuda_base(settings.test_image.cuda_image), driver=driver, driver_key=DRIVER_KEY)
        yield from _verdicts("test-image.cuda-image", query, {}, elsewhere=frozenset({"driver"}))


def _runner(stack: Stack, name: str, offer: Offer, driver: str | None, *, ec2_refused: bool) -> Iterator[Verdict]:
    needs, host = stack.settings.runners[name].needs, offer.host
    on_ec2_image = host.image_key == EC2_DRIVER_KEY
    image = Query()
    if offer.shared is not None:
        stated = stack.settings.images[offer.shared.image]
        query = _image(stated)
        broken = any(finding.level is Level.ERROR for finding in findings(query))
        reference = None if broken else query.image
        # GitHub's own runner image has no CUDA, even if the stack file states a version for it.
        bare = reference is not None and container_image(reference).origin is Origin.GITHUB_RUNNER
        image = Query(image=reference, image_cuda=None if bare else stated.cuda or None)
    query = Query(
        gpu=needs.gpu,
        driver=driver if host.builds_image else None,
        driver_key=DRIVER_KEY,
        machine_image=None if on_ec2_image and ec2_refused else host.image,
        machine_image_key=host.image_key,
        cuda=needs.cuda,
        image=image.image,
        image_cuda=image.image_cuda,
        torch=needs.torch,
        onnxruntime=needs.onnxruntime,
    )
    keys = {"machine_image": host.image_key} if host.image_key else {}
    elsewhere = _CHECKED_ELSEWHERE | {"machine_image"} if on_ec2_image else _CHECKED_ELSEWHERE
    yield from _verdicts(offer.path, query, keys, elsewhere=elsewhere)


def _smoke_test(settings: Settings, name: str) -> Iterator[Verdict]:
    """Check the image of the smoke test against the driver of the nodes, once for each GPU model."""
    version = settings.cluster.version if settings.cluster is not None else next(iter(pins.EKS_AMI_RELEASES))
    pools = [pool for pool in settings.gpu_pools.values() if pool.image in {STOCK, OWN}]
    machines = [settings.machines.ec2(one) for pool in pools for one in pool.instance_types]
    for gpu in dict.fromkeys(machine.gpu.slug for machine in machines if machine.gpu is not None):
        query = replace(
            _image(settings.images[name]),
            gpu=gpu,
            machine_image=f"AL2023_x86_64_NVIDIA:{pins.EKS_AMI_RELEASES[version]}",
        )
        yield from _verdicts("smoke-test.image", query, {}, elsewhere=_CHECKED_ELSEWHERE)


def _image(image: ImageSettings) -> Query:
    """Return the query for a container image alone; images in a registry of the stack have no tag that names CUDA."""
    if image.reference is None:
        return Query(image_cuda=image.cuda or None)
    tag = f":{image.tag}" if image.tag else ""
    digest = f"@{image.digest}" if image.digest else ""
    return Query(image=f"{image.reference}{tag}{digest}", image_cuda=image.cuda or None)


def _verdicts(
    path: str, query: Query, keys: Mapping[str, str], *, elsewhere: frozenset[str] = frozenset()
) -> Iterator[Verdict]:
    """Yield the verdicts on a query.

    `keys` are the fields that have a path of their own: it is the subject of their findings, and after one error
    nothing else is reported there. `elsewhere` are the fields whose own findings another query reports.
    """
    found = [finding for finding in findings(query) if not set(finding.parts) <= elsewhere]
    if not found:
        reason, chain = explain(query)
        yield ok(CHECK, path, reason, chain)
    refused: set[str] = set()
    for finding in found:
        subject = next((keys[part] for part in reversed(finding.parts) if part in keys), "")
        if subject and subject in refused:
            continue
        if finding.level is Level.ERROR:
            refused.add(subject)
        yield Verdict(
            check=CHECK,
            level=finding.level,
            subject=subject or path,
            reason=finding.reason,
            fix=finding.fix,
            chain=finding.chain,
        )
