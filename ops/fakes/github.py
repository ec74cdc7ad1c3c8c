"""The fake GitHub: variables, labels and rulesets of repositories.

Sources: the resources `github_actions_variable`, `github_issue_label` and `github_repository_ruleset` of
integrations/terraform-provider-github 6, and GitHub's REST API "Actions variables", "Labels" and "Rules" (2026).
"""

from __future__ import annotations

import re
from typing import Final

from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import CREATED_AT, Created, Request

VARIABLE: Final = "github:index/actionsVariable:ActionsVariable"
LABEL: Final = "github:index/issueLabel:IssueLabel"
RULESET: Final = "github:index/repositoryRuleset:RepositoryRuleset"
_NAME: Final = re.compile(r"(?!GITHUB_)[A-Za-z_][A-Za-z0-9_]*")


def _variable(request: Request) -> Created:
    id_ = f"{request.inputs.get('repository')}:{request.inputs.get('variableName')}"
    return id_, {"createdAt": CREATED_AT, "updatedAt": CREATED_AT, "repositoryId": int(request.number(9))}


def _named_well(_cloud: Objects, variable: CloudObject) -> str | None:
    """Refuse a name that GitHub does not accept, and a repository with its owner."""
    if _NAME.fullmatch(str(variable.inputs.get("variableName"))) is None:
        return "PATCH: 422 Name can only contain alphanumeric characters and underscores, and not start with GITHUB_"
    if "/" in str(variable.inputs.get("repository")):
        return "POST: 404 Not Found []"
    return None


def _label(request: Request) -> Created:
    return f"{request.inputs.get('repository')}:{request.inputs.get('name')}", {
        "etag": f'W/"{request.hex(16)}"',
        "url": f"https://api.github.com/repos/fake/labels/{request.hex(8)}",
    }


def _labelled_well(_cloud: Objects, label: CloudObject) -> str | None:
    """Refuse a color with a hash, and a text that is too long."""
    inputs = label.inputs
    if re.fullmatch(r"[0-9a-fA-F]{6}", str(inputs.get("color"))) is None:
        return "POST: 422 Validation Failed [{Resource:Label Field:color Code:invalid Message:}]"
    if not 1 <= len(str(inputs.get("name"))) <= 50 or len(str(inputs.get("description") or "")) > 100:
        return "POST: 422 Validation Failed [{Resource:Label Field:name Code:invalid Message:}]"
    return None


def _ruleset(request: Request) -> Created:
    return request.number(7), {"nodeId": f"RRS_{request.hex(12)}", "rulesetId": int(request.number(7)), "etag": ""}


def _ruled_well(_cloud: Objects, ruleset: CloudObject) -> str | None:
    """Refuse a ruleset of branches without branches, and a list of required checks that is empty."""
    inputs = ruleset.inputs
    if not inputs.get("conditions", {}).get("refName", {}).get("includes"):
        return "POST: 422 Validation Failed [Invalid property /conditions: `include` is missing]"
    required = inputs.get("rules", {}).get("requiredStatusChecks")
    if required is not None and not required.get("requiredChecks"):
        return "rules.0.required_status_checks.0.required_check: Too few required_check blocks"
    return None


TABLE: Final = (
    Kind(
        type=VARIABLE,
        answer=_variable,
        identity=("repository", "variableName"),
        taken="POST: 409 Already exists - Variable already exists []",
        before_create=[_named_well],
    ),
    Kind(
        type=LABEL,
        answer=_label,
        identity=("repository", "name"),
        # Some versions of the provider change a label that exists.
        taken="POST: 422 Validation Failed [{Resource:Label Field:name Code:already_exists Message:}]",
        before_create=[_labelled_well],
    ),
    Kind(
        type=RULESET,
        answer=_ruleset,
        identity=("repository", "name"),
        taken="POST: 422 Validation Failed [Name must be unique]",
        choices={"enforcement": ("disabled", "active", "evaluate"), "target": ("branch", "tag", "push")},
        before_create=[_ruled_well],
    ),
)
