"""Variables of a repository at GitHub, for example the switch of its GPU tests.

The stack sets them only with `github.set-variables`, because that needs a token. Otherwise an output has the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit

import pulumi
from pulumi import ResourceOptions

from gpu_ci.stack_file.sections.services import GitHubSettings

_DOTCOM: Final = "github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubVariablesArgs:
    """The repository, and its variables."""

    host: str
    """The host of GitHub, for example `github.com`."""
    owner: str
    repository: str
    """The repository without its owner."""
    variables: Mapping[str, str]
    """Name to value. No value is a secret."""


class GitHubVariables(pulumi.ComponentResource):
    """Variables of one repository.

    The provider reads the token from `GITHUB_TOKEN` where Pulumi runs. The class `Provider` of the SDK would copy the
    token into its inputs, and so into the state.
    """

    def __init__(self, name: str, args: GitHubVariablesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:github:Variables", name, None, opts)
        # Imported here: most stacks set no variables.
        import pulumi_github as github  # noqa: PLC0415

        stated = {"owner": args.owner}
        if args.host != _DOTCOM:
            stated["baseUrl"] = f"https://{args.host}/"
        provider = pulumi.ProviderResource(
            "github", name, stated, ResourceOptions(parent=self, version=version("pulumi-github"))
        )
        child = ResourceOptions(parent=self, provider=provider)
        for variable, value in args.variables.items():
            github.ActionsVariable(
                f"{name}-{variable}",
                repository=args.repository,
                variable_name=variable,
                value=value,
                # Its name is its address: the old variable must be deleted before the new one is created.
                opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
            )
        self.register_outputs({})


def declare(name: str, settings: GitHubSettings, variables: Mapping[str, str]) -> dict[str, str]:
    """Set variables of the repository in `github.url`, or return the commands that set them, by the variable's name.

    Args:
        name: the logical name, for example `vm-github`.
        settings: the section `github`.
        variables: name to value. One back end of a stack sets a variable.

    """
    address = urlsplit(settings.url)
    owner, _, repository = address.path.strip("/").partition("/")
    if settings.set_variables and repository:
        GitHubVariables(
            name,
            GitHubVariablesArgs(host=address.netloc, owner=owner, repository=repository, variables=variables),
        )
        return {}
    # An organisation does not state which of its repositories use the runners.
    where = f"{address.netloc}/{owner}/{repository or 'REPOSITORY'}".removeprefix(f"{_DOTCOM}/")
    return {
        variable: f"gh variable set {variable} --repo {where} --body {value}" for variable, value in variables.items()
    }
