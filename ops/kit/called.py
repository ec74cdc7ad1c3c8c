"""Calls of reusable workflows: the files that jobs call with `uses`, and the values of the inputs.

Only literal inputs have a value before a workflow runs. Other expressions stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from gpu_ci.repository.matrix import combinations, replaced

LOCAL: Final = re.compile(r"\./(\.github/workflows/[^/@]+\.ya?ml)")
"""A workflow of the same repository, at the same commit."""
REMOTE: Final = re.compile(r"[\w.-]+/[\w.-]+/\.github/workflows/[^/@]+\.ya?ml@\S+", re.ASCII)
"""A workflow of another repository."""
_CALL: Final = "workflow_call"
_INPUT: Final = re.compile(r"\$\{\{\s*(?:inputs\.([\w-]+)|fromJSON\(\s*inputs\.([\w-]+)\s*\))\s*\}\}", re.ASCII)


def targets(document: object) -> Iterator[str]:
    """Yield the paths of the workflows of the same repository that `document` calls."""
    jobs = document.get("jobs") if isinstance(document, Mapping) else None
    for job in jobs.values() if isinstance(jobs, Mapping) else ():
        found = LOCAL.fullmatch(str(job.get("uses"))) if isinstance(job, Mapping) else None
        if found is not None:
            yield found[1]


def only_called(document: object) -> bool:
    """Return True if a workflow only runs where another one calls it."""
    events = document.get("on") if isinstance(document, Mapping) else None
    if isinstance(events, list | Mapping):
        return [*events] == [_CALL]
    return events == _CALL


def inputs_of(job: Mapping[object, object]) -> list[Mapping[str, object]]:
    """Return the inputs of each different call that a job makes; its matrix may call with several."""
    stated = job.get("with")
    given = stated if isinstance(stated, Mapping) else {}
    calls = [{str(key): replaced(value, one) for key, value in given.items()} for one in combinations(job)]
    return [*{json.dumps(call, sort_keys=True, default=str): call for call in calls}.values()]


def with_inputs(document: object, given: Mapping[str, object]) -> object:
    """Return a workflow with its inputs replaced: the given values, or their defaults."""
    events = document.get("on") if isinstance(document, Mapping) else None
    call = events.get(_CALL) if isinstance(events, Mapping) else None
    stated = call.get("inputs") if isinstance(call, Mapping) else None
    declared = stated if isinstance(stated, Mapping) else {}
    defaults = {
        str(key): one["default"] for key, one in declared.items() if isinstance(one, Mapping) and "default" in one
    }
    return _with_values(document, {**defaults, **given})


def _with_values(value: object, values: Mapping[str, object]) -> object:
    if isinstance(value, Mapping):
        return {key: _with_values(one, values) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_values(one, values) for one in value]
    if not isinstance(value, str):
        return value
    whole = _INPUT.fullmatch(value.strip())
    if whole is not None:
        return _looked_up(whole, values)
    return _INPUT.sub(lambda match: str(_looked_up(match, values)), value)


def _looked_up(match: re.Match[str], values: Mapping[str, object]) -> object:
    """Return the value of one expression, or the expression."""
    plain, encoded = match.groups()
    if (plain or encoded) not in values:
        return match[0]
    value = values[plain or encoded]
    if plain is not None:
        return value
    try:
        return json.loads(str(value))
    except (ValueError, RecursionError):
        return match[0]
