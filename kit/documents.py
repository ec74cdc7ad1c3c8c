"""YAML files of a repository: strict reading, and one form of writing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from config.faults import Fault, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class FileError(Exception):
    """All faults of one file of a repository."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__(summary(self.faults, source))


def load_yaml(text: str, source: str) -> object:
    """Return the document in `text`: texts, numbers, lists and maps, with unique keys.

    Raises:
        FileError: `text` is not such a document.

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
        raise FileError(source, [Fault("", "lists and maps are nested too deeply", _PLAIN)]) from None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise FileError(source, [Fault("", f"not a plain value ({error})", _PLAIN)]) from None
    return document


def dump_yaml(data: object, header: Sequence[str] = ()) -> str:
    """Return `data` as YAML in one fixed form, below `header` as comments."""
    body = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=False, width=110)
    return "".join(f"# {line}\n" for line in header) + body


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, which reads cirun's examples, but without duplicate keys and dates."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        name = str(key.value)
        if name in seen and name != "<<":
            problem = f"the key {name} is repeated in one map"
            raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        seen.add(name)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


def _scalar_text(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _scalar_text)

_PLAIN = "write only texts, numbers, lists and maps, without tags and without recursion"
