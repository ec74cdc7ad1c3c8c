"""The translation of pydantic's errors into faults, in the words of a person who has the file open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Final, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.values.general import Invalid

UNKNOWN: Final = "unknown key"
_FIXES: Final = {
    "int_type": "write a whole number",
    "int_from_float": "write a whole number",
    "bool_type": "write true or false",
    "string_type": "write text; a number, a version, true and false need quotes",
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
    "string_pattern_mismatch": "write text that matches {pattern}",
    "too_short": "list at least {min_length}",
    "too_long": "list at most {max_length}",
}


def faults(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """Return every fault of `error`, which `model` raised."""
    return [fault(detail, model) for detail in error.errors(include_url=False) if not _is_echo(detail)]


def siblings(location: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """Return the known keys next to the last part of a location."""
    return _walk(model, location)[1]


def fault(detail: Mapping[str, Any], model: type[BaseModel]) -> Fault:
    """Return the fault that one error of pydantic describes."""
    location: tuple[str | int, ...] = detail["loc"]
    kind, context = detail["type"], detail.get("ctx", {})
    path, known = _walk(model, location)
    if isinstance(error := context.get("error"), Invalid):
        return Fault(path, error.problem, error.fix)
    if kind == "extra_forbidden":
        return Fault(path, UNKNOWN, did_you_mean(str(location[-1]), known))
    if kind == "missing":
        return Fault(path, "missing", f"state {location[-1]}")
    if kind in {"union_tag_not_found", "union_tag_invalid"}:
        key = str(context["discriminator"]).strip("'")
        if kind == "union_tag_not_found":
            return Fault(f"{path}.{key}", "missing", f"state {key}")
        return Fault(
            f"{path}.{key}", f"{_shown(context['tag'])} is not valid", f"write one of {context['expected_tags']}"
        )
    return Fault(path, *_described(kind, str(detail["msg"]), detail.get("input"), context))


def _described(kind: str, message: str, value: object, context: Mapping[str, Any]) -> tuple[str, str]:
    """Return the problem of a value of a wrong kind, and its fix."""
    if (written := _without_quotes(kind, value)) is not None:
        return f"{_shown(value)} is text", f"remove the quotes: {written}"
    if kind == "tuple_type" and isinstance(value, str | int | float):
        return f"{_shown(value)} is not a list", f"write [{_shown(value).strip(chr(34))}]"
    fix = _FIXES.get(kind, message[:1].lower() + message[1:])
    return f"{_shown(value)} is not valid", fix.format(**context) if context else fix


def _without_quotes(kind: str, value: object) -> str | None:
    """Return the text of a number, of true or of false that is in quotes, where one is needed."""
    pattern = {"int_type": r"[0-9]{1,10}", "bool_type": "true|false"}.get(kind)
    return value if pattern and isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) else None


def _is_echo(detail: Mapping[str, Any]) -> bool:
    """Return whether an error only repeats that entries are invalid, by counting the valid ones."""
    value = detail.get("input")
    return (
        detail["type"] == "too_short" and isinstance(value, list | dict) and len(value) >= detail["ctx"]["min_length"]
    )


def _walk(model: type[BaseModel], location: Sequence[str | int]) -> tuple[str, list[str]]:
    """Return a location as the file spells it, and the known keys next to its last part.

    pydantic adds `[key]` for a fault of a map's key, and the tag of a union's member; neither is part of the path.
    """
    path = ""
    here: list[Any] = [model]
    fields: dict[str, Any] = {}
    for step, part in enumerate(location):
        fields = _fields(here)
        values = [get_args(each)[-1] for each in here if get_origin(each) in {dict, Mapping}]
        if isinstance(part, int):
            path += f"[{part}]"
            here = [kind for each in here if get_origin(each) in {list, tuple} for kind in _types(get_args(each)[0])]
        elif part == "[key]" or part.startswith("<"):
            continue
        elif fields and part not in fields and step < len(location) - 1:
            here = [each for each in here if _has_tag(each, part)]
        else:
            path += f".{part}" if path else part
            found = [fields[part]] if part in fields else [*values]
            here = [kind for annotation in found for kind in _types(annotation)]
    return path, list(fields)


def _fields(types: Sequence[Any]) -> dict[str, Any]:
    """Return the keys of all models among `types`, each with the type of its value."""
    models = [each for each in types if _is_model(each)]
    return {field.alias or name: field.annotation for each in models for name, field in each.model_fields.items()}


def _types(annotation: Any) -> list[Any]:
    """Return the members of an annotation, without Optional, Union and Annotated."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _types(arguments[0])
    if origin in {Union, UnionType}:
        return [kind for argument in arguments for kind in _types(argument)]
    return [annotation]


def _is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _has_tag(kind: Any, tag: str) -> bool:
    """Return whether a model is the member of a union that `tag` selects."""
    return _is_model(kind) and any(tag in get_args(field.annotation) for field in kind.model_fields.values())


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
