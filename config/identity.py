"""Whose the resources are: one value from which every name prefix and every tag is derived."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from config.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

_STACK_NAME = "stack name"
STACK_NAME_LIMIT = 40
"""Leaves room for `gpu-ci-` and an ending in the sixty-four characters of a role's name."""
GOOGLE_STACK_NAME_LIMIT = 16
"""Beside `gpu-ci-` and `-runner`, in the thirty characters that an account's id may have at Google."""


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


def stack_name_faults(stack: str, *, google: bool) -> list[Fault]:
    """What no cloud would take of a stack's name; said here, because a cloud says it in the middle of an update.

    `google` is whether the stack has accounts there, which are named after it.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stack):
        wrong = f'"{stack}" names clusters, repositories and accounts, and none takes it'
        return [Fault(_STACK_NAME, wrong, "name the stack in lower-case letters, digits and single hyphens")]
    limit = GOOGLE_STACK_NAME_LIMIT if google else STACK_NAME_LIMIT
    if len(stack) > limit:
        after = "its accounts at Google are" if google else "what it makes is"
        wrong = f'"{stack}" has {len(stack)} characters, and {after} named after it'
        return [Fault(_STACK_NAME, wrong, f"take a name of at most {limit}")]
    return []


def _label(text: str) -> str:
    hyphened = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9_-]", "-", hyphened.lower())[:63]
