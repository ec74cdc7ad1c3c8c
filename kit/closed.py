"""Files of a closed form: reading YAML strictly, and saying every fault with its path and its way out.

Owns the mechanics only. Which keys a file has is said by the models that derive from `Closed`.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from config.values import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ONE, MANY = "<one>", "<many>"
"""Marks by which a value that may be one thing or a list of them is told apart; never part of a path."""


class Closed(BaseModel):
    """A part of a file: no key beside those declared, and no value of another type."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that the file may not say."""

    path: str
    """Where it stands, as in `runners[0].extra_config.baseDisk`."""
    wrong: str
    """What is wrong with it."""
    right: str
    """What would be right."""

    def __str__(self) -> str:
        """The fault as one line."""
        return f"{self.path}: {self.wrong}; {self.right}" if self.path else f"{self.wrong}; {self.right}"


class FileError(Exception):
    """Everything that is wrong with one file of a repository."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(dict.fromkeys(faults))
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__("\n".join([f"{count} in {source}:", *(f"  {fault}" for fault in self.faults)]))


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], data: object, source: str, removed: Mapping[str, str] | None = None) -> Model:
    """`data` as `model`.

    `removed` says what became of keys that were known once: a better answer than the nearest name of today.

    Raises:
        FileError: with every fault at once.

    """
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        details = [detail for detail in error.errors(include_url=False) if not _echo(detail)]
        raise FileError(source, [_fault(detail, model, removed or {}) for detail in details]) from None


def load_yaml(text: str, source: str) -> object:
    """The document in `text`: texts, numbers, lists and maps. A key that stands twice and a second document are faults.

    Raises:
        FileError: it is not such a document.

    """
    try:
        document: object = yaml.load(text, Loader=_Loader)  # noqa: S506 - _Loader derives from SafeLoader
        json.dumps(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FileError(source, [Fault(where, f"not YAML ({error.problem})", "correct that line")]) from None
    except yaml.YAMLError as error:
        raise FileError(source, [Fault("", f"not YAML ({error})", "write plain UTF-8 text")]) from None
    except RecursionError:
        raise FileError(source, [Fault("", "its lists and maps are nested too deeply to be read", _PLAIN)]) from None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise FileError(source, [Fault("", f"it holds what is no plain value ({error})", _PLAIN)]) from None
    return document


def dump_yaml(data: object, header: Sequence[str] = ()) -> str:
    """`data` as YAML in one fixed form, below `header` as comments."""
    body = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=False, width=110)
    return "".join(f"# {line}\n" for line in header) + body


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant, or which names there are."""
    names = sorted(known)
    folded = {candidate.lower().replace("-", "_"): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{folded[close[0]]}`?"
    return f"known here: {', '.join(names)}" if names else "nothing is known here"


class _Loader(yaml.SafeLoader):
    """PyYAML's safe reading, which is what cirun's own examples are written for, less what hides a mistake."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        name = str(key.value)
        if name in seen and name != "<<":
            problem = f"the key {name} stands twice in one map"
            raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        seen.add(name)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


def _scalar_text(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _scalar_text)

_PLAIN = "write texts, numbers, lists and maps alone, without tags and without a list inside itself"
_EXPECTED = {
    "string_type": "write text; a bare number or true/false needs quotes",
    "int_type": "write a whole number",
    "bool_type": "write true or false",
    "tuple_type": "write a list",
    "dict_type": "write a map: key: value",
    "model_type": "write a map: key: value",
    "literal_error": "write one of {expected}",
    "greater_than_equal": "write at least {ge}",
    "less_than_equal": "write at most {le}",
    "string_too_short": "write at least {min_length} character",
    "string_pattern_mismatch": "it must match {pattern}",
    "too_short": "state at least {min_length}",
}


def _fault(detail: Mapping[str, Any], model: type[BaseModel], removed: Mapping[str, str]) -> Fault:
    location: tuple[str | int, ...] = detail["loc"]
    kind, context = detail["type"], detail.get("ctx", {})
    path, siblings = _walk(model, location)
    error = context.get("error")
    if isinstance(error, Wrong):
        return Fault(path, error.wrong, error.right)
    if kind == "extra_forbidden":
        name = str(location[-1])
        return Fault(path, "unknown key", removed.get(name) or nearest(name, siblings))
    if kind == "missing":
        return Fault(path, "missing", f"state {location[-1]}")
    if kind == "union_tag_not_found":
        name = str(context["discriminator"]).strip("'")
        return Fault(path, "missing", f"state {name}")
    if kind == "union_tag_invalid":
        name, value = str(context["discriminator"]).strip("'"), context["tag"]
        return Fault(f"{path}.{name}", f"{_shown(value)} does not fit", f"write one of {context['expected_tags']}")
    right = _EXPECTED.get(kind, str(detail["msg"]))
    return Fault(path, f"{_shown(detail.get('input'))} does not fit", right.format(**context))


def _echo(detail: Mapping[str, Any]) -> bool:
    """Whether it only repeats that the entries of a list are wrong, by saying that too few of them are right."""
    value = detail.get("input")
    return detail["type"] == "too_short" and isinstance(value, list) and len(value) >= detail["ctx"]["min_length"]


def _walk(model: type[BaseModel], location: Sequence[str | int]) -> tuple[str, list[str]]:
    """The path as the file spells it, and the keys that are known where it ends."""
    path, here = "", [model]
    siblings: list[str] = []
    for step, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        fields = {field.alias or name: field for each in here for name, field in each.model_fields.items()}
        last = step == len(location) - 1
        if here and part not in fields and not last:
            # The mark of a union's member: narrows what is known, and is no part of the path.
            here = [each for each in here if part in _cloud_names(each)] or here
            continue
        if part in {ONE, MANY}:
            continue
        path += f".{part}" if path else part
        siblings = list(fields)
        here = _models(fields[part].annotation) if part in fields else []
    return path, siblings


def _cloud_names(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("cloud")
    return get_args(field.annotation) if field else ()


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Every model inside an annotation, through lists, options and unions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list | tuple):
        return "a list"
    return "nothing" if value is None else f'"{value}"'
