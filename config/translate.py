"""From the validator's words to the stack file's: a pydantic error becomes a `Fault`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard, get_args

from pydantic import BaseModel, ValidationError

from config.faults import Fault
from config.section import kebab
from config.values import Wrong


def faults(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """Every fault of `error`, in the words of somebody who has the stack file open."""
    details = error.errors(include_url=False)
    # A list whose entries were all refused is then too short as well, which is nobody's second mistake.
    inside = {detail["loc"][:end] for detail in details for end in range(len(detail["loc"]))}
    told = (detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in inside)
    return [_fault(detail, model) for detail in told]


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant, or which names there are."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"known here: {', '.join(names)}" if names else "nothing is known here"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _fault(detail: Mapping[str, Any], model: type[BaseModel]) -> Fault:
    location: Sequence[str | int] = detail["loc"]
    path = _path(location)
    context = detail.get("ctx", {})
    error = context.get("error")
    value = detail.get("input")
    if isinstance(error, Wrong):
        return Fault(path, error.wrong, error.right)
    kind = detail["type"]
    if kind == "extra_forbidden":
        siblings = keys_at(model, location[:-1])
        return Fault(path, "unknown key", nearest(str(location[-1]), siblings))
    if kind == "missing":
        return Fault(path, "missing", f"state {location[-1]}")
    right = _EXPECTED.get(kind)
    if right is None:
        right = str(detail["msg"][0]).lower() + str(detail["msg"][1:])
    return Fault(path, f"{_shown(value)} does not fit", right.format(**context) if context else right)


_EXPECTED = {
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "bool_type": "write true or false",
    "string_type": 'write text; a version such as "1.35" needs its quotes',
    "float_type": "write a number",
    "tuple_type": "write a list: [a, b]",
    "dict_type": "write a map: key: value",
    "mapping_type": "write a map: key: value",
    "model_type": "write a map: key: value",
    "model_attributes_type": "write a map: key: value",
    "literal_error": "write one of {expected}",
    "greater_than_equal": "write at least {ge}",
    "less_than_equal": "write at most {le}",
    "string_too_short": "write at least {min_length} characters",
    "string_too_long": "write at most {max_length} characters",
    "too_short": "state at least {min_length}",
    "too_long": "state at most {max_length}",
}


def _path(location: Sequence[str | int]) -> str:
    """A location as the stack file spells it: `runners.gpu-t4.needs.memory`, `gpu-pools.t4.zones[1]`."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]":
            path += f".{part}" if path else part
    return path


def keys_at(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """The keys that are known at `location`, none where it is no section: walks the types beside the path."""
    current: Any = model
    for part in location:
        if _is_model(current):
            field = next((f for name, f in current.model_fields.items() if kebab(name) == part), None)
            current = _inner(field.annotation) if field else None
        elif current is not None:
            current = _inner(_last(current))
    return [kebab(name) for name in current.model_fields] if _is_model(current) else []


def _is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _inner(annotation: Any) -> Any:
    """The type behind Optional and Annotated."""
    arguments = [argument for argument in get_args(annotation) if argument is not type(None)]
    if _is_model(annotation) or not arguments:
        return annotation
    if type(None) in get_args(annotation) or hasattr(annotation, "__metadata__"):
        return _inner(arguments[0])
    return annotation


def _last(annotation: Any) -> Any:
    """The value type of a map, or the element type of a list."""
    arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return arguments[-1] if arguments else annotation


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a map" if value else "an empty map"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return "nothing" if value is None else str(value)
