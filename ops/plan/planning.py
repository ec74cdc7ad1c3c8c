"""A plan with its verdicts and its policy findings: the output of `plan`."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from gpu.verdict import Level
from ops.outcome import Exit
from ops.plan import recorder, tree, verdicts
from ops.plan.model import STACK_TYPE, Plan
from ops.plan.verdicts import counted
from policy import rules
from refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from gpu.verdict import Verdict
    from ops.plan.stack_file import StackFile
    from policy.rules import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """The plan of a stack file, with the findings."""

    plan: Plan
    """The recorded plan."""
    findings: tuple[Finding, ...]
    """The policy rules that its resources break."""

    @property
    def exit(self) -> Exit:
        """Return the exit code: a finding if there is an error or a broken rule."""
        errors = any(verdict.level is Level.ERROR for verdict in self.plan.verdicts)
        return Exit.FINDING if errors or self.findings else Exit.GOOD

    def to_data(self) -> dict[str, Any]:
        """Return the data of the plan and the findings."""
        return {
            **self.plan.to_data(),
            "findings": [
                {"rule": one.rule, "type": one.type, "name": one.name, "problem": one.problem} for one in self.findings
            ],
        }


class RefusedPlan(Refused):
    """A stack that cannot work, with the policy rules that it would break as well."""

    def __init__(self, verdicts: Sequence[Verdict], findings: Sequence[Finding]) -> None:
        super().__init__(verdicts)
        self.findings = tuple(findings)


def make(stack_file: StackFile) -> Planning:
    """Record the plan of a stack file and check the policy rules.

    Raises:
        RefusedPlan: at least one verdict is an error.

    """
    try:
        plan = recorder.record(stack_file)
    except Refused as refused:
        raise RefusedPlan(refused.verdicts, _findings_of_refused(stack_file)) from None
    return Planning(plan=plan, findings=findings(plan))


def _findings_of_refused(stack_file: StackFile) -> tuple[Finding, ...]:
    try:
        return findings(recorder.record(stack_file, refuse=False))
    except Exception:  # noqa: BLE001  # What cannot work may not have a plan. Its errors are reported.
        return ()


def findings(plan: Plan) -> tuple[Finding, ...]:
    """Return every rule that a resource of the plan breaks. The rules see secrets masked."""
    providers = {resource.urn: resource.inputs for resource in plan if resource.is_provider}
    return tuple(
        finding
        for resource in plan
        if resource.custom
        for finding in rules.findings(resource.type, resource.name, resource.shown, providers.get(resource.provider))
    )


def show(console: Console, made: Planning, *, why: bool = False) -> None:
    """Print the tree, the findings, the verdicts (with `why` in detail) and a summary."""
    console.print(tree.tree(made.plan))
    console.print()
    show_findings(console, made.findings)
    verdicts.show(console, made.plan.verdicts, why=why)
    for line in textwrap.wrap(summary(made), console.width):
        console.print(escape(line), style="path", soft_wrap=True)


def show_findings(console: Console, found: Sequence[Finding]) -> None:
    """Print every broken rule."""
    for one in found:
        verdicts.entry(console, "error", f"{tree.short_type(one.type)} {one.name}", one.rule, one.problem)


def summary(made: Planning) -> str:
    """Return the numbers of resources, components, errors and warnings."""
    plan = made.plan
    custom = [resource for resource in plan if resource.custom]
    components = sum(not resource.custom and resource.type != STACK_TYPE for resource in plan)
    by_package = Counter(resource.type.partition(":")[0] for resource in custom if not resource.is_provider)
    packages = ", ".join(f"{package} {count}" for package, count in sorted(by_package.items()))
    made_of = f"{counted(by_package.total(), 'resource')} ({packages})" if packages else "no resources"
    broken = f", {counted(len(made.findings), 'broken rule')}" if made.findings else ""
    found = f"{verdicts.counts(plan.verdicts)}{broken}"
    return f"{plan.stack}: {made_of} in {counted(components, 'component')}; {found}"
