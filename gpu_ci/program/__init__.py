"""The composition root: read the stack file, check it, and declare one component after the other.

It makes no decision: decisions are in the stack file, and derived values come from `gpu_ci.derived` and from the
components' pure neighbours. The SDKs of the clouds are imported where they are needed, because loading the one of AWS
is most of the time of a plan.
"""

from __future__ import annotations

from collections.abc import Callable

import pulumi

from gpu_ci import checks
from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.back_ends.registry import BACK_ENDS, stack_of
from gpu_ci.back_ends.stack_file import load
from gpu_ci.derived import outputs, prerequisites, refusal
from gpu_ci.knowledge.verdict import Verdict
from gpu_ci.program.aws import aws
from gpu_ci.program.declared import Declared
from gpu_ci.program.gcp import gcp
from gpu_ci.program.github import github
from gpu_ci.stack_file.identity import Identity


def run(fault_of: Callable[[prerequisites.Tool], str | None] | None = None, *, refuse: bool = True) -> list[Verdict]:
    """Read the stack file, refuse what cannot work, declare the rest, and export how to use it.

    Args:
        fault_of: returns why a program cannot be used on this machine. A plan omits it, because its result must not
            depend on the machine.
        refuse: False declares also what cannot work, for a list of its other problems.

    Returns:
        All verdicts on the stack.

    Raises:
        gpu_ci.stack_file.reading.load.StackFileError: the stack file is invalid.
        gpu_ci.derived.refusal.Refused: a check found an error.
        gpu_ci.derived.prerequisites.ToolMissing: the update needs a program that this machine does not have.

    """
    settings, secrets = load()
    stack = stack_of(
        settings, Identity(project=pulumi.get_project(), stack=pulumi.get_stack(), extra=settings.stack.tags)
    )
    findings = checks.verdicts(stack)
    if refuse:
        refusal.refuse(findings)
    if fault_of is not None:
        prerequisites.check(settings, fault_of)

    context, declared = ProgramContext(stack=stack, secrets=secrets, repositories={}), Declared()
    if settings.aws is not None:
        context, on_aws = aws(context=context, account=settings.aws)
        declared |= on_aws
    if settings.gcp is not None:
        context, on_gcp = gcp(context=context, account=settings.gcp)
        declared |= on_gcp
    for back_end in BACK_ENDS.values():
        declared |= back_end.declare(context)
    declared |= github(settings)

    pulumi.export("runs_on", outputs.runs_on(settings))
    refusal.warn(findings, declared)
    return findings
