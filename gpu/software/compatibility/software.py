"""What must hold between the job's own parts: CUDA in the image, torch, ONNX Runtime, and the GPU they were built for.

A finding names the parts that contradict each other; taking any one of them away removes the contradiction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.software.architectures import architecture
from gpu.software.compatibility.finding import Finding, either, identity, install
from gpu.software.compatibility.remedies import newest_cuda, newest_onnxruntime, newest_torch
from gpu.software.image_tags import Origin
from gpu.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpu.machines import GpuModel
    from gpu.software.compatibility.case import Case
    from gpu.software.frameworks import TorchBuild


def torch_and_gpu(case: Case) -> Iterator[Finding]:
    """The wheel was built for the GPU."""
    build = case.torch
    for model in case.gpus if build else ():
        known = architecture(model.capability)
        if build is None or build.runs_on(known) or _dropped_by(build, model):
            continue
        other = newest_torch((model,), case.driver)
        held = ", ".join(f"sm_{major}{minor}" for major, minor in build.machine_code)
        yield Finding(
            level=Level.ERROR,
            terms=("gpu", case.torch_term),
            reason=f"{build.label} has no code for {model.slug}",
            fix=f"install {install(other)}" if other else "take another GPU",
            chain=(
                identity(model),
                f"{build.label} was built for {held}",
                f'so {model.slug} fails with "no kernel image is available for execution on the device"',
            ),
        )


def torch_and_image(case: Case) -> Iterator[Finding]:
    """A torch that is stated is the one that the image carries."""
    stated, carried, image = case.stated_torch, case.torch, case.image
    if stated and carried and image and image.torch and stated != carried:
        yield Finding(
            level=Level.ERROR,
            terms=("image", "torch"),
            reason=f"{image.reference} carries {carried.label}, and {stated.label} is stated",
            fix=f"state {carried.label}, or take an image without torch",
            chain=(
                f"{image.reference} carries {carried.label}",
                "installing another one over it keeps both in the image",
            ),
        )


def _dropped_by(build: TorchBuild, model: GpuModel) -> bool:
    """Whether the wheel's own CUDA has dropped the GPU, which another rule says already."""
    last = architecture(model.capability).last_cuda
    return last is not None and build.cuda[0] > last


def onnxruntime_and_cuda(case: Case) -> Iterator[Finding]:
    """ONNX Runtime finds the CUDA libraries it was built for; where it does not, it runs on the CPU and says little."""
    build = case.onnxruntime
    there = case.image_cuda or case.cuda
    if build is None or there is None or there.version[0] == build.cuda:
        return
    term = case.image_term if case.image_cuda else "cuda"
    other = newest_onnxruntime(there.version[0])
    cuda = newest_cuda(case.gpus, case.driver, major=build.cuda)
    in_image = f"an image with CUDA {cuda.newest}" if cuda and case.image_cuda else ""
    of_job = f'cuda: "{cuda.label}"' if cuda and case.cuda else ""
    other_cuda = " and ".join(way for way in (in_image, of_job) if way)
    yield Finding(
        level=Level.ERROR,
        terms=(term, "onnxruntime"),
        reason=f"{build.label} loads CUDA {build.cuda} libraries, and there is CUDA {there.label}",
        fix=either(f"use {other.label}" if other else "", f"use {other_cuda}" if other_cuda else ""),
        chain=(
            f"{build.label} is built for CUDA {build.cuda} and cuDNN {build.cudnn}",
            f"CUDA {there.label} has none of its libraries",
            "so ONNX Runtime falls back to the CPU without failing",
        ),
    )


def cuda_and_image(case: Case) -> Iterator[Finding]:
    """The image has the CUDA that the job needs, or a newer one of the same major version."""
    wanted, there, image = case.cuda, case.image_cuda, case.image
    if wanted and image and image.origin is Origin.GITHUB_RUNNER and not there and not case.torch:
        yield Finding(
            level=Level.WARNING,
            terms=("cuda", "image"),
            reason=f"{image.reference} has no CUDA libraries, and the job needs CUDA {wanted.label}",
            fix="state needs.torch where torch brings them, or use an image built on nvidia/cuda",
            chain=(f"{image.reference} is GitHub's runner alone", "the driver's own libraries are mounted at start"),
        )
    stated = case.stated_image_cuda
    if there and stated and there.version != stated.version:
        yield Finding(
            level=Level.ERROR,
            terms=("image", "image-cuda"),
            reason=f"{case.image_name} has CUDA {there.label}, and CUDA {stated.label} is stated for it",
            fix=f'take a tag with CUDA {stated.newest}, or, where the tag is right, write "{there.label}"',
            chain=(f"the tag of {case.image_name} names CUDA {there.label}",),
        )
    if not wanted or not there:
        return
    if there.version[0] == wanted.version[0] and there.version >= wanted.version:
        return
    yield Finding(
        level=Level.ERROR,
        terms=("cuda", case.image_term),
        reason=f"the job needs CUDA {wanted.label}, and {case.image_name} has CUDA {there.label}",
        fix=f'use an image with CUDA {wanted.newest}, or cuda: "{there.label}"',
        chain=(
            f"{case.image_name} has CUDA {there.label}",
            f"only CUDA {wanted.label} or a newer {wanted.version[0]}.x has all of CUDA {wanted.label}",
            "so what was built for it may not start",
        ),
    )


SOFTWARE: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    torch_and_gpu,
    torch_and_image,
    onnxruntime_and_cuda,
    cuda_and_image,
)
