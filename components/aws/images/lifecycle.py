"""The expiry of images: an ECR lifecycle policy as text. Pure."""

from __future__ import annotations

import json
from typing import Any


def lifecycle_policy(*, keep: int, untagged_days: int, pull_request_days: int) -> str:
    """Return the rules of one repository, the most specific first: ECR requires the rule for any image to be last.

    Args:
        keep: the number of images that are kept.
        untagged_days: days after which an image without a tag expires.
        pull_request_days: days after which images tagged `pr-*` expire; 0 keeps them.

    """
    rules = [_after(1, "untagged images", {"tagStatus": "untagged"}, untagged_days)]
    if pull_request_days:
        tagged = {"tagStatus": "tagged", "tagPatternList": ["pr-*"]}
        rules.append(_after(2, "images of pull requests", tagged, pull_request_days))
    selection = {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": keep}
    rules.append(_rule(10, f"all but the newest {keep}", selection))
    return json.dumps({"rules": rules}, sort_keys=True)


def _after(priority: int, what: str, selection: dict[str, Any], days: int) -> dict[str, Any]:
    aged = {**selection, "countType": "sinceImagePushed", "countUnit": "days", "countNumber": days}
    return _rule(priority, f"{what} after {days} days", aged)


def _rule(priority: int, description: str, selection: dict[str, Any]) -> dict[str, Any]:
    return {
        "rulePriority": priority,
        "description": description,
        "selection": selection,
        "action": {"type": "expire"},
    }
