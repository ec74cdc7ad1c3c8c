"""The settings of repositories at GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_ci.derived import repository_settings
from gpu_ci.stack_file.sections.settings import Settings

if TYPE_CHECKING:
    from gpu_ci.program.declared import Declared


def github(settings: Settings) -> Declared:
    """Declare the settings of each repository in `github.repositories`."""
    stated = repository_settings.declared(settings)
    if not stated:
        return {}
    # Imported here: most stacks set nothing at GitHub.
    from components.github.repository import GitHubRepository, GitHubRepositoryArgs

    return {
        f"github.repositories.{name}": GitHubRepository(f"github-{name}", GitHubRepositoryArgs(settings=one))
        for name, one in stated.items()
    }
