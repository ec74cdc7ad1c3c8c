"""The rules between GPU, driver and CUDA libraries, each over as few parts of the query as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from gpu_ci.knowledge.machines import GpuModel
from gpu_ci.knowledge.software.architectures import architecture
from gpu_ci.knowledge.software.compatibility.query import Finding
from gpu_ci.knowledge.software.compatibility.remedies import (
    best_branch,
    drives,
    either,
    first_branch,
    identity,
    install,
    nearest_gpu,
    newest_cuda,
    newest_onnxruntime,
    newest_torch,
    oldest_gpu,
    use_branch,
    use_gpu,
    use_runtime,
)
from gpu_ci.knowledge.software.cuda import FLOORS, Support, dropped, native, support
from gpu_ci.knowledge.software.drivers import written
from gpu_ci.knowledge.software.versions import dotted
from gpu_ci.knowledge.verdict import Level

if TYPE_CHECKING:
    from gpu_ci.knowledge.software.compatibility.query import Case, Runtime


def driver_of_another_branch(case: Case) -> Iterator[Finding]:
    """An Ubuntu package installs the branch that it is named after."""
    driver = case.driver
    if driver is not None and driver.instead_of is not None:
        yield Finding(
            level=Level.ERROR,
            parts=(case.driver_part,),
            reason=f"R{driver.instead_of} is not available: {driver.name} only installs {driver.branch.label}",
            fix=use_branch(case, driver.branch),
            chain=(
                f"{driver.name} is a transitional package in Ubuntu's archive",
                f"so it installs {driver.branch.label} and not R{driver.instead_of}",
            ),
        )


def driver_branch(case: Case) -> Iterator[Finding]:
    """A driver branch gets no fixes after its end of life."""
    driver = case.driver
    if driver is None or not driver.branch.ended(case.as_of):
        return
    row = driver.branch
    other = best_branch(case.gpu, case.toolkits, as_of=case.as_of)
    when = f"on {row.ends}" if row.ends_exactly else f"on or before {row.ends}"
    yield Finding(
        level=Level.WARNING,
        parts=(case.driver_part,),
        reason=f"driver branch {row.label} reached its end of life {when}",
        fix=use_branch(case, None if other is None or other.ended(case.as_of) else other) or use_gpu(None),
        chain=(
            f"{driver.name} is a driver of {row.label}, a {row.designation} branch",
            f"{row.label} reached its end of life {when}",
        ),
    )


def gpu_and_driver(case: Case) -> Iterator[Finding]:
    """The driver supports the GPU with the kernel module that it brings."""
    driver, model = case.driver, case.gpu
    if driver is None or model is None or drives(driver, model):
        return
    known = architecture(model.capability)
    number, first = driver.branch.number, first_branch(known)
    if known.last_driver is not None and number > known.last_driver:
        why = f"R{known.last_driver} is the last driver branch for {known.name}"
    elif number < first:
        why = f"{known.name} {model.sm} needs driver branch R{first} or newer"
    else:
        why = f"{known.name} needs the {next(iter(known.modules))} kernel modules, which {driver.name} does not have"
    branch = best_branch(model, case.toolkits, as_of=case.as_of) or best_branch(model, (), as_of=case.as_of)
    yield Finding(
        level=Level.ERROR,
        parts=("gpu", case.driver_part),
        reason=f"driver {driver.label} does not support {model.slug}: {why}",
        fix=use_branch(case, branch, known.modules) or use_gpu(nearest_gpu(model, driver, case.toolkits)),
        chain=(
            identity(model),
            f"{driver.name} is a driver of branch {driver.branch.label}",
            why,
            f"so driver {driver.label} does not support {model.slug}",
        ),
    )


def gpu_without_updates(case: Case) -> Iterator[Finding]:
    """New CUDA versions and new drivers support the GPU."""
    model = case.gpu
    if model is None:
        return
    known = architecture(model.capability)
    last = best_branch(model, (), as_of=case.as_of)
    if known.last_driver is not None and last is not None:
        yield Finding(
            level=Level.WARNING,
            parts=("gpu",),
            reason=f"{model.slug} gets no driver after R{known.last_driver} and no CUDA after {known.last_cuda}.x",
            fix="use t4 or a newer GPU when you can",
            chain=(identity(model), f"R{known.last_driver} reaches its end of life on {last.ends}"),
        )


def gpu_and_cuda(case: Case) -> Iterator[Finding]:
    """The CUDA libraries contain code that the GPU can run."""
    model = case.gpu
    if model is None:
        return
    known = architecture(model.capability)
    for runtime in case.runtimes:
        wanted = runtime.toolkit
        if dropped(wanted, known):
            yield _dropped(case, runtime, model)
        elif not native(wanted, known) and runtime.part not in {"torch", "onnxruntime"} and not case.torch:
            newer = newest_cuda(model, case.driver)
            yield Finding(
                level=Level.WARNING,
                parts=("gpu", runtime.part),
                reason=f"{runtime.label} is older than {model.slug} and has no machine code for {model.sm}",
                fix=f'use CUDA "{newer.label}"' if newer else "use a newer CUDA version",
                chain=(
                    identity(model),
                    f"CUDA {dotted(known.first_cuda)} is the first version that compiles for {model.sm}",
                    f"so programs that use {runtime.label} need PTX, which the driver compiles at the first start",
                ),
            )


def _dropped(case: Case, runtime: Runtime, model: GpuModel) -> Finding:
    known, major = architecture(model.capability), runtime.toolkit.version[0]
    cuda = newest_cuda(model, case.driver)
    other = oldest_gpu(runtime.toolkit, case.driver, newer_than=model)
    build = newest_torch(model, case.driver)
    in_image = f"use an image with CUDA {cuda.newest}" if cuda else ""
    fixes = {
        "torch": f"install {install(build)}" if build else "",
        "onnxruntime": f"use {found.label}" if (found := newest_onnxruntime(known.last_cuda or 0)) else "",
        "image": in_image,
        "image_cuda": in_image,
        "cuda": f'use cuda: "{cuda.label}"' if cuda else "",
    }
    return Finding(
        level=Level.ERROR,
        parts=("gpu", runtime.part),
        reason=f"{runtime.label} cannot run on {model.slug}: CUDA {major} dropped {model.sm}",
        fix=either(fixes[runtime.part], use_gpu(other) if other else ""),
        chain=(
            identity(model),
            f"CUDA {major} dropped {model.sm}; CUDA {known.last_cuda}.x is the last version for {known.name}",
            f"so {runtime.label} cannot run on {model.slug}",
        ),
    )


def driver_and_cuda(case: Case) -> Iterator[Finding]:
    """The driver is new enough for the CUDA libraries."""
    driver = case.driver
    if driver is None:
        return
    for runtime in case.runtimes:
        wanted, major = runtime.toolkit, runtime.toolkit.version[0]
        found = support(driver, wanted)
        branch = best_branch(case.gpu, (wanted,), as_of=case.as_of)
        released = f"CUDA {wanted.label} was released with driver {written(wanted.driver)}"
        if found is Support.MINOR_VERSION:
            newer = branch is not None and branch.number >= wanted.driver[0]
            yield Finding(
                level=Level.WARNING,
                parts=(case.driver_part, runtime.part),
                reason=f"{runtime.label} runs on driver {driver.label} only through minor version compatibility",
                fix=either(use_runtime(case, runtime, driver, fully=True), use_branch(case, branch) if newer else "")
                or "do not compile PTX at run time",
                chain=(
                    released,
                    f"driver {driver.label} is older and of the same generation, CUDA {major}",
                    "so it runs, but without features that this driver lacks and without compiling PTX",
                ),
            )
        elif found is Support.NONE:
            floor = written(FLOORS[major])
            upgrade = use_branch(case, branch)
            only_driver = upgrade and case.query.driver_is_shared
            yield Finding(
                level=Level.ERROR,
                parts=(case.driver_part, runtime.part),
                reason=f"{runtime.label} cannot run on driver {driver.label}: "
                f"CUDA {major}.x needs driver {floor} or newer",
                fix=either(upgrade, "" if only_driver else use_runtime(case, runtime, driver)) or use_gpu(None),
                chain=(
                    released,
                    f"within CUDA {major}.x, driver {floor} or newer is enough",
                    f"cuda-compat-{wanted.label.replace('.', '-')} is not assumed: it is for data-centre GPUs only",
                    f"so {runtime.label} cannot run on driver {driver.label}",
                ),
            )


HARDWARE: Final[tuple[Callable[[Case], Iterator[Finding]], ...]] = (
    driver_of_another_branch,
    gpu_and_driver,
    gpu_and_cuda,
    driver_and_cuda,
    driver_branch,
    gpu_without_updates,
)
