"""The composition root: what is read, what is refused, what is made, and what is told of it.

It decides nothing: what is decided stands in the stack file, and what follows from it in the components' neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

import judge
import refusal
from composition import exports, tools
from config.identity import Identity
from config.load import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu.verdict import Verdict


def run(on_path: Callable[[str], str | None] | None = None) -> list[Verdict]:
    """Read the stack file, refuse what cannot work, declare the rest, and say how to use it.

    Args:
        on_path: where a program is on this machine; left out by who plans, whose answer must not hang on a machine.

    Returns:
        Every judgement on the stack, for whoever shows them; Pulumi itself passes it over.

    Raises:
        config.load.StackFileError: the stack file says what it may not.
        refusal.Refused: what it says cannot work.
        composition.tools.ToolMissing: a program that the update needs is not there.

    """
    settings, secrets = load()
    identity = Identity(project=pulumi.get_project(), stack=pulumi.get_stack(), extra=settings.stack.tags)
    findings = judge.verdicts(settings, identity)
    refusal.refuse(findings)
    if on_path is not None:
        tools.check(settings, on_path)
    made: dict[str, pulumi.Resource] = {}
    if settings.aws is not None:
        # Here, so that a stack without AWS does not load its SDK, which is most of a plan's time.
        from composition.aws import amazon  # noqa: PLC0415

        made |= amazon(settings, settings.aws, secrets, identity)
    if settings.gcp is not None:
        # Here, for the same reason.
        from composition.gcp import google  # noqa: PLC0415

        made |= google(settings, settings.gcp, identity)
    refusal.warn(findings, made)
    pulumi.export("runs_on", exports.runs_on(settings))
    return findings
