"""A job's matrix: the combinations that it runs in, and what an expression over them says in each.

Owns GitHub's own order (lists crossed, `exclude` taken away, `include` laid over), for a matrix that is literal. An
expression over anything but `matrix` has no value before the workflow runs, and is said to have none.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Final

LIMIT: Final = 256
"""How many jobs GitHub makes of one matrix (GitHub's workflow limits, 2026)."""

OPENS: Final = "${{"
"""How an expression begins."""

_EXPRESSION: Final = re.compile(r"\$\{\{\s*matrix\.([\w-]+(?:\.[\w-]+)*)\s*\}\}")
_LAID_OVER: Final = ("include", "exclude")


class UnresolvedError(Exception):
    """A value that is known only when the workflow runs. Its text is the expression."""


def combinations(job: Mapping[object, object]) -> tuple[Mapping[str, object], ...]:
    """What `matrix` is in each run of a job; one that says nothing, where the matrix is not literal or not there."""
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, Mapping) else None
    if not isinstance(matrix, Mapping):
        return ({},)
    lists = {str(key): values for key, values in matrix.items() if key not in _LAID_OVER}
    literal = {key: values for key, values in lists.items() if isinstance(values, list)}
    if math.prod(len(values) for values in literal.values()) > LIMIT:
        return ({},)
    crossed = [dict(zip(literal, values, strict=True)) for values in itertools.product(*literal.values())]
    excluded = _entries(matrix.get("exclude"))
    found = [one for one in crossed if one and not any(entry and _within(entry, one) for entry in excluded)]
    added: list[dict[str, object]] = []
    bases = [dict(one) for one in found]
    for entry in _entries(matrix.get("include"))[:LIMIT]:
        fitting = [
            place
            for place, base in enumerate(bases)
            if all(base[key] == value for key, value in entry.items() if key in base)
        ]
        for place in fitting:
            found[place] |= entry
        if not fitting:
            added.append(entry)
    return (*found, *added) or ({},)


def replaced(value: object, combination: Mapping[str, object]) -> object:
    """`value` with what the matrix says in place of its expressions; those that it does not answer stay.

    A value that is one expression alone becomes what the matrix holds, a list or a number too.
    """
    if not isinstance(value, str):
        return value
    whole = _EXPRESSION.fullmatch(value.strip())
    if whole is not None:
        return _looked_up(whole, combination)
    return _EXPRESSION.sub(lambda match: str(_looked_up(match, combination)), value)


def resolved(value: object, combination: Mapping[str, object]) -> object:
    """`value` as it is in this combination.

    Raises:
        UnresolvedError: something in it is known only when the workflow runs.

    """
    found = replaced(value, combination)
    if isinstance(found, str) and OPENS in found:
        raise UnresolvedError(found)
    return found


def _looked_up(match: re.Match[str], combination: Mapping[str, object]) -> object:
    here: object = combination
    for step in match[1].split("."):
        if not isinstance(here, Mapping) or step not in here:
            return match[0]
        here = here[step]
    return here


def _within(entry: Mapping[str, object], combination: Mapping[str, object]) -> bool:
    return all(key in combination and combination[key] == value for key, value in entry.items())


def _entries(value: object) -> list[dict[str, object]]:
    entries = value if isinstance(value, list) else []
    return [{str(key): stated for key, stated in entry.items()} for entry in entries if isinstance(entry, Mapping)]
