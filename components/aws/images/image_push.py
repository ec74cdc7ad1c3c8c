"""The name and the permissions of a role that pushes images to one ECR repository. Pure."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from components.aws.documents import allow, document

_LIMIT: Final = 64
"""Characters of the name of an IAM role."""
PUSH: Final = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:CompleteLayerUpload",
    "ecr:DescribeImages",
    "ecr:GetDownloadUrlForLayer",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
)
"""Push and pull, without deletion (AWS, "IAM permissions for pushing an image to an ECR private repository", 2026).
The build also pulls: its cache is in the same repository."""


def repository_arn(account: str, region: str, name: str) -> str:
    """Return the ARN of an ECR repository."""
    return f"arn:aws:ecr:{region}:{account}:repository/{name}"


def role_name(prefix: str, repository: str) -> str:
    """Return the name of the role. Names that IAM does not accept are shortened and get a hash."""
    name = f"{prefix}-push-{repository}"
    if re.fullmatch(r"[\w+=,.@-]+", name, re.ASCII) and len(name) <= _LIMIT:
        return name
    return f"{re.sub(r'[^a-z0-9-]', '-', name)[: _LIMIT - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def role_arn(account: str, prefix: str, repository: str) -> str:
    """Return the ARN of the role, which the workflow assumes."""
    return f"arn:aws:iam::{account}:role/{role_name(prefix, repository)}"


def permissions(repository: str) -> str:
    """Return the permissions: push to the repository with this ARN. A token for the registry has no resource."""
    return document(allow(["ecr:GetAuthorizationToken"], ["*"]), allow(PUSH, [repository]))
