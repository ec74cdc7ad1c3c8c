"""A stack file as the engine gives it to a program: a text for each key, and the keys of secrets.

This module only reads the YAML of `Pulumi.<stack>.yaml`; `config` validates the values. It follows the engine
(`gopkg.in/yaml.v3`, compared with Pulumi 3.258): `yes` and `on` are strings, a whole float is an integer, and a date
without quotes is not a string.
"""

from __future__ import annotations

import base64
import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from config.identity import PROJECT

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


class UnreadableStackFileError(Exception):
    """A stack file that does not exist, or is not YAML that the engine reads."""

    def __init__(self, path: Path, problem: str, fix: str, *, line: int = 0, column: int = 0) -> None:
        self.path = path
        self.problem = problem
        self.fix = fix
        self.line = line
        self.column = column
        shown = shortened(path)
        where = f"{shown}:{line}:{column}" if line else shown
        super().__init__(f"{where}: {problem}. {fix}")


_TOP_LEVEL: Final = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
"""The top-level keys of a stack file (sdk/go/common/workspace, `ProjectStack`, 3.258)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFile:
    """The configuration of one stack."""

    name: str
    """The stack's name: the middle of `Pulumi.<name>.yaml`, or the stem of another file name."""
    path: Path
    """The file that it was read from."""
    config: Mapping[str, str]
    """Every key with its namespace; objects as compact JSON with sorted keys, scalars as text."""
    secret_keys: frozenset[str]
    """The keys whose value the stack file holds encrypted; their text here is a placeholder."""


def find(stack: str, root: Path) -> Path:
    """Return the file of `stack` in `root`; the error names similar stacks."""
    path = root / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        raise UnreadableStackFileError(path, "no such stack file", _nearest(path))
    return path


def read(path: Path) -> StackFile:
    """Read one stack file without validating its values."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnreadableStackFileError(path, "no such stack file", _nearest(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableStackFileError(path, f"cannot read the file ({error})", "Give a UTF-8 file") from None
    document = _load(text, path)
    config = document.get("config") or {}
    if not isinstance(config, dict):
        raise UnreadableStackFileError(path, "`config` is not a map", "Write `config:` and the keys below it")
    texts: dict[str, str] = {}
    secret_keys: set[str] = set()
    for key, value in config.items():
        name = key if ":" in key else f"{PROJECT}:{key}"
        revealed, secret = _reveal(value, name)
        texts[name] = revealed if isinstance(revealed, str) else _compact(revealed)
        if secret:
            secret_keys.add(name)
    return StackFile(name=_stack_name(path), path=path, config=texts, secret_keys=frozenset(secret_keys))


def placeholder_secret(key: str) -> str:
    """Return a placeholder for a secret, in the format that its name implies."""
    if "private-key" not in key:
        return "placeholder-secret"
    body = base64.b64encode(b"a placeholder for a private key; it is not a key. " * 20).decode()
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    kind = "RSA PRIVATE KEY"
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def _stack_name(path: Path) -> str:
    match = re.fullmatch(r"Pulumi\.(.+)\.ya?ml", path.name)
    return match[1] if match else path.stem


def _nearest(path: Path) -> str:
    there = sorted(path.parent.glob("Pulumi.*.yaml")) if path.parent.is_dir() else []
    names = [_stack_name(candidate) for candidate in there]
    wanted = _stack_name(path)
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5) or names
    if not near:
        return f"{shortened(path.parent)} contains no stack file"
    return f"Did you mean {' or '.join(near)}?"


def shortened(path: Path) -> str:
    """Return a path relative to the current folder, if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _reveal(value: Any, key: str) -> tuple[Any, bool]:
    """Return `value` with every `{secure: …}` replaced by a placeholder, and whether there was one."""
    if isinstance(value, dict):
        if set(value) == {"secure"} and isinstance(value["secure"], str):
            return placeholder_secret(key), True
        pairs = {name: _reveal(item, f"{key}.{name}") for name, item in value.items()}
        return {name: item for name, (item, _) in pairs.items()}, any(secret for _, secret in pairs.values())
    if isinstance(value, list):
        items = [_reveal(item, key) for item in value]
        return [item for item, _ in items], any(secret for _, secret in items)
    return value, False


class _Refused(yaml.MarkedYAMLError):
    """YAML that a stack file does not allow; the note is the fix."""


class _Loader(yaml.CSafeLoader):
    """A YAML loader that resolves values as the engine does (YAML 1.2 core schema) and refuses duplicate keys."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: ARG002  # always deep
    ) -> dict[Hashable, Any]:
        seen: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                first = seen[key.value].start_mark.line + 1
                raise _Refused(
                    problem=f"`{key.value}` is a duplicate key (first on line {first})",
                    problem_mark=key.start_mark,
                    note="Remove one of the two",
                )
            seen[key.value] = key
        self.flatten_mapping(node)
        return {str(key.value): self.construct_object(item, deep=True) for key, item in node.value}


_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
_INTEGERS: Final = (
    (re.compile(r"[-+]?0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)"), 0),
    (re.compile(r"[-+]?0[0-7]+"), 8),
    (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10),
)
_CONSTANTS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def _construct_plain(_loader: yaml.Loader, node: yaml.ScalarNode) -> object:
    """Return the value of a scalar, as the engine resolves it."""
    text: str = node.value
    if node.style:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _DATE.fullmatch(text):
        raise _Refused(
            problem=f"`{text}` without quotes is a date, and no setting is a date",
            problem_mark=node.start_mark,
            note=f'Write "{text}"',
        )
    return _number_or(text)


def _number_or(text: str) -> object:
    """Return `text` as a number, or unchanged if it is not a number."""
    plain = text.replace("_", "")
    for pattern, base in _INTEGERS:
        if pattern.fullmatch(plain):
            return int(plain, base)
    if not _NUMBER.fullmatch(plain):
        return text
    number = float(plain)
    return int(number) if number.is_integer() else number


# Only the merge key is resolved while composing; `_construct_plain` resolves scalars.
_Loader.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile(r"^<<$"))]}
_Loader.add_constructor("tag:yaml.org,2002:str", _construct_plain)


def _load(text: str, path: Path) -> dict[str, Any]:
    try:
        # A subclass of the safe loader: it builds plain data only.
        document = yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        fix = error.note if isinstance(error, _Refused) and error.note else "Check the indentation and the quotes"
        problem = error.problem or "not YAML"
        raise UnreadableStackFileError(path, problem, fix, line=line, column=column) from None
    except yaml.YAMLError as error:
        raise UnreadableStackFileError(path, f"not YAML ({error})", "Check its encoding") from None
    if document is None:
        raise UnreadableStackFileError(path, "the file is empty", "A stack file begins with `config:`")
    if not isinstance(document, dict):
        raise UnreadableStackFileError(path, "the file is not a map", "A stack file begins with `config:`")
    for key in document:
        if key not in _TOP_LEVEL:
            near = difflib.get_close_matches(str(key), _TOP_LEVEL, n=1)
            fix = f"Did you mean `{near[0]}`?" if near else f"Pulumi reads {', '.join(_TOP_LEVEL)}"
            raise UnreadableStackFileError(path, f"`{key}` is not a key of a stack file", fix)
    return document
