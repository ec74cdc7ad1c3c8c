"""What is asked of one kind of machine, and the same with every name looked up in the tables.

Owns the asking and the looking up; what follows from it is in `gpu.software.compatibility.finding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gpu.machines import GpuModel, gpu_model
from gpu.nearest import UnknownName
from gpu.software.cuda import TOOLKITS, Toolkit, toolkit
from gpu.software.drivers import AS_OF, Driver, driver
from gpu.software.frameworks import OnnxRuntimeBuild, TorchBuild, onnxruntime, torch
from gpu.software.image_tags import ContainerImage, container_image
from gpu.software.machine_images import MachineImage, driver_of, machine_image

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Any part of what a job and its machine are to be. What is not stated constrains nothing."""

    path: str
    """Where it is stated, as in `runners.gpu-t4`."""
    gpus: tuple[str, ...] = ()
    """GPU models by slug; the job may land on any of them."""
    driver: str | None = None
    """A branch, an exact version or an Ubuntu package."""
    machine_image: str | None = None
    """A machine image that carries a driver (`gpu.software.machine_images`)."""
    cuda: str | None = None
    """The CUDA version that the job needs."""
    image: str | None = None
    """The reference of the container image that the job runs in."""
    image_cuda: str | None = None
    """The CUDA version in that image, where whoever builds it states one."""
    torch: str | None = None
    """A torch version, with or without its CUDA variant."""
    onnxruntime: str | None = None
    """A version of onnxruntime-gpu."""
    mig: bool = False
    """Whether the GPU is to be cut into MIG slices."""
    places: tuple[tuple[str, str], ...] = ()
    """The path of each part that has one of its own and is to blame for what it takes part in."""
    elsewhere: tuple[str, ...] = ()
    """Parts that are judged where they stand: what is wrong with them alone is not told here again."""
    driver_key: str = ""
    """The key of the stack file that chooses the driver's branch."""
    machine_image_key: str = ""
    """The key of the stack file that names the machine image, beside exact images that were once found by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """CUDA libraries that something in the job brings or needs."""

    term: str
    """The part of the asking that they come from."""
    toolkit: Toolkit
    label: str
    """What they are, as the beginning of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An asking, looked up."""

    gpus: tuple[GpuModel, ...] = ()
    driver: Driver | None = None
    driver_term: str = "driver"
    """Which part of the asking named the driver."""
    stated_driver: Driver | None = None
    machine_image: MachineImage | None = None
    cuda: Toolkit | None = None
    image: ContainerImage | None = None
    image_cuda: Toolkit | None = None
    torch: TorchBuild | None = None
    torch_term: str = "torch"
    """Which part of the asking brings torch."""
    stated_torch: TorchBuild | None = None
    onnxruntime: OnnxRuntimeBuild | None = None
    stated_image_cuda: Toolkit | None = None
    mig: bool = False
    driver_key: str = ""
    """The key that chooses the driver's branch."""
    driver_is_to_blame: bool = False
    """Whether the driver serves more than this: it is then what has to change."""
    machine_image_key: str = ""
    """The key that names the machine image beside exact ones."""
    as_of: date = AS_OF
    """The day on which ends of life are judged."""

    @property
    def image_term(self) -> str:
        """Which part of the asking names the CUDA in the image."""
        return "image" if self.image and self.image.cuda else "image-cuda"

    @property
    def image_name(self) -> str:
        """The container image in a sentence."""
        return self.image.reference if self.image else "the image"

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        """All CUDA libraries that are to run."""
        found: list[Runtime] = []
        if self.cuda:
            found.append(Runtime(term="cuda", toolkit=self.cuda, label=f"CUDA {self.cuda.label}"))
        if self.image_cuda and not (self.image and self.image.torch):
            label = f"CUDA {self.image_cuda.label} of {self.image_name}"
            found.append(Runtime(term=self.image_term, toolkit=self.image_cuda, label=label))
        if self.torch:
            label = f"CUDA {self.torch.cuda[0]}.{self.torch.cuda[1]} inside {self.torch.label}"
            found.append(Runtime(term=self.torch_term, toolkit=TOOLKITS[self.torch.cuda], label=label))
        if self.onnxruntime:
            label = f"CUDA {self.onnxruntime.cuda} that {self.onnxruntime.label} loads"
            found.append(Runtime(term="onnxruntime", toolkit=TOOLKITS[self.onnxruntime.cuda, 0], label=label))
        return tuple(found)


def look_up(ask: Ask, as_of: date) -> tuple[Case, tuple[tuple[str, UnknownName], ...]]:
    """The asking with its names looked up, and the names that no table holds, each with its term.

    An unknown name is left out of the case, so that everything else is judged all the same.
    """
    unknown: list[tuple[str, UnknownName]] = []

    def known(term: str, find: Callable[[str], _T], name: str | None) -> _T | None:
        try:
            return find(name) if name is not None else None
        except UnknownName as fault:
            unknown.append((term, fault))
            return None

    machine = known("machine-image", machine_image, ask.machine_image)
    stated = known("driver", driver, ask.driver)
    image = known("image", container_image, ask.image)
    stated_torch = known("torch", torch, ask.torch)
    carried_torch = image.torch if image else None
    if stated_torch and carried_torch and ask.torch and "+" not in ask.torch:
        stated_torch = carried_torch if carried_torch.release == stated_torch.release else stated_torch
    image_cuda = known("image-cuda", toolkit, ask.image_cuda)
    case = Case(
        gpus=tuple(model for slug in ask.gpus if (model := known("gpu", gpu_model, slug))),
        driver=driver_of(machine) if machine else stated,
        driver_term="machine-image" if machine else "driver",
        stated_driver=stated,
        machine_image=machine,
        cuda=known("cuda", toolkit, ask.cuda),
        image=image,
        image_cuda=(image.cuda if image else None) or image_cuda,
        torch=carried_torch or stated_torch,
        torch_term="image" if carried_torch else "torch",
        stated_torch=stated_torch,
        onnxruntime=known("onnxruntime", onnxruntime, ask.onnxruntime),
        stated_image_cuda=image_cuda,
        mig=ask.mig,
        driver_key=ask.driver_key,
        driver_is_to_blame="driver" in dict(ask.places),
        machine_image_key=ask.machine_image_key,
        as_of=as_of,
    )
    return case, tuple(unknown)
