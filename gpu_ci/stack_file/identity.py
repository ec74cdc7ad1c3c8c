"""The identity of a stack, from which every name prefix and every tag is derived."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PROJECT: Final = "gpu-ci"
"""The name of the Pulumi project, which is also the namespace of its configuration."""


LABEL_LIMIT: Final = 63
"""The largest number of characters of a label's key and value on Google Cloud."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Project and stack, with the name prefix and the tags."""

    project: str
    stack: str
    extra: Mapping[str, str] = field(default_factory=dict)
    """Tags from the stack file."""

    @property
    def prefix(self) -> str:
        """The prefix of names in a cloud, as in `gpu-ci-staging`."""
        return f"{self.project}-{self.stack}"

    @property
    def labels(self) -> dict[str, str]:
        """The tags as labels of Google Cloud: `ManagedBy` becomes `managed-by`."""
        return {label(key): label(value) for key, value in self.tags.items()}

    @property
    def tags(self) -> dict[str, str]:
        """The tags of every resource that supports them."""
        return {**own_tags(self.project, self.stack), **self.extra}


def own_tags(project: str, stack: str) -> dict[str, str]:
    """Return the tags of every stack."""
    return {"Project": project, "Environment": stack, "ManagedBy": "pulumi"}


def label(text: str) -> str:
    """Return a key or a value of a tag as Google Cloud accepts it in a label."""
    hyphened = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9_-]", "-", hyphened.lower())[:LABEL_LIMIT]
