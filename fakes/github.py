"""The fake GitHub: variables of repositories.

Sources: the resource `github_actions_variable` of integrations/terraform-provider-github 6, and GitHub's REST API
"Actions variables" (2026).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fakes.kinds import Kind
from fakes.request import CREATED_AT

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import CloudObject
    from fakes.request import Created, Request

VARIABLE: Final = "github:index/actionsVariable:ActionsVariable"
_NAME: Final = re.compile(r"(?!GITHUB_)[A-Za-z_][A-Za-z0-9_]*")


def _variable(request: Request) -> Created:
    id_ = f"{request.inputs.get('repository')}:{request.inputs.get('variableName')}"
    return id_, {"createdAt": CREATED_AT, "updatedAt": CREATED_AT, "repositoryId": int(request.number(9))}


def _named_well(_cloud: Cloud, variable: CloudObject) -> str | None:
    """Refuse a name that GitHub does not accept, and a repository with its owner."""
    if _NAME.fullmatch(str(variable.inputs.get("variableName"))) is None:
        return "PATCH: 422 Name can only contain alphanumeric characters and underscores, and not start with GITHUB_"
    if "/" in str(variable.inputs.get("repository")):
        return "POST: 404 Not Found []"
    return None


TABLE: Final = (
    Kind(
        type=VARIABLE,
        answer=_variable,
        identity=("repository", "variableName"),
        taken="POST: 409 Already exists - Variable already exists []",
        before_create=[_named_well],
    ),
)
