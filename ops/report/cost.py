"""The cost of a month of a stack, as numbers for a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.checks.cost.bill import bill
from gpu_ci.knowledge.cost.month import Case
from gpu_ci.stack_file.identity import PROJECT, Identity
from ops.plan import typed
from ops.plan.stack_file import StackFile

CASES: Final = {"idle": "without jobs", "expected": "with the stated jobs", "worst": "at most"}
"""The cases of a month, and the words for them."""
_CENT: Final = 0.01


def cost(stack_file: StackFile) -> dict[str, Any]:
    """Return the US dollars of a month by case, and of each part of the stack file.

    Parts without a known price are listed and not included, as in the check `money`.
    """
    settings = typed.settings(stack_file)
    stack = stack_of(settings, Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags))
    found = bill(stack)
    return {
        "total": {str(case): float(round(found.total(case), 2)) for case in Case},
        "parts": {
            str(case): {path: float(round(usd, 2)) for path, usd in sorted(found.by_path(case).items())}
            for case in Case
        },
        "unpriced": sorted({item.path for items in found.unpriced.values() for item in items}),
    }


def differing(
    before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """Yield the parts of the stack file whose cost changes in a case, with the cost before and after by case."""
    if before is None:
        return
    for path in sorted({path for one in (before, after) for parts in one["parts"].values() for path in parts}):
        pairs = {
            case: (float(before["parts"][case].get(path, 0)), float(after["parts"][case].get(path, 0)))
            for case in CASES
        }
        if any(abs(old - new) >= _CENT for old, new in pairs.values()):
            yield path, pairs
