"""The base of the back ends that cirun serves: their label, and the files that cirun reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from gpu_ci.back_ends.protocol import Repository, RunsOn
from gpu_ci.repository.cirun import ADDED_BY_CIRUN, FILE, GLOBAL_FILE
from gpu_ci.repository.cirun_access import ACCESS_FILE, AccessFile, Grant, Policy, render_access
from gpu_ci.repository.cirun_runners import GpuRunner, cirun_yml, in_subnets
from gpu_ci.stack_file.sections.cirun import CirunAccessSettings, cirun_label
from gpu_ci.stack_file.sections.runners import RunnerSettings

GLOBAL: Final = f"organisation/{GLOBAL_FILE}"
"""For the repository `.cirun` of an organisation: the same runners, for all its repositories."""
ACCESS: Final = f"organisation/{ACCESS_FILE}"
"""For the same repository: who may start which runner."""

_RUN: Final = "--${{ github.run_id }}-${{ github.run_attempt }}"
"""The suffix that reserves a machine for one attempt of one run. Only GitHub reads it."""


class CirunBackEnd(ABC):
    """A back end that cirun serves."""

    @abstractmethod
    def gpu_runner(self, name: str, runner: RunnerSettings, repository: Repository) -> GpuRunner:
        """Return the entry of `.cirun.yml` for one runner."""

    def runs_on(self, name: str, runner: RunnerSettings) -> RunsOn:  # noqa: ARG002 - the protocol's
        """Return how a workflow asks for one runner."""
        label = cirun_label(name)
        return RunsOn(line=f'runs-on: "{label}{_RUN}"', label=label, more=ADDED_BY_CIRUN, suffix=True, named=True)

    def files(self, repository: Repository) -> dict[str, str]:
        """Return the files that cirun reads. They list the runners of all clouds."""
        settings = repository.stack.settings
        runners = {
            name: back_end.gpu_runner(name, runner, repository)
            for name, runner in settings.runners.items()
            if isinstance(back_end := repository.back_ends[name], CirunBackEnd)
        }
        text = cirun_yml(list(runners.values()))
        names = {name: [one.name for one in in_subnets(runner)] for name, runner in runners.items()}
        access = settings.cirun.access if settings.cirun is not None else {}
        return {FILE: text, GLOBAL: text} | ({ACCESS: render_access(_access(access, names))} if access else {})


def _access(stated: Mapping[str, CirunAccessSettings], names: Mapping[str, Sequence[str]]) -> AccessFile:
    """Return the access file; `names` are the entries of each runner in `.cirun.yml`."""
    runners = dict.fromkeys(runner for entry in stated.values() for runner in entry.runners)
    return AccessFile(
        policies=tuple(
            Policy(
                id=name,
                repo=entry.repository,
                teams=entry.teams,
                roles=entry.roles,
                users=entry.users,
                pull_request=entry.pull_requests,
            )
            for name, entry in stated.items()
        ),
        access_control=tuple(
            Grant(resource=one, policies=tuple(name for name, entry in stated.items() if runner in entry.runners))
            for runner in runners
            for one in names[runner]
        ),
    )
