"""The nearest thing that works: a search through the tables, used where something does not.

Everything found here is checked by the same predicates as the rules use, so that a way out is never a dead end.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gpu.machines import GPU_MODELS, GpuModel
from gpu.software.architectures import Architecture, architecture
from gpu.software.cuda import TOOLKITS, Support, Toolkit, dropped, native, support
from gpu.software.drivers import BRANCHES, Branch, Designation, Driver
from gpu.software.frameworks import ONNXRUNTIME, TORCH, OnnxRuntimeBuild, TorchBuild

if TYPE_CHECKING:
    from datetime import date


def first_branch(wanted: Architecture) -> int:
    """The first driver branch that drives an architecture: the one its first CUDA was released with."""
    known = TOOLKITS.get(wanted.first_cuda)
    return known.driver[0] if known else 0


def drives(driver: Driver, wanted: Architecture) -> bool:
    """Whether a driver drives an architecture, with the kernel module it commits to."""
    number = driver.branch.number
    return (
        first_branch(wanted) <= number
        and (wanted.last_driver is None or number <= wanted.last_driver)
        and (driver.module is None or driver.module in wanted.modules)
    )


def carries(driver: Driver | None, wanted: Toolkit, gpus: tuple[GpuModel, ...]) -> bool:
    """Whether a toolkit runs on that driver and on each of those GPUs."""
    architectures = [architecture(model.capability) for model in gpus]
    return (driver is None or support(driver, wanted) is not Support.NONE) and not any(
        dropped(wanted, one) for one in architectures
    )


@cache
def newest_cuda(gpus: tuple[GpuModel, ...], driver: Driver | None, *, major: int | None = None) -> Toolkit | None:
    """The newest toolkit that runs there, one that the driver knows all of where there is one.

    `major` asks for one of that major version.
    """
    working = [
        wanted
        for wanted in TOOLKITS.values()
        if major in {None, wanted.version[0]}
        and carries(driver, wanted, gpus)
        and all(native(wanted, architecture(model.capability)) for model in gpus)
    ]
    full = [wanted for wanted in working if driver is None or support(driver, wanted) is Support.FULL]
    return full[-1] if full else working[-1] if working else None


@cache
def modest_gpu(wanted: Toolkit, driver: Driver | None, *, beside: tuple[GpuModel, ...]) -> GpuModel | None:
    """The GPU of the oldest architecture that runs a toolkit, newer than those that do not."""
    floor = max((model.capability for model in beside), default=(0, 0))
    for model in sorted(GPU_MODELS.values(), key=lambda one: one.capability):
        able = driver is None or drives(driver, architecture(model.capability))
        if model.capability >= floor and able and carries(driver, wanted, (model,)):
            return model
    return None


@cache
def nearest_gpu(model: GpuModel, driver: Driver, toolkits: tuple[Toolkit, ...]) -> GpuModel | None:
    """The GPU nearest to one that a driver does not drive, on which those toolkits run; newer ones come first."""
    working = [
        other
        for other in GPU_MODELS.values()
        if drives(driver, architecture(other.capability)) and all(carries(driver, one, (other,)) for one in toolkits)
    ]
    newer = [other for other in working if other.capability > model.capability]
    if newer:
        return min(newer, key=lambda other: other.capability)
    return max(working, key=lambda other: other.capability, default=None)


@cache
def best_branch(gpus: tuple[GpuModel, ...], toolkits: tuple[Toolkit, ...], *, as_of: date) -> Branch | None:
    """The branch to take for those GPUs and toolkits.

    One that lives, whose end NVIDIA has said, that knows all of the toolkits, and that lives long: in this order.
    """
    architectures = [architecture(model.capability) for model in gpus]
    working: list[tuple[tuple[bool, bool, bool, bool, int], Branch]] = []
    for row in BRANCHES.values():
        candidate = Driver(name=row.label, branch=row)
        levels = {support(candidate, wanted) for wanted in toolkits}
        if all(drives(candidate, one) for one in architectures) and Support.NONE not in levels:
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
def newest_torch(gpus: tuple[GpuModel, ...], driver: Driver | None, *, fully: bool = False) -> TorchBuild | None:
    """The newest torch whose wheel runs there; of one release, what the package index serves comes first.

    `fully` asks that the driver knows all of the wheel's CUDA.
    """
    enough = {Support.FULL} if fully else {Support.FULL, Support.MINOR_VERSION}
    working = [
        build
        for build in TORCH.values()
        if all(build.runs_on(architecture(model.capability)) for model in gpus)
        and (driver is None or support(driver, TOOLKITS[build.cuda]) in enough)
    ]
    return max(working, key=lambda build: (build.release, build.default, build.cuda), default=None)


def newest_onnxruntime(cuda: int) -> OnnxRuntimeBuild | None:
    """The newest onnxruntime-gpu for one major version of CUDA."""
    return max(
        (build for build in ONNXRUNTIME.values() if build.cuda == cuda),
        key=lambda build: build.release,
        default=None,
    )
