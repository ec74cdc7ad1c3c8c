"""The settings of repositories at GitHub: those that the stack sets, and those that are set by hand."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from components.github.settings import DOTCOM, Label, RepositorySettings
from gpu_ci.stack_file.sections.gpu_tests import SWITCH, GpuTestsSettings
from gpu_ci.stack_file.sections.settings import Settings


def declared(settings: Settings) -> dict[str, RepositorySettings]:
    """Return the settings of each repository in `github.repositories`, by name."""
    if settings.github is None:
        return {}
    host, owner, _ = _address(settings)
    return {
        name: RepositorySettings(
            host=host,
            owner=owner,
            repository=name,
            variables={**_switch(settings, name), **stated.variables},
            labels=_labels(settings, name) if stated.labels else {},
            required_checks=stated.required_checks,
        )
        for name, stated in settings.github.repositories.items()
    }


def by_hand(settings: Settings, repository: str | None, check: str | None) -> RepositorySettings | None:
    """Return the settings of a repository that the stack does not set; None if it sets them.

    Args:
        settings: the stack.
        repository: its name, with or without its owner; None for the one in `github.url`.
        check: the check to require; None if its workflows have none.

    """
    host, owner, only = _address(settings)
    stated, _, name = (repository or only).rpartition("/")
    if name in declared(settings):
        return None
    return RepositorySettings(
        host=host,
        owner=stated or owner,
        repository=name or "REPOSITORY",
        variables=_switch(settings, name),
        labels=_labels(settings, name),
        required_checks=(check,) if check is not None else None,
    )


def _address(settings: Settings) -> tuple[str, str, str]:
    """Return the host, the owner and the repository in `github.url`, which may be empty."""
    if settings.github is None:
        return DOTCOM, "OWNER", ""
    address = urlsplit(settings.github.url)
    owner, _, repository = address.path.strip("/").partition("/")
    return address.netloc, owner, repository


def _switch(settings: Settings, repository: str) -> dict[str, str]:
    """Return the variable without which the workflow does not test."""
    entry = settings.gpu_tests.get(repository, GpuTestsSettings())
    switch = entry.switch or (SWITCH if entry.paths else None)
    return {switch: "true"} if switch is not None else {}


def _labels(settings: Settings, repository: str) -> Mapping[str, Label]:
    entry = settings.gpu_tests.get(repository, GpuTestsSettings())
    return {
        "run": Label(name=entry.run_label, color="1d76db", description="Test the current commit on a GPU"),
        "skip": Label(
            name=entry.skip_label, color="d4c5f9", description="Excuse the current commit from the GPU tests"
        ),
    }
