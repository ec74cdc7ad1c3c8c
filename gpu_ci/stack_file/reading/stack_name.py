"""Rules of the stack's name, which becomes part of names in both clouds."""

from __future__ import annotations

import re
from typing import Final

from gpu_ci.stack_file.faults import Fault

_PATH: Final = "stack name"
STACK_NAME_LIMIT: Final = 40
"""Leaves room for `gpu-ci-` and a suffix in the 64 characters of an IAM role's name."""
GCP_STACK_NAME_LIMIT: Final = 16
"""Leaves room for `gpu-ci-` and `-runner` in the 30 characters of a service account's id."""


def stack_name_faults(stack: str, *, gcp: bool) -> list[Fault]:
    """Return the faults of a stack's name. `gcp` says that the stack has service accounts on Google Cloud."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stack):
        problem = f'"{stack}" is not valid as part of names in a cloud'
        return [Fault(_PATH, problem, "name the stack in lower-case letters, digits and single hyphens")]
    limit = GCP_STACK_NAME_LIMIT if gcp else STACK_NAME_LIMIT
    if len(stack) > limit:
        named = "service accounts" if gcp else "resources"
        problem = f'"{stack}" has {len(stack)} characters, but names of {named} have room for {limit}'
        return [Fault(_PATH, problem, f"use a name of at most {limit}")]
    return []
