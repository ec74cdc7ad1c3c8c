"""Whose the resources are: one value from which every name prefix and every tag is derived."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


PROJECT: Final = "gpu-ci"
"""The name of the Pulumi project, which is also the namespace of its configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Project and stack, and what is marked with them."""

    project: str
    stack: str
    extra: Mapping[str, str] = field(default_factory=dict)
    """Tags that the stack file adds."""

    @property
    def prefix(self) -> str:
        """What names in a cloud begin with, as `gpu-ci-staging`."""
        return f"{self.project}-{self.stack}"

    @property
    def labels(self) -> dict[str, str]:
        """The tags as Google takes them: `ManagedBy` is `managed-by`."""
        return {_label(key): _label(value) for key, value in self.tags.items()}

    @property
    def tags(self) -> dict[str, str]:
        """The tags of everything that can be tagged."""
        return {"Project": self.project, "Environment": self.stack, "ManagedBy": "pulumi", **self.extra}


def _label(text: str) -> str:
    hyphened = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9_-]", "-", hyphened.lower())[:63]
