"""What a person changes in the stack file to get another driver or other CUDA libraries, in words.

What would work is looked up in `gpu.software.compatibility.remedies`. A driver that nothing in the stack file chooses is not
offered: nobody could take it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.software.compatibility.finding import article, install
from gpu.software.compatibility.remedies import nearest_gpu, newest_cuda, newest_onnxruntime, newest_torch
from gpu.software.cuda import Support, support

if TYPE_CHECKING:
    from collections.abc import Collection

    from gpu.machines import GpuModel
    from gpu.software.architectures import KernelModule
    from gpu.software.compatibility.case import Case, Runtime
    from gpu.software.drivers import Branch, Driver


def take_branch(case: Case, branch: Branch | None, modules: Collection[KernelModule] = ()) -> str:
    """How to come to a driver branch, with one of those kernel modules; empty where nothing stated decides it."""
    if branch is None:
        return ""
    wanted = f" with the {next(iter(modules))} kernel modules" if len(modules) == 1 else ""
    if case.machine_image is not None:
        key = case.machine_image_key
        return f"name images that carry driver {branch.label}{wanted} and leave {key} out" if key else ""
    if not case.driver_key:
        return f"take driver {branch.label}{wanted}"
    fixed = case.driver.module if case.driver else None
    if modules and fixed is not None and fixed not in modules:
        return ""
    return f'set {case.driver_key} to "{branch.number}"'


def take_gpu(case: Case, model: GpuModel, driver: Driver) -> str:
    """Another GPU, which the driver drives and on which everything runs that is to run."""
    other = nearest_gpu(model, driver, tuple(runtime.toolkit for runtime in case.runtimes))
    return f"take {article(other.slug)} {other.slug}" if other else "take another GPU"


def take_runtime(case: Case, runtime: Runtime, driver: Driver, *, fully: bool = False) -> str:
    """Other CUDA libraries in the place of those: ones that the driver carries, or carries in full."""
    if runtime.term == "torch":
        build = newest_torch(case.gpus, driver, fully=fully)
        return f"install {install(build)}" if build else ""
    if runtime.term == "onnxruntime":
        found = newest_onnxruntime(driver.branch.cuda[0])
        return f"use {found.label}" if found and not fully else ""
    cuda = newest_cuda(case.gpus, driver)
    if cuda is None or (fully and support(driver, cuda) is not Support.FULL):
        return ""
    return f'use cuda: "{cuda.label}"' if runtime.term == "cuda" else f"use an image with CUDA {cuda.newest}"
