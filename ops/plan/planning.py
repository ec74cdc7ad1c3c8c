"""A plan with its verdicts and its policy findings: the output of `plan`."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from rich.markup import escape

from gpu_ci.derived.refusal import Refused
from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.policy import exceptions, rules
from gpu_ci.policy.exceptions import Stated
from gpu_ci.policy.rules import Finding
from ops.outcome import Exit
from ops.plan import recorder, tree, typed, verdicts
from ops.plan.exceptions import ListedException, listed_exceptions
from ops.plan.exceptions import show as show_exceptions
from ops.plan.model import STACK_TYPE, Plan
from ops.plan.stack_file import StackFile
from ops.plan.verdicts import counted

if TYPE_CHECKING:
    from rich.console import Console


Read = TypeVar("Read")
"""A part of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """The plan of a stack file, with the findings."""

    plan: Plan
    """The recorded plan."""
    findings: tuple[Finding, ...]
    """The policy rules that its resources break, without the allowed ones."""
    exceptions: tuple[ListedException, ...] = ()
    """The exceptions of the stack file."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the results of the checks."""
        return self.plan.verdicts

    @property
    def exit(self) -> Exit:
        """Return the exit code: a finding if there is an error or a broken rule."""
        errors = any(verdict.level is Level.ERROR for verdict in self.plan.verdicts)
        return Exit.FINDING if errors or self.findings else Exit.GOOD

    def to_data(self) -> dict[str, Any]:
        """Return the data of the plan and the findings."""
        return {
            **self.plan.to_data(),
            "findings": [asdict(one) for one in self.findings],
            "exceptions": [one.to_data() for one in self.exceptions],
        }


class RefusedPlan(Refused):
    """A stack that cannot work, with the policy rules that it would break as well."""

    def __init__(
        self, verdicts: Sequence[Verdict], findings: Sequence[Finding], exceptions: Sequence[ListedException]
    ) -> None:
        super().__init__(verdicts)
        self.findings = tuple(findings)
        self.exceptions = tuple(exceptions)


def make(stack_file: StackFile) -> Planning:
    """Record the plan of a stack file and check the policy rules.

    Raises:
        RefusedPlan: at least one verdict is an error.

    """
    stated = typed.settings(stack_file).exceptions
    try:
        plan = recorder.record(stack_file)
    except Refused as refused:
        broken = of_refused(stack_file, findings)
        listed = listed_exceptions(stated, refused.verdicts, broken)
        raise RefusedPlan(refused.verdicts, _not_allowed(stated, broken), listed) from None
    from gpu_ci.checks.exceptions import unused

    broken = findings(plan)
    useless = unused(stated, {(one.rule, one.subject) for one in broken}, rules.NAMES)
    return Planning(
        plan=replace(plan, verdicts=(*plan.verdicts, *useless)),
        findings=_not_allowed(stated, broken),
        exceptions=listed_exceptions(stated, plan.verdicts, broken),
    )


def attempt(stack_file: StackFile) -> Planning | RefusedPlan:
    """Return the plan of a stack file, or its refusal."""
    try:
        return make(stack_file)
    except RefusedPlan as refused:
        return refused


def of_refused(stack_file: StackFile, read: Callable[[Plan], tuple[Read, ...]]) -> tuple[Read, ...]:
    """Return what `read` finds in the plan of a stack that cannot work; nothing if it has no plan."""
    try:
        return read(recorder.record(stack_file, refuse=False))
    except Exception:  # noqa: BLE001  # What cannot work may not have a plan. Its errors are reported.
        return ()


def _not_allowed(stated: Mapping[str, Stated], broken: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the broken rules that no exception allows."""
    on = exceptions.today()
    return tuple(one for one in broken if exceptions.allowing(stated, one.rule, one.subject, on) is None)


def findings(plan: Plan) -> tuple[Finding, ...]:
    """Return every rule that a resource of the plan breaks, also the allowed ones. The rules see secrets masked."""
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
    show_found(console, made.plan.verdicts, made.findings, made.exceptions, why=why)
    for line in textwrap.wrap(summary(made), console.width):
        console.print(escape(line), style="path", soft_wrap=True)


def show_found(
    console: Console,
    found: Sequence[Verdict],
    broken: Sequence[Finding],
    stated: Sequence[ListedException],
    *,
    why: bool = False,
) -> None:
    """Print the broken rules, the verdicts (with `why` in detail), and the findings that exceptions allow."""
    for one in broken:
        verdicts.entry(console, "error", one.subject, one.rule, one.problem)
    verdicts.show(console, found, why=why)
    show_exceptions(console, stated)


def summary(made: Planning) -> str:
    """Return the numbers of resources, components, errors and warnings."""
    plan = made.plan
    custom = [resource for resource in plan if resource.custom]
    components = sum(not resource.custom and resource.type != STACK_TYPE for resource in plan)
    by_package = Counter(resource.type.partition(":")[0] for resource in custom if not resource.is_provider)
    packages = ", ".join(f"{package} {count}" for package, count in sorted(by_package.items()))
    made_of = f"{counted(by_package.total(), 'resource')} ({packages})" if packages else "no resources"
    broken = f", {counted(len(made.findings), 'broken rule')}" if made.findings else ""
    number = sum(len(one.allows) for one in made.exceptions)
    allowed = f", {counted(number, 'allowed finding')}" if number else ""
    found = f"{verdicts.counts(plan.verdicts)}{broken}{allowed}"
    return f"{plan.stack}: {made_of} in {counted(components, 'component')}; {found}"
