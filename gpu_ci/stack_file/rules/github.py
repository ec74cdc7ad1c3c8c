"""Rules of `github.repositories`: the repositories belong to the owner in `github.url`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.settings import Settings


def repositories_are_in_the_address(settings: Settings) -> Iterator[Fault]:
    """Compare the names with the address, which is an organisation, a user or one repository."""
    if settings.github is None:
        return
    owner, _, only = urlsplit(settings.github.url).path.strip("/").partition("/")
    for name in settings.github.repositories:
        path = f"github.repositories.{name}"
        if owner == "enterprises":
            yield Fault(path, "github.url is an enterprise, which has no repositories", "remove it")
        elif only and only != name:
            yield Fault(path, f"github.url is the repository {only}", f"write {only}")
        elif settings.github.set_variables:
            problem = f"github.repositories.{name} sets variables of the same repository"
            yield Fault("github.set-variables", problem, 'remove it, and state variables: {ENABLE_GPU_SMOKE: "true"}')


RULES: Final[tuple[Rule, ...]] = (repositories_are_in_the_address,)
