"""The settings of one repository at GitHub that its GPU tests need: variables, labels and a ruleset."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

import pulumi
import pulumi_github as github
from pulumi import ResourceOptions

from components.github.settings import DEFAULT_BRANCH, DOTCOM, RULESET, RepositorySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubRepositoryArgs:
    """The settings of the repository."""

    settings: RepositorySettings
    """The repository, its variables, labels and required checks."""


class GitHubRepository(pulumi.ComponentResource):
    """Variables, labels and the ruleset of the default branch of one repository.

    The provider reads the token from `GITHUB_TOKEN` where Pulumi runs, so that the state does not contain it.
    """

    def __init__(self, name: str, args: GitHubRepositoryArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:github:Repository", name, None, opts)
        settings = args.settings
        stated = {"owner": settings.owner}
        if settings.host != DOTCOM:
            stated["baseUrl"] = f"https://{settings.host}/"
        provider = pulumi.ProviderResource(
            "github", name, stated, ResourceOptions(parent=self, version=version("pulumi-github"))
        )
        child = ResourceOptions(parent=self, provider=provider)
        # A name is unique in the repository: the old object must be deleted before the new one is created.
        unique = ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True))
        for variable, value in settings.variables.items():
            github.ActionsVariable(
                f"{name}-{variable}",
                repository=settings.repository,
                variable_name=variable,
                value=value,
                opts=unique,
            )
        for use, label in settings.labels.items():
            github.IssueLabel(
                f"{name}-label-{use}",
                repository=settings.repository,
                name=label.name,
                color=label.color,
                description=label.description,
                opts=unique,
            )
        if settings.required_checks is not None:
            github.RepositoryRuleset(
                f"{name}-ruleset",
                name=RULESET,
                repository=settings.repository,
                target="branch",
                enforcement="active",
                conditions=github.RepositoryRulesetConditionsArgs(
                    ref_name=github.RepositoryRulesetConditionsRefNameArgs(includes=[DEFAULT_BRANCH], excludes=[])
                ),
                rules=_rules(settings),
                opts=unique,
            )
        self.register_outputs({})


def _rules(settings: RepositorySettings) -> github.RepositoryRulesetRulesArgs:
    checks = [
        github.RepositoryRulesetRulesRequiredStatusChecksRequiredCheckArgs(
            context=check, integration_id=settings.reporter
        )
        for check in settings.required_checks or ()
    ]
    required = github.RepositoryRulesetRulesRequiredStatusChecksArgs(required_checks=checks) if checks else None
    return github.RepositoryRulesetRulesArgs(
        deletion=True,
        non_fast_forward=True,
        pull_request=github.RepositoryRulesetRulesPullRequestArgs(required_approving_review_count=0),
        required_status_checks=required,
    )
