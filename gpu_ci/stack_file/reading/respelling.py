"""Keys in another spelling, as in `cirun_gcp` and `timeoutMinutes`: one fault each, without consequences.

The value is validated under the known name. Otherwise, the known name would also be reported as missing, with
everything that needs it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from gpu_ci.knowledge.nearest import nearest
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.reading import translate
from gpu_ci.stack_file.sections.settings import Settings

_CLOSE: Final = 0.85
"""The smallest similarity (difflib's ratio) of a misspelt name."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def meant(name: str, known: Iterable[str]) -> str | None:
    """Return the one of the known names that is almost certainly meant by `name`, if any."""
    return nearest(name, known, cutoff=_CLOSE)


def respelled(raw: Mapping[str, Any], kind: type[Settings]) -> tuple[dict[str, Any], list[Fault], dict[str, str]]:
    """Return the sections with the known names of misspelt keys, the faults, and the known path of each such path."""
    sections, faults, moved = copy.deepcopy(dict(raw)), list[Fault](), dict[str, str]()
    while True:
        before = len(faults)
        try:
            kind.model_validate_json(json.dumps(sections), by_alias=True, by_name=False)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                _respell(sections, detail, kind, faults, moved)
        if len(faults) == before:
            return sections, faults, moved


def _respell(
    sections: dict[str, Any],
    detail: Mapping[str, Any],
    kind: type[Settings],
    faults: list[Fault],
    moved: dict[str, str],
) -> None:
    """Rename a key, if `detail` reports one that is misspelt."""
    location = [part for part in detail["loc"] if part != "[key]"]
    fault = translate.fault(detail, kind)
    inside, name = _holder(sections, location), str(location[-1])
    if inside is None or name not in inside:
        return
    if detail["type"] == "extra_forbidden":
        known = meant(name, [key for key in translate.siblings(detail["loc"], kind) if key not in inside])
    elif detail["loc"][-1] == "[key]":
        folded = re.sub(r"[ _.]+", "-", name.lower())
        known = folded if _NAME.fullmatch(folded) and folded not in inside else None
        fault = Fault(fault.path, fault.problem, f'write "{folded}"') if known else fault
    else:
        return
    if known is not None:
        inside[known] = inside.pop(name)
        faults.append(fault)
        moved[fault.path] = f"{fault.path.removesuffix(name)}{known}"


def _holder(sections: dict[str, Any], location: list[str | int]) -> dict[str, Any] | None:
    """Return the map that contains the last part of a location; None inside of a list or a union."""
    inside: Any = sections
    for part in location[:-1]:
        if not isinstance(inside, dict) or part not in inside:
            return None
        inside = inside[part]
    return inside if isinstance(inside, dict) else None
