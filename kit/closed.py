"""Files of a closed form: reading YAML strictly, and saying every fault with its path and its way out.

Owns the mechanics only. Which keys a file has is said by the models that derive from `Closed`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from config import translate
from config.faults import Fault, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ONE, MANY = "<one>", "<many>"
"""Marks by which a value that may be one thing or a list of them is told apart; never part of a path."""


class Closed(BaseModel):
    """A part of a file: no key beside those declared, and no value of another type."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class FileError(Exception):
    """Everything that is wrong with one file of a repository."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__(summary(self.faults, source))


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
        raise FileError(source, translate.faults(error, model, removed)) from None


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
