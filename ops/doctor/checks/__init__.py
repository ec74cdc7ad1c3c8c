"""The checks of the doctor: one module each, listed once in the order of the chain.

A check is a module with `CHECK`, the name that its verdicts carry, `NEEDS`, the checks without which its result has no
meaning, `applies(settings)` and `check(world)`. `docs/runbook.md` has an entry with the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ops.doctor.checks import (
    aws_account,
    cirun_file,
    cirun_key,
    eks_cluster,
    github_app,
    github_token,
    google_capacity,
    google_project,
    google_quota,
    host_image,
    image_digest,
    jarvis_instance,
    job_log,
    kit_files,
    machine,
    queued_jobs,
    repository_settings,
    runner_group,
    runner_online,
    runner_release,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from config.settings import Settings
    from gpu.verdict import Verdict
    from ops.doctor.world import World


class Check(Protocol):
    """A module of this package."""

    @property
    def CHECK(self) -> str:  # noqa: N802  # a constant of the module
        """The name of the check, in kebab case."""
        ...

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802  # a constant of the module
        """The checks that must work before this one has a meaning."""
        ...

    def applies(self, settings: Settings, /) -> bool:
        """Return whether the stack has the link."""
        ...

    def check(self, world: World) -> Iterable[Verdict]:
        """Yield the verdicts on the link: faults, warnings, and one for each part that works."""
        ...


CHECKS: Final[tuple[Check, ...]] = (
    aws_account,
    eks_cluster,
    google_project,
    google_quota,
    host_image,
    image_digest,
    machine,
    jarvis_instance,
    cirun_key,
    github_token,
    github_app,
    runner_group,
    runner_online,
    runner_release,
    repository_settings,
    kit_files,
    cirun_file,
    google_capacity,
    queued_jobs,
    job_log,
)
"""Every check, in the order in which a job needs the links."""
