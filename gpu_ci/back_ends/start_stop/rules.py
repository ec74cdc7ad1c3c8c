"""Rules of the section `start-stop` of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from gpu_ci.back_ends.shared.machine import rules
from gpu_ci.back_ends.start_stop import jarvis_rules
from gpu_ci.back_ends.start_stop.section import StartStopSection
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.settings import Settings

_HOST: Final = "github.com"
"""The only GitHub whose tokens the roles trust."""


def the_repository_is_one_of_github_url(settings: Settings) -> Iterator[Fault]:
    """Compare the repository with `github.url`: a runner of another repository would never take its jobs."""
    if settings.github is None:
        return
    url = urlsplit(settings.github.url)
    parts = url.path.strip("/").split("/")
    for name, _, section in settings.served(StartStopSection):
        path = f"runners.{name}.start-stop.repository"
        if section.repository is None:
            continue
        if url.netloc != _HOST:
            problem = f"{url.netloc} is not {_HOST}, whose tokens the role of the workflow trusts"
            yield Fault(path, problem, f"use another back end, or an organisation at {_HOST}")
        elif len(parts) > 1 and parts[1].casefold() != section.repository.name.casefold():
            problem = f"{section.repository.name} is not the repository in github.url, which registers the runner"
            yield Fault(f"{path}.name", problem, f"write {parts[1]}, or the organisation in github.url")


def the_federation_trusts_the_repository(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require the repository in `github-federation`, which accepts the tokens on Google Cloud."""
    federation = settings.github_federation
    for name, _, section in settings.served(StartStopSection):
        path = f"runners.{name}.start-stop.repository"
        if section.machine is None or section.machine.cloud != "gcp" or section.repository is None:
            continue
        if "github-federation" not in stated.sections:
            fix = f"state github-federation with owner-id: {section.repository.owner_id}"
            yield Fault(path, "needs the section github-federation, which accepts its tokens", fix)
        elif federation is not None and federation.owner_id != section.repository.owner_id:
            problem = f"{section.repository.owner_id} is not github-federation.owner-id"
            yield Fault(f"{path}.owner-id", problem, f"write {federation.owner_id}, or correct the section")
        elif federation is not None and section.repository.id not in federation.repositories.values():
            fix = f"state {section.repository.name}: {section.repository.id} there"
            yield Fault(f"{path}.id", f"{section.repository.id} is not in github-federation.repositories", fix)


def machines_stop_when_they_are_idle(settings: Settings) -> Iterator[Fault]:
    """Reject a machine that never stops when it is idle: `pulumi up` creates it running."""
    for name, _, section in settings.served(StartStopSection):
        if section.machine is not None and section.machine.idle_stop_minutes == 0:
            problem = "0 keeps the machine running after it was created, and after a stop job that was lost"
            yield Fault(f"runners.{name}.start-stop.machine.idle-stop-minutes", problem, "write 10 or more")


def jobs_of_forks_cannot_start_a_machine(settings: Settings) -> Iterator[Fault]:
    """Reject `forks`: GitHub gives no token to workflows of forks."""
    for name, _, section in settings.served(StartStopSection):
        if section.machine is not None and section.machine.forks:
            problem = "GitHub gives the workflow of a fork no token, so it cannot start the machine"
            yield Fault(f"runners.{name}.start-stop.machine.forks", problem, "remove it")


def names_are_no_common_labels(settings: Settings) -> Iterator[Fault]:
    """Reject names that other runners have as labels: those would get the jobs."""
    yield from rules.common_labels(name for name, _, _ in settings.served(StartStopSection))


RULES: Final[tuple[Rule, ...]] = (
    the_repository_is_one_of_github_url,
    machines_stop_when_they_are_idle,
    jobs_of_forks_cannot_start_a_machine,
    names_are_no_common_labels,
    *jarvis_rules.RULES,
    *rules.RULES,
)
REFERENCES: Final[tuple[Reference, ...]] = (the_federation_trusts_the_repository, *rules.REFERENCES)
