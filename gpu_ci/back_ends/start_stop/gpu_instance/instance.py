"""The interface of a machine, which every cloud implements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from datetime import datetime

RUNNER_KEY: Final = "gpu-ci-runner"
"""The tag of an EC2 instance with the state of its runner. On Compute Engine it is the guest attribute
`gpu-ci/runner`."""


class State(StrEnum):
    """The states of a machine, in the words of no particular cloud."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """The state of the runner on a machine, as the machine or GitHub reports it."""

    word: str = ""
    """`online`, `busy`, `stopped` or `failed`; another word while it starts; empty if nothing is known."""
    reason: str = ""

    @classmethod
    def read(cls, text: str) -> Runner:
        """Read a report, as in `failed: the GPU driver is not loaded`."""
        word, _, reason = text.partition(":")
        return cls(word=word.strip(), reason=reason.strip())

    @property
    def ready(self) -> bool:
        """True if it takes jobs, now or after the current one."""
        return self.word in {"online", "busy"}

    @property
    def failed(self) -> bool:
        """True if it takes no job until someone repairs it."""
        return self.word == "failed"

    @property
    def spent(self) -> bool:
        """True if it serves no more jobs until the machine is stopped and started again."""
        return self.word == "spent"

    def __str__(self) -> str:
        """Return the text of the report."""
        return ": ".join(part for part in (self.word, self.reason) if part) or "unknown"


class Instance(Protocol):
    """One machine. Each method asks the cloud once, and raises a `Problem`.

    `Unavailable` and `NoCapacity` are the problems after which the same call may succeed later.
    """

    @property
    def name(self) -> str:
        """The name by which the cloud knows the machine."""
        ...

    def state(self) -> State:
        """Return the state."""
        ...

    def start(self) -> None:
        """Request the start of a stopped machine."""
        ...

    def stop(self) -> None:
        """Request the stop of a running or starting machine."""
        ...

    def runner(self) -> Runner:
        """Return the state of the runner on a running machine."""
        ...

    def started_at(self) -> datetime | None:
        """Return the time of the last start, with a time zone; None if the cloud does not know it."""
        ...
