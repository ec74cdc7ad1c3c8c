"""The matrix of a job: its combinations, and the values of expressions over them.

Follows GitHub: lists are combined, `exclude` removes combinations, and `include` extends or adds them. Only a literal
matrix is evaluated. Other expressions have no value before the workflow runs.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Final

LIMIT: Final = 256
"""The largest number of jobs of one matrix (GitHub's workflow limits, 2026)."""

OPENS: Final = "${{"
"""The start of an expression."""

_EXPRESSION: Final = re.compile(r"\$\{\{\s*matrix\.([\w-]+(?:\.[\w-]+)*)\s*\}\}")
_NOT_LISTS: Final = ("include", "exclude")


class UnresolvedError(Exception):
    """A value that is only known when the workflow runs. The message is the expression."""


def combinations(job: Mapping[object, object]) -> tuple[Mapping[str, object], ...]:
    """Return `matrix` for each run of a job; one empty combination if there is no literal matrix."""
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, Mapping) else None
    if not isinstance(matrix, Mapping):
        return ({},)
    lists = {str(key): values for key, values in matrix.items() if key not in _NOT_LISTS}
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
    """Return `value` with its expressions over the matrix replaced; other expressions stay.

    A value that is one expression becomes the value of the matrix, which may be a list or a number.
    """
    if not isinstance(value, str):
        return value
    whole = _EXPRESSION.fullmatch(value.strip())
    if whole is not None:
        return _looked_up(whole, combination)
    return _EXPRESSION.sub(lambda match: str(_looked_up(match, combination)), value)


def resolved(value: object, combination: Mapping[str, object]) -> object:
    """Return `value` in this combination.

    Raises:
        UnresolvedError: a part of it is only known when the workflow runs.

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
