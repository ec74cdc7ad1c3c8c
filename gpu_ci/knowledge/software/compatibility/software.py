"""The rules between the parts of a job: container image, CUDA, torch, ONNX Runtime, and the GPU they were built for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from gpu_ci.knowledge.software.architectures import architecture, sm
from gpu_ci.knowledge.software.compatibility.query import Finding
from gpu_ci.knowledge.software.compatibility.remedies import (
    either,
    identity,
    install,
    newest_cuda,
    newest_onnxruntime,
    newest_torch,
    use_gpu,
)
from gpu_ci.knowledge.software.image_tags import Origin, deleted_from, end_of_life, newest_of, superseded
from gpu_ci.knowledge.verdict import Level

if TYPE_CHECKING:
    from gpu_ci.knowledge.software.compatibility.query import Case


def torch_and_gpu(case: Case) -> Iterator[Finding]:
    """The torch wheel was built for the GPU."""
    build, model = case.torch, case.gpu
    if build is None or model is None:
        return
    known = architecture(model.capability)
    # Another rule reports a wheel whose CUDA dropped the GPU.
    if build.runs_on(known) or (known.last_cuda is not None and build.cuda[0] > known.last_cuda):
        return
    other = newest_torch(model, case.driver)
    yield Finding(
        level=Level.ERROR,
        parts=("gpu", case.torch_part),
        reason=f"{build.label} has no code for {model.slug}",
        fix=f"install {install(other)}" if other else use_gpu(None),
        chain=(
            identity(model),
            f"{build.label} was built for {', '.join(map(sm, build.machine_code))}",
            f'so {model.slug} fails with "no kernel image is available for execution on the device"',
        ),
    )


def torch_and_image(case: Case) -> Iterator[Finding]:
    """The stated torch is the one in the image."""
    stated, in_image, image = case.stated_torch, case.torch, case.image
    if stated and in_image and image and stated != in_image:
        yield Finding(
            level=Level.ERROR,
            parts=("image", "torch"),
            reason=f"{image.reference} contains {in_image.label}, but {stated.label} is stated",
            fix=f"state {in_image.label}, or use an image without torch",
            chain=(
                f"{image.reference} contains {in_image.label}",
                "installing another version over it keeps both in the image",
            ),
        )


def onnxruntime_and_cuda(case: Case) -> Iterator[Finding]:
    """ONNX Runtime finds its CUDA libraries; without them it does not fail and runs on the CPU."""
    build = case.onnxruntime
    present = case.image_cuda or case.cuda
    if build is None or present is None or present.version[0] == build.cuda:
        return
    other = newest_onnxruntime(present.version[0])
    cuda = newest_cuda(case.gpu, case.driver, major=build.cuda)
    in_image = f"an image with CUDA {cuda.newest}" if cuda and case.image_cuda else ""
    of_job = f'cuda: "{cuda.label}"' if cuda and case.cuda else ""
    other_cuda = " and ".join(change for change in (in_image, of_job) if change)
    yield Finding(
        level=Level.ERROR,
        parts=(case.image_cuda_part if case.image_cuda else "cuda", "onnxruntime"),
        reason=f"{build.label} loads CUDA {build.cuda} libraries, but the job has CUDA {present.label}",
        fix=either(f"use {other.label}" if other else "", f"use {other_cuda}" if other_cuda else ""),
        chain=(
            f"{build.label} is built for CUDA {build.cuda} and cuDNN {build.cudnn}",
            f"CUDA {present.label} has none of its libraries",
            "so ONNX Runtime falls back to the CPU without failing",
        ),
    )


def cuda_and_image(case: Case) -> Iterator[Finding]:
    """The image has the CUDA version that the job needs, or a newer one of the same major version."""
    wanted, present, image = case.cuda, case.image_cuda, case.image
    if wanted and image and image.origin is Origin.GITHUB_RUNNER and not present and not case.torch:
        yield Finding(
            level=Level.WARNING,
            parts=("cuda", "image"),
            reason=f"{image.reference} has no CUDA libraries, but the job needs CUDA {wanted.label}",
            fix="state needs.torch if torch brings them, or use an image built on nvidia/cuda",
            chain=(
                f"{image.reference} contains only GitHub's runner",
                "at start only the driver's libraries are mounted",
            ),
        )
    if not wanted or not present:
        return
    if present.version[0] == wanted.version[0] and present.version >= wanted.version:
        return
    yield Finding(
        level=Level.ERROR,
        parts=("cuda", case.image_cuda_part),
        reason=f"the job needs CUDA {wanted.label}, but {case.image_name} has CUDA {present.label}",
        fix=f'use an image with CUDA {wanted.newest}, or cuda: "{present.label}"',
        chain=(
            f"{case.image_name} has CUDA {present.label}",
            f"only CUDA {wanted.label} or a newer {wanted.version[0]}.x has all of CUDA {wanted.label}",
            "so programs that were built for it may not start",
        ),
    )


def stated_cuda_and_image(case: Case) -> Iterator[Finding]:
    """The CUDA version that is stated for an image is the one that its tag names."""
    present, stated = case.image_cuda, case.stated_image_cuda
    if present and stated and present.version != stated.version:
        yield Finding(
            level=Level.ERROR,
            parts=("image", "image_cuda"),
            reason=f"{case.image_name} has CUDA {present.label}, but CUDA {stated.label} is stated for it",
            fix=f'use a tag with CUDA {stated.newest}, or write "{present.label}" if the tag is correct',
            chain=(f"the tag of {case.image_name} names CUDA {present.label}",),
        )


def image_end_of_life(case: Case) -> Iterator[Finding]:
    """NVIDIA deletes the tags of an image after its end of life."""
    image = case.image
    if image is None or image.cuda is None or image.kept:
        return
    copy = "copy it to your own registry and name it by its digest"
    end, newest = end_of_life(image), newest_of(image)
    if superseded(image) and newest:
        supported = end is None or end >= case.as_of
        yield Finding(
            level=Level.WARNING,
            parts=("image",),
            reason=f"CUDA {image.cuda.newest} supersedes {image.reference}",
            fix=either(f"use {newest.reference.rpartition(':')[2]}" if supported else "", copy),
            chain=(
                f"{image.cuda.newest} is a newer point release of CUDA {image.cuda.label}",
                "NVIDIA stops supporting an image at the next point release, and deletes its tags six months later",
            ),
        )
    elif end is not None and end < case.as_of:
        deleted = deleted_from(end)
        when = "may have been deleted since" if deleted <= case.as_of else "may be deleted from"
        yield Finding(
            level=Level.WARNING,
            parts=("image",),
            reason=f"{image.reference} reached its end of life with its last driver branch on {end}, "
            f"and {when} {deleted}",
            fix=copy,
            chain=(
                f"the last driver branch for CUDA {image.cuda.version[0]} reached its end of life on {end}",
                f"NVIDIA deletes the tags of its images six months later, on {deleted}",
            ),
        )


SOFTWARE: Final[tuple[Callable[[Case], Iterator[Finding]], ...]] = (
    torch_and_gpu,
    torch_and_image,
    onnxruntime_and_cuda,
    stated_cuda_and_image,
    cuda_and_image,
    image_end_of_life,
)
