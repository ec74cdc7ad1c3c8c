"""The section `cirun-aws` of a runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from gpu_ci.back_ends.shared.cirun.section import CirunSection
from gpu_ci.stack_file.sections.machines import Types
from gpu_ci.stack_file.values.general import Ami, ImageParameter, Markets, Positive, Region, Size, SubnetId, Zone


class CirunAwsSection(CirunSection):
    """Served by cirun, which starts an EC2 instance for each job."""

    NEEDS: ClassVar = ("aws",)
    CLOUD: ClassVar = "aws"

    instance_types: Types
    regions: Annotated[tuple[Region, ...], Field(min_length=1)]
    """Regions, in the order in which they are tried."""
    images: Annotated[Mapping[Region, Ami], Field(min_length=1)]
    """The AMI for each region; an AMI exists in one region only."""
    image_parameter: ImageParameter | None = None
    """The SSM parameter that names the newest image; the output `cirun_aws` has the command that reads it."""
    zones: tuple[Zone, ...] = ()
    """Zones of cirun's own network. In a region without one, AWS chooses a zone for the only subnet."""
    subnets: Mapping[Region, Annotated[tuple[SubnetId, ...], Field(min_length=1)]] = Field(default_factory=dict)
    """The subnets of cirun's own network for each region, in the order in which they are tried. The output `cirun_aws`
    lists them. Without them, cirun uses the default network of the region."""
    spot: Markets = (True,)
    """Markets, in the order in which they are tried: `[true, false]` falls back to on-demand."""
    disk: Size = "100Gi"
    at_once: Positive = 1
    """Jobs at the same time, for the checks of quota and cost. cirun itself has no limit."""

    def amis(self) -> Mapping[str, tuple[str, str]]:
        """Return the images."""
        return {f"images.{region}": (region, image) for region, image in self.images.items()}
