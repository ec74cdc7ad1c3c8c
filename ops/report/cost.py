"""The cost of a month of a stack, as numbers for a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from back_ends.registry import stack_of
from checks.bill import bill
from checks.machine_groups import job_load
from config.identity import PROJECT, Identity
from gpu.cost.month import Case
from ops.plan import typed

if TYPE_CHECKING:
    from ops.plan.stack_file import StackFile


def cost(stack_file: StackFile) -> dict[str, Any]:
    """Return the US dollars of a month by case, and of each part of the stack file.

    Parts without a known price are listed and not included, as in the check `money`.
    """
    settings = typed.settings(stack_file)
    stack = stack_of(settings, Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags))
    found = bill(stack, [job_load(settings.runners[name], offer, settings) for name, offer in stack.offers.items()])
    return {
        "total": {str(case): float(round(found.total(case), 2)) for case in Case},
        "parts": {
            str(case): {path: float(round(usd, 2)) for path, usd in sorted(found.by_path(case).items())}
            for case in Case
        },
        "unpriced": sorted({item.path for items in found.unpriced.values() for item in items}),
    }
