"""Search the tables for the nearest part that works, and write the fix that uses it.

The searches use the same predicates as the rules, so that a fix never leads to another error of the same kind. A fix
names only what the stack file can change.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from gpu_ci.knowledge.machines import GPU_MODELS, GpuModel
from gpu_ci.knowledge.software.architectures import Architecture, KernelModule, architecture
from gpu_ci.knowledge.software.cuda import TOOLKITS, Support, Toolkit, dropped, native, support
from gpu_ci.knowledge.software.drivers import BRANCHES, Branch, Designation, Driver
from gpu_ci.knowledge.software.frameworks import ONNXRUNTIME, TORCH, OnnxRuntimeBuild, TorchBuild
from gpu_ci.knowledge.software.machine_images import states_a_branch
from gpu_ci.knowledge.software.versions import dotted

if TYPE_CHECKING:
    from gpu_ci.knowledge.software.compatibility.query import Case, Runtime


def first_branch(wanted: Architecture) -> int:
    """Return the first driver branch that supports an architecture: the one its first CUDA was released with."""
    known = TOOLKITS.get(wanted.first_cuda)
    return known.driver[0] if known else 0


def drives(driver: Driver, model: GpuModel) -> bool:
    """Return whether a driver supports a GPU with the kernel module that it brings."""
    wanted, number = architecture(model.capability), driver.branch.number
    return (
        first_branch(wanted) <= number
        and (wanted.last_driver is None or number <= wanted.last_driver)
        and (driver.module is None or driver.module in wanted.modules)
    )


def runs(wanted: Toolkit, gpu: GpuModel | None, driver: Driver | None) -> bool:
    """Return whether a toolkit runs on that GPU with that driver."""
    return (driver is None or support(driver, wanted) is not Support.NONE) and not (
        gpu is not None and dropped(wanted, architecture(gpu.capability))
    )


@cache
def newest_cuda(gpu: GpuModel | None, driver: Driver | None, *, major: int | None = None) -> Toolkit | None:
    """Return the newest toolkit that runs there, of one major version if given; a fully supported one is preferred."""
    working = [
        wanted
        for wanted in TOOLKITS.values()
        if major in {None, wanted.version[0]}
        and runs(wanted, gpu, driver)
        and (gpu is None or native(wanted, architecture(gpu.capability)))
    ]
    full = [wanted for wanted in working if driver is None or support(driver, wanted) is Support.FULL]
    return full[-1] if full else working[-1] if working else None


@cache
def oldest_gpu(wanted: Toolkit, driver: Driver | None, *, newer_than: GpuModel) -> GpuModel | None:
    """Return the GPU of the oldest architecture that runs a toolkit, at least as new as another GPU."""
    for model in sorted(GPU_MODELS.values(), key=lambda one: one.capability):
        able = driver is None or drives(driver, model)
        if model.capability >= newer_than.capability and able and runs(wanted, model, driver):
            return model
    return None


@cache
def nearest_gpu(model: GpuModel, driver: Driver, toolkits: tuple[Toolkit, ...]) -> GpuModel | None:
    """Return the GPU nearest to `model` that the driver supports and the toolkits run on; newer GPUs come first."""
    working = [
        other
        for other in GPU_MODELS.values()
        if drives(driver, other) and all(runs(wanted, other, driver) for wanted in toolkits)
    ]
    newer = [other for other in working if other.capability > model.capability]
    if newer:
        return min(newer, key=lambda other: other.capability)
    return max(working, key=lambda other: other.capability, default=None)


@cache
def best_branch(gpu: GpuModel | None, toolkits: tuple[Toolkit, ...], *, as_of: date) -> Branch | None:
    """Return the best driver branch for a GPU and toolkits.

    The order of preference: still supported, with a published end of life, full support of the toolkits, long-term
    support, newest.
    """
    working: list[tuple[tuple[bool, bool, bool, bool, int], Branch]] = []
    for row in BRANCHES.values():
        candidate = Driver(name=row.label, branch=row)
        levels = {support(candidate, wanted) for wanted in toolkits}
        if (gpu is None or drives(candidate, gpu)) and Support.NONE not in levels:
            order = (
                not row.ended(as_of),
                row.ends is not None,
                levels <= {Support.FULL},
                row.designation is Designation.LONG_TERM_SUPPORT,
                row.number,
            )
            working.append((order, row))
    return max(working, key=lambda pair: pair[0])[1] if working else None


@cache
def newest_torch(gpu: GpuModel | None, driver: Driver | None, *, fully: bool = False) -> TorchBuild | None:
    """Return the newest torch that runs there; of one release, the package index's default variant comes first.

    With `fully`, the driver supports all of the wheel's CUDA.
    """
    enough = {Support.FULL} if fully else {Support.FULL, Support.MINOR_VERSION}
    working = [
        build
        for build in TORCH.values()
        if (gpu is None or build.runs_on(architecture(gpu.capability)))
        and (driver is None or support(driver, TOOLKITS[build.cuda]) in enough)
    ]
    return max(working, key=lambda build: (build.release, build.default, build.cuda), default=None)


def newest_onnxruntime(cuda: int) -> OnnxRuntimeBuild | None:
    """Return the newest onnxruntime-gpu for one major version of CUDA."""
    builds = [build for build in ONNXRUNTIME.values() if build.cuda == cuda]
    return max(builds, key=lambda build: build.release, default=None)


def use_branch(case: Case, branch: Branch | None, modules: Collection[KernelModule] = ()) -> str:
    """Return how to get a driver branch with one of the kernel modules; empty where the stack file cannot choose it."""
    query, driver = case.query, case.driver
    if branch is None:
        return ""
    stated = query.machine_image is not None and states_a_branch(query.machine_image)
    if query.machine_image is not None and not stated:
        module = f" with the {next(iter(modules))} kernel modules" if len(modules) == 1 else ""
        key = query.machine_image_key
        return f"use images with driver {branch.label}{module} and remove {key}" if key else ""
    if modules and driver is not None and driver.module is not None and driver.module not in modules:
        return ""
    return f'set {query.machine_image_key if stated else query.driver_key} to "{branch.number}"'


def use_gpu(model: GpuModel | None) -> str:
    """Return how to get another GPU."""
    return f"use the GPU {model.slug}" if model else "use another GPU"


def use_runtime(case: Case, runtime: Runtime, driver: Driver, *, fully: bool = False) -> str:
    """Return how to replace CUDA libraries by ones that the driver supports, or fully supports; empty if none do."""
    if runtime.part == "torch":
        build = newest_torch(case.gpu, driver, fully=fully)
        return f"install {install(build)}" if build else ""
    if runtime.part == "onnxruntime":
        found = newest_onnxruntime(driver.branch.cuda[0])
        return f"use {found.label}" if found and not fully else ""
    cuda = newest_cuda(case.gpu, driver)
    if cuda is None or (fully and support(driver, cuda) is not Support.FULL):
        return ""
    return f'use cuda: "{cuda.label}"' if runtime.part == "cuda" else f"use an image with CUDA {cuda.newest}"


def install(build: TorchBuild) -> str:
    """Return the arguments of pip that install a wheel."""
    version = f"torch=={dotted(build.release)}.{build.patch}"
    return version if build.default else f"{version} --index-url https://download.pytorch.org/whl/{build.variant}"


def either(*fixes: str) -> str:
    """Join the fixes that exist."""
    return ", or ".join(fix for fix in fixes if fix)


def identity(model: GpuModel) -> str:
    """Describe a GPU by its architecture."""
    return f"{model.slug} is {model.sm} ({architecture(model.capability).name})"
