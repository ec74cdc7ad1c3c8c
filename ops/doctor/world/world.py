"""The world as checks see it: the stack, the outside systems, and the time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gpu_ci.back_ends.stack import Stack
from gpu_ci.stack_file.sections.settings import Settings
from ops.doctor.world.source import Aws, Cluster, GitHub, GoogleCloud, Jarvis, Log, Registry, Unanswered


class Unreachable:
    """A system that answers nothing. Worlds of tests have it where a check asks nothing."""

    def ask(self, call: str, /, **_arguments: Any) -> Any:
        """Answer nothing."""
        raise Unanswered(f"nothing answers {call}")


_UNREACHABLE = Unreachable()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A stack and the outside systems that it uses."""

    stack: Stack
    now: datetime
    """The time of the questions, with a time zone."""
    aws: Aws = field(default=_UNREACHABLE)
    cluster: Cluster = field(default=_UNREACHABLE)
    github: GitHub = field(default=_UNREACHABLE)
    google: GoogleCloud = field(default=_UNREACHABLE)
    registry: Registry = field(default=_UNREACHABLE)
    jarvis: Jarvis = field(default=_UNREACHABLE)
    log: Log = field(default=_UNREACHABLE)
    repository: str = ""
    """The repository that was asked for, as OWNER/NAME; empty for those of the stack file."""

    @property
    def settings(self) -> Settings:
        """The stack file."""
        return self.stack.settings


SYSTEMS = ("aws", "cluster", "github", "google", "registry", "jarvis", "log")
"""The fields of the outside systems, which are also the folders of a recording."""
