"""What a stack may be called: its name is part of what it makes, in clouds that spell names differently."""

from __future__ import annotations

import re
from typing import Final

from config.faults import Fault

_PATH: Final = "stack name"
STACK_NAME_LIMIT: Final = 40
"""Leaves room for `gpu-ci-` and an ending in the sixty-four characters of a role's name."""
GOOGLE_STACK_NAME_LIMIT: Final = 16
"""Beside `gpu-ci-` and `-runner`, in the thirty characters that an account's id may have at Google."""


def stack_name_faults(stack: str, *, google: bool) -> list[Fault]:
    """What no cloud would take of a stack's name; said here, because a cloud says it in the middle of an update.

    `google` is whether the stack has accounts there, which are named after it.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stack):
        wrong = f'"{stack}" names clusters, repositories and accounts, and none takes it'
        return [Fault(_PATH, wrong, "name the stack in lower-case letters, digits and single hyphens")]
    limit = GOOGLE_STACK_NAME_LIMIT if google else STACK_NAME_LIMIT
    if len(stack) > limit:
        after = "its accounts at Google are" if google else "what it makes is"
        wrong = f'"{stack}" has {len(stack)} characters, and {after} named after it'
        return [Fault(_PATH, wrong, f"take a name of at most {limit}")]
    return []
