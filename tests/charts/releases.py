"""The Helm releases of the committed stack files, as they would be installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ops.plan.model import Planned
from tests.plan import stacks

TYPE: Final = "kubernetes:helm.sh/v3:Release"
CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"


@dataclass(frozen=True, slots=True)
class Release:
    """One release of one stack."""

    stack: str
    planned: Planned

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The registered values."""
        return self.planned.inputs

    @property
    def chart(self) -> str:
        """The chart's own name, without where it is."""
        return str(self.inputs["chart"]).rpartition("/")[2]

    @property
    def values(self) -> dict[str, Any]:
        """The values of the release."""
        return dict(self.inputs["values"])

    def __str__(self) -> str:
        return f"{self.stack}:{self.planned.name}"


def of(stack: str, *charts: str) -> tuple[Release, ...]:
    """A stack's releases of these charts; all of them where none is named."""
    found = tuple(Release(stack, planned) for planned in stacks.planned(stack).of(TYPE))
    return tuple(release for release in found if release.chart in charts) if charts else found


STACKS: Final = tuple(name for name in stacks.NAMES if "gpu-ci:cluster" in stacks.stack_file(name).config)
"""The committed stack files with a cluster."""
