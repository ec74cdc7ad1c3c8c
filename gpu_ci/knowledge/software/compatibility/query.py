"""A compatibility query, the same query with every name looked up in the tables, and the findings of the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from gpu_ci.knowledge.machines import GpuModel, gpu_model
from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.cuda import TOOLKITS, Toolkit, toolkit
from gpu_ci.knowledge.software.drivers import AS_OF, Driver, ubuntu_driver
from gpu_ci.knowledge.software.frameworks import OnnxRuntimeBuild, TorchBuild, onnxruntime, torch
from gpu_ci.knowledge.software.image_tags import ContainerImage, container_image
from gpu_ci.knowledge.software.machine_images import driver_of
from gpu_ci.knowledge.verdict import Level

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The software and hardware of one job, as the stack file names them. An absent part constrains nothing."""

    gpu: str | None = None
    """A GPU model by its slug."""
    driver: str | None = None
    """A driver branch that Ubuntu's server packages install, for example `580`."""
    driver_key: str = ""
    """The path in the stack file that chooses the driver branch."""
    driver_is_shared: bool = False
    """Whether other queries have the same driver, so that the fix is another driver and not another CUDA version."""
    machine_image: str | None = None
    """A machine image that brings a driver (`gpu_ci.knowledge.software.machine_images`)."""
    machine_image_key: str = ""
    """The path in the stack file that names the machine image; empty where the program chooses it."""
    cuda: str | None = None
    """The CUDA version that the job needs."""
    image: str | None = None
    """The reference of the container image that the job runs in."""
    image_cuda: str | None = None
    """The CUDA version in that image, as the stack file states it."""
    torch: str | None = None
    """A torch version, with or without its CUDA variant."""
    onnxruntime: str | None = None
    """A version of onnxruntime-gpu."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An incompatibility, or something that works and may surprise."""

    level: Level
    parts: tuple[str, ...]
    """The fields of the query that take part; removing any of them from the query removes the finding."""
    reason: str
    fix: str
    chain: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """CUDA libraries that a part of the job brings or needs."""

    part: str
    """The field of the query that they come from."""
    toolkit: Toolkit
    label: str
    """A description that can start a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A query with its names looked up. A name that no table has is absent."""

    query: Query
    gpu: GpuModel | None
    driver: Driver | None
    cuda: Toolkit | None
    image: ContainerImage | None
    stated_image_cuda: Toolkit | None
    stated_torch: TorchBuild | None
    onnxruntime: OnnxRuntimeBuild | None
    as_of: date
    """The day on which ends of life are checked."""

    @property
    def driver_part(self) -> str:
        """The field of the query that names the driver."""
        return "driver" if self.query.machine_image is None else "machine_image"

    @property
    def image_cuda(self) -> Toolkit | None:
        """The CUDA version in the container image: the one that its tag names, else the stated one."""
        return (self.image.cuda if self.image else None) or self.stated_image_cuda

    @property
    def image_cuda_part(self) -> str:
        """The field of the query that names the CUDA version in the image."""
        return "image" if self.image and self.image.cuda else "image_cuda"

    @property
    def image_name(self) -> str:
        """The container image in a sentence."""
        return self.image.reference if self.image else "the image"

    @property
    def torch(self) -> TorchBuild | None:
        """The torch build that runs: the image's own, else the stated one."""
        return (self.image.torch if self.image else None) or self.stated_torch

    @property
    def torch_part(self) -> str:
        """The field of the query that brings torch."""
        return "image" if self.image and self.image.torch else "torch"

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        """All CUDA libraries that the driver and the GPU have to run."""
        found: list[Runtime] = []
        if self.cuda:
            found.append(Runtime(part="cuda", toolkit=self.cuda, label=f"CUDA {self.cuda.label}"))
        if self.image_cuda and not (self.image and self.image.torch):
            label = f"CUDA {self.image_cuda.label} of {self.image_name}"
            found.append(Runtime(part=self.image_cuda_part, toolkit=self.image_cuda, label=label))
        if self.torch:
            label = f"CUDA {self.torch.cuda[0]}.{self.torch.cuda[1]} inside {self.torch.label}"
            found.append(Runtime(part=self.torch_part, toolkit=TOOLKITS[self.torch.cuda], label=label))
        if self.onnxruntime:
            label = f"CUDA {self.onnxruntime.cuda} that {self.onnxruntime.label} loads"
            found.append(Runtime(part="onnxruntime", toolkit=TOOLKITS[self.onnxruntime.cuda, 0], label=label))
        return tuple(found)

    @property
    def toolkits(self) -> tuple[Toolkit, ...]:
        """The toolkits of these libraries."""
        return tuple(runtime.toolkit for runtime in self.runtimes)


def look_up(query: Query, as_of: date = AS_OF) -> tuple[Case, tuple[tuple[str, UnknownName], ...]]:
    """Return the query with its names looked up, and the unknown names with the field that each is from.

    The other parts are still checked when a name is unknown.
    """
    unknown: list[tuple[str, UnknownName]] = []

    def known(part: str, find: Callable[[str], _T], name: str | None) -> _T | None:
        try:
            return find(name) if name is not None else None
        except UnknownName as fault:
            unknown.append((part, fault))
            return None

    machine_driver = known("machine_image", driver_of, query.machine_image)
    driver = known("driver", ubuntu_driver, query.driver)
    image = known("image", container_image, query.image)
    stated_torch = known("torch", torch, query.torch)
    in_image = image.torch if image else None
    if stated_torch and in_image and query.torch and "+" not in query.torch:
        # A version without a variant accepts any variant that the image has.
        stated_torch = in_image if in_image.release == stated_torch.release else stated_torch
    case = Case(
        query=query,
        gpu=known("gpu", gpu_model, query.gpu),
        driver=machine_driver or driver,
        cuda=known("cuda", toolkit, query.cuda),
        image=image,
        stated_image_cuda=known("image_cuda", toolkit, query.image_cuda),
        stated_torch=stated_torch,
        onnxruntime=known("onnxruntime", onnxruntime, query.onnxruntime),
        as_of=as_of,
    )
    return case, tuple(unknown)
