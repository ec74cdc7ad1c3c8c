"""Stacks for the tests of checks: a committed stack file with some parts changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from back_ends.stack import Stack
from tests.config.stacks import STAGING, settings
from tests.mistakes.sound import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Mapping


def stack(changes: Mapping[str, Any] | None = None, name: str = STAGING) -> Stack:
    """Return a committed stack with the parts at these paths changed; the steps of a path are separated by `/`."""
    return Stack.of(settings(name, changes), IDENTITY)
