"""What works today and ends on a known day: driver branches, container images, GPUs that nothing new supports.

No clock: the day is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.software.architectures import architecture
from gpu.software.compatibility.finding import Finding, either, identity
from gpu.software.compatibility.remedies import best_branch
from gpu.software.compatibility.ways import take_branch
from gpu.software.image_tags import deleted_from, ends, newest_of, superseded
from gpu.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpu.software.compatibility.case import Case


def driver_branch(case: Case) -> Iterator[Finding]:
    """A branch past its end gets no fixes."""
    driver = case.driver
    if driver is None:
        return
    row = driver.branch
    if row.ended(case.as_of):
        other = best_branch(case.gpus, tuple(runtime.toolkit for runtime in case.runtimes), as_of=case.as_of)
        when = f"on {row.ends}" if row.ends_exactly else f"not later than {row.ends}"
        yield Finding(
            level=Level.WARNING,
            terms=(case.driver_term,),
            reason=f"driver branch {row.label} ended {when}",
            fix=take_branch(case, None if other is None or other.ended(case.as_of) else other) or "take another GPU",
            chain=(f"{driver.name} is of {row.label}, a {row.designation} branch", f"{row.label} ended {when}"),
        )
    if case.machine_image is not None and case.machine_image.moving and not case.machine_image_key:
        yield Finding(
            level=Level.WARNING,
            terms=(case.driver_term,),
            reason=f"{case.machine_image.name} always means its newest image, so its driver can change by itself",
            fix="name one image",
            chain=(f"when last seen it carried driver {driver.label}",),
        )


def container_image(case: Case) -> Iterator[Finding]:
    """An image that NVIDIA has ended may vanish from its registry."""
    image = case.image
    if image is None or image.cuda is None or image.kept:
        return
    copy = "keep a copy in a registry of your own, and name it by its digest"
    end = ends(image)
    newest = newest_of(image)
    if superseded(image) and newest:
        lives = end is None or end >= case.as_of
        tag = newest.reference.rpartition(":")[2]
        yield Finding(
            level=Level.WARNING,
            terms=("image",),
            reason=f"{image.reference} was superseded by CUDA {image.cuda.newest}",
            fix=either(f"use {tag}" if lives else "", copy),
            chain=(
                f"{image.cuda.newest} is a newer point release of CUDA {image.cuda.label}",
                "NVIDIA ends an image when a newer point release appears, and deletes its tags six months later",
            ),
        )
    elif end is not None and end < case.as_of:
        gone = deleted_from(end)
        tense = "may have been deleted since" if gone <= case.as_of else "may be deleted from"
        yield Finding(
            level=Level.WARNING,
            terms=("image",),
            reason=f"{image.reference} ended with its last driver branch on {end}, and {tense} {gone}",
            fix=copy,
            chain=(
                f"the last driver branch of the CUDA {image.cuda.version[0]} generation ended on {end}",
                f"NVIDIA deletes the tags of an ended image six months later, on {gone}",
            ),
        )


def frozen_gpu(case: Case) -> Iterator[Finding]:
    """A GPU that the newest CUDA and the newest drivers have left behind."""
    for model in case.gpus:
        known = architecture(model.capability)
        last = best_branch((model,), (), as_of=case.as_of)
        if known.last_driver is not None and last is not None:
            yield Finding(
                level=Level.WARNING,
                terms=("gpu",),
                reason=f"{model.slug} is frozen at driver R{known.last_driver} and CUDA {known.last_cuda}.x",
                fix="take t4 or anything newer when you can",
                chain=(identity(model), f"R{known.last_driver} ends on {last.ends}"),
            )


ENDS: tuple[Callable[[Case], Iterator[Finding]], ...] = (driver_branch, container_image, frozen_gpu)
