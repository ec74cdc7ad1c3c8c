"""The section `start-stop` of a runner."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from back_ends.machine.section import MachineSection
from config.section import Section
from config.values import Invalid, Matching, Size


class JarvisSettings(Section):
    """One instance of Jarvis Labs, which the workflow creates, resumes and pauses by its name."""

    name: Annotated[
        str,
        Matching(
            r"[A-Za-z0-9]([A-Za-z0-9 _-]{0,38}[A-Za-z0-9])?",
            "the name of an instance",
            "use at most 40 letters, digits, spaces, _ and -",
        ),
    ]
    """The instance's name, unique in the account."""
    template: Annotated[str, Matching(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?", "a template", "write it as pytorch")] = (
        "pytorch"
    )
    storage: Size = "100Gi"
    region: Literal["india-chennai-01", "india-noida-01", "europe-01"] | None = None
    """Without it, Jarvis Labs chooses a region."""
    max_hours: Annotated[int, Field(ge=1, le=168)] = 4
    """Hours after a start at which a scheduled workflow pauses the instance in any case."""


class StartStopSection(Section):
    """Served by one machine that a workflow starts for its tests and stops afterwards."""

    NEEDS: ClassVar = ("github",)

    machine: MachineSection | None = None
    """A machine on EC2 or Compute Engine."""
    jarvis: JarvisSettings | None = None
    """An instance of Jarvis Labs."""

    @model_validator(mode="after")
    def _has_one_machine(self) -> StartStopSection:
        if (self.machine is None) == (self.jarvis is None):
            raise Invalid(
                "exactly one of machine and jarvis is needed", "state machine (EC2, Compute Engine) or jarvis"
            )
        return self


SECTION = StartStopSection
