"""Runners: what a job may ask for, and the one back end that serves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar, get_args

from pydantic import Field

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import CudaVersion, Name, Size, Version

LONGEST_JOB: Final = 5 * 24 * 60
"""Minutes after which GitHub ends a job on a self-hosted runner (GitHub documentation, Actions limits, 2026)."""


class Needs(Section):
    """The resources and the software of one job."""

    gpu: Name = ""
    """The GPU model, as in `t4`, `a10g`, `l4`. Without it, the job runs on a node without a GPU."""
    gpus: Annotated[int, Field(ge=1, le=16)] = 1
    """The number of GPUs, with `gpu`."""
    cpu: Annotated[int, Field(ge=1, le=384)]
    memory: Size
    cuda: CudaVersion = ""
    """The CUDA version of the job, in quotes. It is required with `gpu`."""
    disk: Size | None = None
    """Disk space for the job's files, in addition to the image."""
    torch: Version | None = None
    """The PyTorch version that jobs install, in quotes, for the check of compatibility."""
    onnxruntime: Version | None = None
    """The version of onnxruntime-gpu that jobs install, in quotes."""

    @property
    def devices(self) -> int:
        """The number of GPUs; 0 without a GPU model."""
        return self.gpus if self.gpu else 0


class Workload(Section):
    """Figures of the jobs, for the estimates of cost and queue time."""

    jobs_per_month: Annotated[int, Field(ge=0, le=10_000_000)]
    minutes: Annotated[int, Field(ge=1, le=LONGEST_JOB)]
    """The duration of a typical job in minutes."""
    p95_minutes: Annotated[int, Field(ge=1, le=LONGEST_JOB)] | None = None
    """The 95th percentile of durations in minutes."""


_S = TypeVar("_S", bound=Section)


class RunnerSettings(Section):
    """One runner that a workflow can name in `runs-on`."""

    needs: Needs
    timeout_minutes: Annotated[int, Field(ge=1, le=LONGEST_JOB)]
    """The longest job in minutes. A pod or machine that runs one job ends a few minutes later."""
    workload: Workload | None = None
    queue_target_minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    """The longest time in minutes that a job should wait for its first step, at the 95th percentile."""

    @classmethod
    def back_ends(cls) -> Mapping[str, type[Section]]:
        """Return the back ends that a runner can name: the package to its section. A subclass has a field for each."""
        return {
            name: kind
            for name, field in cls.model_fields.items()
            if name not in RunnerSettings.model_fields
            for kind in get_args(field.annotation)
            if issubclass(kind, Section)
        }

    @property
    def stated(self) -> Mapping[str, Section]:
        """The sections of back ends that are stated, by the name of the back end's package; one in a valid file."""
        return {name: section for name in self.back_ends() if (section := getattr(self, name)) is not None}

    @property
    def back_end(self) -> str:
        """The package of the back end that serves the runner."""
        return next(iter(self.stated))

    def section(self, kind: type[_S]) -> _S:
        """Return the section of the back end that serves the runner.

        Raises:
            TypeError: another back end serves it.

        """
        section = self.stated[self.back_end]
        if not isinstance(section, kind):
            raise TypeError(f"the runner is served by {self.back_end}")
        return section
