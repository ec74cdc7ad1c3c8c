"""The section `cirun-gcp` of a runner."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from gpu_ci.back_ends.shared.cirun.section import CirunSection
from gpu_ci.stack_file.values.general import GcpZone, MachineType, Markets, Name, Positive, Size


class CirunGcpSection(CirunSection):
    """Served by cirun, which starts a Compute Engine instance for each job."""

    NEEDS: ClassVar = ("gcp", "host-image")
    CLOUD: ClassVar = "gcp"

    machine_types: Annotated[tuple[MachineType, ...], Field(min_length=1)]
    zones: Annotated[tuple[GcpZone, ...], Field(min_length=1)]
    """Zones, in the order in which they are tried."""
    image_family: Name
    """The family of the image that `host-image` builds."""
    spot: Markets = (True,)
    """Markets, in the order in which they are tried: `[true, false]` falls back to on-demand."""
    disk: Size = "100Gi"
    at_once: Positive = 1
    """Jobs at the same time, for the checks of quota and cost. cirun itself has no limit."""
