"""The settings of one repository at GitHub, and the commands that set them without Pulumi. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DOTCOM: Final = "github.com"
RULESET: Final = "gpu-ci"
DEFAULT_BRANCH: Final = "~DEFAULT_BRANCH"
ACTIONS: Final = 15368
"""The id of the app GitHub Actions on github.com: no other app can report a required check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label of issues and pull requests."""

    name: str
    """Its text, at most 50 characters."""
    color: str
    """Six hexadecimal digits."""
    description: str
    """At most 100 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySettings:
    """The settings that GPU tests need."""

    host: str
    """The host of GitHub, for example `github.com`."""
    owner: str
    """The organisation or the user."""
    repository: str
    """The repository without its owner."""
    variables: Mapping[str, str]
    """Variables of GitHub Actions: name to value. No value is a secret."""
    labels: Mapping[str, Label]
    """The use of a label to the label."""
    required_checks: tuple[str, ...] | None
    """The checks of a pull request before a merge into the default branch; None for no ruleset."""

    @property
    def reporter(self) -> int | None:
        """The app that reports checks; None on another host, where its id differs."""
        return ACTIONS if self.host == DOTCOM else None


def commands(settings: RepositorySettings) -> tuple[str, ...]:
    """Return commands of the GitHub CLI, for Bash."""
    slug = f"{settings.owner}/{settings.repository}"
    where = slug if settings.host == DOTCOM else f"{settings.host}/{slug}"
    lines = [
        shlex.join(["gh", "variable", "set", name, "--repo", where, "--body", value])
        for name, value in settings.variables.items()
    ]
    for label in settings.labels.values():
        options = ["--color", label.color, "--description", label.description, "--force"]
        lines.append(shlex.join(["gh", "label", "create", label.name, "--repo", where, *options]))
    if settings.required_checks is not None:
        host = [] if settings.host == DOTCOM else ["--hostname", settings.host]
        call = ["gh", "api", *host, "--method", "POST", f"repos/{slug}/rulesets", "--input", "-"]
        lines.append(f"{shlex.join(call)} <<<{shlex.quote(json.dumps(_ruleset(settings)))}")
    return tuple(lines)


def _ruleset(settings: RepositorySettings) -> dict[str, object]:
    """Return the body of a request (GitHub REST API, "Create a repository ruleset", 2026)."""
    reviews = {
        "required_approving_review_count": 0,
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_review_thread_resolution": False,
    }
    app = {} if settings.reporter is None else {"integration_id": settings.reporter}
    checks = [{"context": check, **app} for check in settings.required_checks or ()]
    required = {"required_status_checks": checks, "strict_required_status_checks_policy": False}
    return {
        "name": RULESET,
        "target": "branch",
        "enforcement": "active",
        "conditions": {"ref_name": {"include": [DEFAULT_BRANCH], "exclude": []}},
        "rules": [
            {"type": "deletion"},
            {"type": "non_fast_forward"},
            {"type": "pull_request", "parameters": reviews},
            *([{"type": "required_status_checks", "parameters": required}] if checks else []),
        ],
    }
