"""Guards of updates: the engine calls them in every preview and again before it sends an update to the cloud.

A preview alone knows a resource's last state, so only a guard can compare the old inputs with the new ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi import ResourceHook, ResourceHookBinding, ResourceHookOptions, ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One update of one resource. The mappings have the wire names of properties, such as `scalingConfig`."""

    name: str
    """The logical name of the resource."""
    old_inputs: Mapping[str, Any]
    """The inputs of the last update or refresh."""
    new_inputs: Mapping[str, Any]
    """The inputs that the update sends."""
    old_outputs: Mapping[str, Any]
    """The state of the last update or refresh."""


class UpdateRefusedError(Exception):
    """The update would break something that runs. The message says what, and the fix."""


_collected: dict[str, str] | None = None
"""The refusals of a preview that shows all changes; None while refusals end the preview. The engine calls guards in
threads of their own, so this is no context variable."""


@contextlib.contextmanager
def collected_refusals() -> Generator[dict[str, str]]:
    """Collect the refusals inside the block, by the name of the resource, so that the preview shows all changes."""
    global _collected  # noqa: PLW0603
    _collected = {}
    try:
        yield _collected
    finally:
        _collected = None


def refuse_update(name: str, reason: Callable[[Update], str | None]) -> ResourceOptions:
    """Return the option that refuses an update for which `reason` returns a text.

    The refusal ends `pulumi preview`, and the preview of `pulumi up`, before anything is sent to a cloud.

    Args:
        name: the guard's name, unique in the program. The engine prints it before the reason.
        reason: returns what would break and the fix, or None if the update is safe.

    """

    def guard(args: pulumi.ResourceHookArgs) -> None:
        if text := reason(_update(args)):
            if _collected is None:
                raise UpdateRefusedError(text)
            _collected[args.name] = text

    return _before_update(name, guard)


def warn_of_update(name: str, consequence: Callable[[Update], str | None]) -> ResourceOptions:
    """Return the option that logs a warning before an update for which `consequence` returns a text."""

    def guard(args: pulumi.ResourceHookArgs) -> None:
        if text := consequence(_update(args)):
            pulumi.log.warn(f"{args.name}: {text}")

    return _before_update(name, guard)


def _before_update(name: str, guard: Callable[[pulumi.ResourceHookArgs], None]) -> ResourceOptions:
    hook = ResourceHook(name, guard, ResourceHookOptions(on_dry_run=True))
    return ResourceOptions(hooks=ResourceHookBinding(before_update=[hook]))


def _update(args: pulumi.ResourceHookArgs) -> Update:
    return Update(
        name=args.name,
        old_inputs=args.old_inputs or {},
        new_inputs=args.new_inputs or {},
        old_outputs=args.old_outputs or {},
    )
