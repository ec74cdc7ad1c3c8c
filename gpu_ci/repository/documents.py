"""YAML files of a repository: strict reading, and one form of writing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from gpu_ci.stack_file.faults import Fault, summary
from gpu_ci.stack_file.reading.yaml_problems import YamlError, decoded, text_of
from gpu_ci.stack_file.reading.yaml_tree import NotAllowed, tree

BRANCH: Final = r"[A-Za-z0-9_][A-Za-z0-9._/-]*"
"""A branch that needs no quotes in a workflow."""


class FileError(Exception):
    """All faults of one file of a repository."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__(summary(self.faults, source))


def value_faults(stated: Iterable[tuple[str, str, str, str]]) -> list[Fault]:
    """Return a fault for each value that could break a file or an expression in it. Values are refused, not quoted.

    Args:
        stated: the name, the value, the pattern of the whole value in ASCII, and the words for a value that fits.

    """
    return [
        Fault(name, f'"{value}" is not valid', f"write {form}")
        for name, value, pattern, form in stated
        if not re.fullmatch(pattern, value, re.ASCII)
    ]


def check_values(source: str, stated: Iterable[tuple[str, str, str, str]]) -> None:
    """Refuse values that could break the file `source`; `stated` is as for `value_faults`.

    Raises:
        FileError: a value does not fit its pattern.

    """
    if faults := value_faults(stated):
        raise FileError(source, faults)


def read_text(path: Path, source: str) -> str:
    """Return the text of a file.

    Raises:
        FileError: it is not text, or is too long.
        OSError: it cannot be read.

    """
    try:
        return text_of(path)
    except YamlError as error:
        raise FileError(source, _faults(error)) from None


def load_yaml(text: str, source: str) -> object:
    """Return the document in `text`: texts, numbers, lists and maps, with unique keys that are texts.

    Raises:
        FileError: `text` is not such a document.

    """
    try:
        document = tree(decoded(text.encode()), _Scalars().value)
    except YamlError as error:
        raise FileError(source, _faults(error)) from None
    return None if document is None else document.plain()


def _faults(error: YamlError) -> list[Fault]:
    return [
        Fault(f"line {one.line}, column {one.column}", one.problem, f"{one.fix[:1].lower()}{one.fix[1:]}")
        for one in error.problems
    ]


def dump_yaml(data: object, header: Sequence[str] = ()) -> str:
    """Return `data` as YAML in one fixed form, below `header` as comments."""
    body = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=False, width=110)
    return "".join(f"# {line}\n" for line in header) + body


class _Scalars(SafeConstructor, Resolver):
    """The values of texts without quotes in YAML 1.1, as cirun and GitHub read them; a date is a text."""

    def value(self, text: str, tag: str) -> object:
        """Return the value of a text without quotes, or with a tag."""
        resolve: Callable[..., str] = self.resolve
        resolved = f"{_TAG}{tag}" if tag else resolve(yaml.ScalarNode, text, (True, False))
        if resolved not in _CONVERTED:
            return text
        try:
            value = self.construct_object(yaml.ScalarNode(resolved, text))
        except (ValueError, LookupError):
            raise NotAllowed(f"`{text}` is not of the type !!{tag or 'int'}", "Write it in quotes") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise NotAllowed(f"`{text}` is not a finite number", "Write a number, or a text in quotes")
        return value


_TAG: Final = "tag:yaml.org,2002:"
_CONVERTED: Final = frozenset(f"{_TAG}{name}" for name in ("bool", "float", "int", "null"))
