"""The section `start-stop` of a runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gpu_ci.back_ends.shared.machine.section import MachineSection
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Invalid, Matching, Size
from gpu_ci.stack_file.values.github import Branch, GitHubId, Repository


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


class StarterSettings(Section):
    """The only repository whose workflow can start and stop the machine."""

    name: Repository
    """Its name at GitHub, without the owner in `github.url`."""
    id: GitHubId
    """Its number: `gh api repos/OWNER/NAME --jq .id`."""
    owner_id: GitHubId
    """The number of its owner: `gh api repos/OWNER/NAME --jq .owner.id`."""


class StartStopSection(Section):
    """Served by one machine that a workflow starts for its tests and stops afterwards."""

    NEEDS: ClassVar = ("github",)
    OWN_WORKFLOW: ClassVar = True

    repository: StarterSettings | None = None
    """The repository whose workflow starts the machine, which trusts no other. An instance of Jarvis Labs has no role
    that could trust it."""
    start_minutes: Annotated[int, Field(ge=5, le=55)] = 20
    """Minutes to wait for capacity, for the machine, and until its runner is online."""
    queue_minutes: Annotated[int, Field(ge=2, le=120)] = 10
    """Minutes after which a run is cancelled if no runner has taken its job."""
    pull_requests_from: tuple[Branch, ...] = ()
    """The only branches whose pull requests are tested, as in `development`. Without them, every branch of the
    repository is."""
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
        if self.machine is not None and self.repository is None:
            raise Invalid("repository is missing, whose workflow starts the machine", "state repository")
        if self.jarvis is not None and self.repository is not None:
            raise Invalid("repository is for machine only", "remove repository: the secrets of Jarvis Labs decide")
        return self

    def amis(self) -> Mapping[str, tuple[str, str]]:
        """Return the image of the machine, if it is an AMI."""
        inside = self.machine.amis() if self.machine is not None else {}
        return {f"machine.{key}": found for key, found in inside.items()}
