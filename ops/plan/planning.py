"""A plan with all that is said about it: resources, verdicts, findings of the rules. What `plan` shows and writes."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from gpu.verdict import Level
from ops.cli.outcome import Exit
from ops.plan import recorder, tree, verdicts
from ops.plan.model import STACK_TYPE, Plan
from ops.plan.verdicts import counted
from policy import rules

if TYPE_CHECKING:
    from rich.console import Console

    from ops.plan.stack_file import StackFile
    from policy.rules import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Everything `plan` knows of a stack file."""

    plan: Plan
    """What would be registered."""
    findings: tuple[Finding, ...]
    """The rules that its resources break."""

    @property
    def exit(self) -> Exit:
        """Whether the change must stop."""
        errors = any(verdict.level is Level.ERROR for verdict in self.plan.verdicts)
        return Exit.FINDING if errors or self.findings else Exit.GOOD

    def to_data(self) -> dict[str, Any]:
        """The plan's data with the findings beside it."""
        return {
            **self.plan.to_data(),
            "findings": [
                {"rule": one.rule, "type": one.type, "name": one.name, "problem": one.problem} for one in self.findings
            ],
        }


def make(stack_file: StackFile) -> Planning:
    """Record the plan of a stack file and hold the rules against it."""
    plan = recorder.record(stack_file)
    return Planning(plan=plan, findings=findings(plan))


def findings(plan: Plan) -> tuple[Finding, ...]:
    """Every rule that a resource of the plan breaks; secrets are looked at masked, as anybody would see them."""
    providers = {resource.urn: resource.inputs for resource in plan if resource.is_provider}
    return tuple(
        finding
        for resource in plan
        if resource.custom
        for finding in rules.findings(resource.type, resource.name, resource.shown, providers.get(resource.provider))
    )


def show(console: Console, made: Planning, *, why: bool = False) -> None:
    """Print all of it: the tree, what is to be said about it, with `why` at length, and a line that sums it up."""
    console.print(tree.tree(made.plan))
    console.print()
    for one in made.findings:
        verdicts.entry(console, "error", f"{tree.short_type(one.type)} {one.name}", one.rule, one.problem)
    verdicts.show(console, made.plan.verdicts, why=why)
    for line in textwrap.wrap(summary(made), console.width):
        console.print(escape(line), style="path", soft_wrap=True)


def summary(made: Planning) -> str:
    """How much there is, and whether it may go on."""
    plan = made.plan
    custom = [resource for resource in plan if resource.custom]
    components = sum(not resource.custom and resource.type != STACK_TYPE for resource in plan)
    by_package = Counter(resource.type.partition(":")[0] for resource in custom if not resource.is_provider)
    packages = ", ".join(f"{package} {count}" for package, count in sorted(by_package.items()))
    made_of = f"{counted(by_package.total(), 'resource')} ({packages})" if packages else "no resources"
    broken = f", {counted(len(made.findings), 'broken rule')}" if made.findings else ""
    found = f"{verdicts.counts(plan.verdicts)}{broken}"
    return f"{plan.stack}: {made_of} in {counted(components, 'component')}; {found}"
