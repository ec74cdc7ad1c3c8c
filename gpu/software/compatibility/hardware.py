"""What must hold between GPU, driver and CUDA: small rules, each over as few parts as it can be.

A finding names the parts that contradict each other; taking any one of them away removes the contradiction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.machines import GPU_MODELS
from gpu.software.architectures import architecture
from gpu.software.compatibility.finding import Finding, article, dotted_driver, either, identity, install
from gpu.software.compatibility.remedies import (
    best_branch,
    drives,
    first_branch,
    modest_gpu,
    newest_cuda,
    newest_onnxruntime,
    newest_torch,
)
from gpu.software.compatibility.ways import take_branch, take_gpu, take_runtime
from gpu.software.cuda import FLOORS, Support, dropped, native, support
from gpu.software.versions import dotted
from gpu.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpu.machines import GpuModel
    from gpu.software.compatibility.case import Case, Runtime


def driver_named_twice(case: Case) -> Iterator[Finding]:
    """A stated driver is the one that the machine image carries."""
    stated, machine, carried = case.stated_driver, case.machine_image, case.driver
    if not stated or not machine or not carried:
        return
    same = (
        stated.branch == carried.branch
        and stated.version in {None, carried.version}
        and stated.module in {None, carried.module}
    )
    if same:
        return
    yield Finding(
        level=Level.ERROR,
        terms=("driver", "machine-image"),
        reason=f"{machine.name} carries driver {carried.label}, and {stated.name} is stated",
        fix=f"state driver {carried.branch.number}, or take another image",
        chain=(f"{machine.name} carries driver {carried.label}", f"{stated.name} is of branch {stated.branch.label}"),
    )


def driver_of_another_branch(case: Case) -> Iterator[Finding]:
    """A package brings the branch that it is named after."""
    driver = case.driver
    if driver is not None and driver.instead_of is not None:
        yield Finding(
            level=Level.ERROR,
            terms=(case.driver_term,),
            reason=f"R{driver.instead_of} is not to be had: {driver.name} only pulls in {driver.branch.label}",
            fix=take_branch(case, driver.branch),
            chain=(
                f"{driver.name} is transitional in Ubuntu's archive",
                f"so {driver.branch.label} is what would run, and not R{driver.instead_of}",
            ),
        )


def gpu_and_driver(case: Case) -> Iterator[Finding]:
    """A driver drives the GPU, with the kernel module that it comes with."""
    driver = case.driver
    for model in case.gpus if driver else ():
        known = architecture(model.capability)
        if driver is None or drives(driver, known):
            continue
        number, first = driver.branch.number, first_branch(known)
        if known.last_driver is not None and number > known.last_driver:
            why = f"R{known.last_driver} is the last driver branch for {known.name}"
        elif number < first:
            why = f"{known.name} {model.sm} needs driver branch R{first} or newer"
        else:
            flavour = next(iter(known.modules))
            why = f"{known.name} is driven by the {flavour} kernel modules alone, and {driver.name} brings the others"
        toolkits = tuple(runtime.toolkit for runtime in case.runtimes)
        branch = best_branch((model,), toolkits, as_of=case.as_of) or best_branch((model,), (), as_of=case.as_of)
        yield Finding(
            level=Level.ERROR,
            terms=("gpu", case.driver_term),
            reason=f"driver {driver.label} does not drive {model.slug}: {why}",
            fix=take_branch(case, branch, known.modules) or take_gpu(case, model, driver),
            chain=(
                identity(model),
                f"{driver.name} is of driver branch {driver.branch.label}",
                why,
                f"so driver {driver.label} does not drive {model.slug}",
            ),
        )


def gpu_and_cuda(case: Case) -> Iterator[Finding]:
    """The CUDA libraries hold code that the GPU can run."""
    for runtime in case.runtimes:
        for model in case.gpus:
            known, wanted = architecture(model.capability), runtime.toolkit
            if dropped(wanted, known):
                yield _dropped(case, runtime, model)
            elif not native(wanted, known) and runtime.term not in {"torch", "onnxruntime"} and not case.torch:
                newer = newest_cuda((model,), case.driver)
                yield Finding(
                    level=Level.WARNING,
                    terms=("gpu", runtime.term),
                    reason=f"{runtime.label} is older than {model.slug}, and holds no machine code for {model.sm}",
                    fix=f'use CUDA "{newer.label}"' if newer else "use a newer CUDA",
                    chain=(
                        identity(model),
                        f"CUDA {dotted(known.first_cuda)} was the first to compile for {model.sm}",
                        f"so what {runtime.label} runs must carry PTX, which the driver compiles at the first start",
                    ),
                )


def _dropped(case: Case, runtime: Runtime, model: GpuModel) -> Finding:
    known, wanted = architecture(model.capability), runtime.toolkit
    cuda = newest_cuda((model,), case.driver)
    other = modest_gpu(wanted, case.driver, beside=(model,))
    build = newest_torch((model,), case.driver)
    ways = {
        "torch": f"install {install(build)}" if build else "",
        "onnxruntime": f"use {found.label}" if (found := newest_onnxruntime(known.last_cuda or 0)) else "",
        "image": f"use an image with CUDA {cuda.newest}" if cuda else "",
        "cuda": f'use cuda: "{cuda.label}"' if cuda else "",
    }
    ways["image-cuda"] = ways["image"]
    return Finding(
        level=Level.ERROR,
        terms=("gpu", runtime.term),
        reason=f"{runtime.label} cannot run on {model.slug}: CUDA {wanted.version[0]} dropped {model.sm}",
        fix=either(ways[runtime.term], f"take {article(other.slug)} {other.slug} pool" if other else ""),
        chain=(
            identity(model),
            f"CUDA {wanted.version[0]} dropped {model.sm}; CUDA {known.last_cuda}.x is the last for {known.name}",
            f"so {runtime.label} cannot run on {model.slug}",
        ),
    )


def driver_and_cuda(case: Case) -> Iterator[Finding]:
    """The driver is new enough for the CUDA libraries."""
    driver = case.driver
    for runtime in case.runtimes if driver else ():
        wanted = runtime.toolkit
        major = wanted.version[0]
        found = support(driver, wanted) if driver else Support.FULL
        if driver is None or found is Support.FULL:
            continue
        branch = best_branch(case.gpus, (wanted,), as_of=case.as_of)
        upgrade = take_branch(case, branch)
        start = f"CUDA {wanted.label} was released with driver {dotted_driver(wanted.driver)}"
        if found is Support.MINOR_VERSION:
            yield Finding(
                level=Level.WARNING,
                terms=(case.driver_term, runtime.term),
                reason=f"{runtime.label} runs on driver {driver.label} by minor version compatibility only",
                fix=either(
                    take_runtime(case, runtime, driver, fully=True),
                    upgrade if branch and branch.number >= wanted.driver[0] else "",
                )
                or "compile nothing at run time from PTX",
                chain=(
                    start,
                    f"driver {driver.label} is older, and of the same generation, CUDA {major}",
                    "so it runs, without what that driver does not know, and without compiling PTX of that toolkit",
                ),
            )
        else:
            yield Finding(
                level=Level.ERROR,
                terms=(case.driver_term, runtime.term),
                reason=(
                    f"{runtime.label} cannot run on driver {driver.label}: "
                    f"CUDA {major}.x needs driver {dotted_driver(FLOORS[major])} or newer"
                ),
                fix=either(upgrade, "" if upgrade and case.driver_is_to_blame else take_runtime(case, runtime, driver))
                or "take another GPU",
                chain=(
                    start,
                    f"within CUDA {major}.x, driver {dotted_driver(FLOORS[major])} or newer is enough",
                    f"cuda-compat-{wanted.label.replace('.', '-')}, for data-centre GPUs alone, is not counted on",
                    f"so {runtime.label} cannot run on driver {driver.label}",
                ),
            )


def mig_and_gpu(case: Case) -> Iterator[Finding]:
    """The GPU can be cut into MIG slices."""
    for model in case.gpus if case.mig else ():
        if not model.mig:
            able = ", ".join(one.slug for one in GPU_MODELS.values() if one.mig)
            yield Finding(
                level=Level.ERROR,
                terms=("gpu", "mig"),
                reason=f"{model.slug} cannot be cut into MIG slices",
                fix=f"take one of {able}, or share the GPU by time-slicing",
                chain=(identity(model), f"MIG exists on {able}", f"so {model.slug} is shared in time or not at all"),
            )


HARDWARE: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    driver_named_twice,
    driver_of_another_branch,
    gpu_and_driver,
    gpu_and_cuda,
    driver_and_cuda,
    mig_and_gpu,
)
