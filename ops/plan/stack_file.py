"""A stack file as the engine gives it to a program: a text for each key, and the keys of secrets.

This module only reads the YAML of `Pulumi.<stack>.yaml`; `config` validates the values. It follows the engine
(`gopkg.in/yaml.v3`, compared with Pulumi 3.258): `yes` and `on` are strings, a whole float is an integer, and a date
without quotes is not a string.
"""

from __future__ import annotations

import base64
import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.reading.yaml_problems import Problem, YamlError, text_of
from gpu_ci.stack_file.reading.yaml_tree import Node, NotAllowed, scalars, tree


class UnreadableStackFileError(Exception):
    """A stack file that does not exist, or is not YAML that the engine reads."""

    def __init__(self, path: Path, *problems: Problem | str) -> None:
        self.path = path
        self.problems = problems
        shown = shortened(path)
        super().__init__("\n".join(_line(shown, problem) for problem in problems))


def _line(shown: str, problem: Problem | str) -> str:
    if isinstance(problem, str):
        return f"{shown}: {problem}"
    return f"{shown}:{problem.line}:{problem.column}: {problem.problem}. {problem.fix}"


_MOST_NAMES: Final = 5
"""The number of names that are listed if none is near."""
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
    numbers: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    """Every number by its path, with its text as typed: `1.30` is the number 1.3."""


def find(stack: str, root: Path) -> Path:
    """Return the file of `stack` in `root`; the error names similar stacks."""
    path = root / f"Pulumi.{stack}.yaml"
    if not path.exists():
        names = sorted(_stack_name(one) for one in root.glob("Pulumi.*.yaml"))
        raise UnreadableStackFileError(path, f"no such stack file. {_near(stack, root, names)}")
    return path


def read(path: Path) -> StackFile:
    """Read one stack file without validating its values."""
    document = _document(path)
    config = document.value.get("config")
    entries: dict[str, Node] = config.value or {} if config else {}
    texts: dict[str, str] = {}
    secret_keys: set[str] = set()
    numbers: dict[str, tuple[float, str]] = {}
    for key, node in entries.items():
        name = _full(key)
        revealed, secret = _reveal(node.plain(), name)
        texts[name] = revealed if isinstance(revealed, str) else _compact(revealed)
        if secret:
            secret_keys.add(name)
        numbers |= {
            where: (one.value, one.text)
            for where, one in scalars(node, name).items()
            if isinstance(one.value, int | float) and not isinstance(one.value, bool)
        }
    return StackFile(
        name=_stack_name(path), path=path, config=texts, secret_keys=frozenset(secret_keys), numbers=numbers
    )


def _full(key: str) -> str:
    """Return a key with its namespace."""
    return key if ":" in key else f"{PROJECT}:{key}"


def placeholder_secret(key: str) -> str:
    """Return a placeholder for a secret, in the format that its name implies."""
    if "private-key" not in key:
        return "placeholder-secret"
    body = base64.b64encode(b"a placeholder for a private key; it is not a key. " * 20).decode()
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    kind = "RSA PRIVATE KEY"
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


_CIPHERTEXT: Final = re.compile(r"v\d:[A-Za-z0-9+/]+=*:[A-Za-z0-9+/]+=*|[A-Za-z0-9+/]{24,}=*")
"""An encrypted value: of a passphrase, or of a key of Pulumi Cloud or of a cloud (sdk/go/common/resource/config)."""


def _stack_name(path: Path) -> str:
    match = re.fullmatch(r"Pulumi\.(.+)\.ya?ml", path.name)
    return match[1] if match else path.stem


def _near(wanted: str, folder: Path, names: list[str]) -> str:
    """Return a sentence with the names in a folder that are nearest to `wanted`."""
    if not folder.is_dir():
        return f"There is no folder {shortened(folder)}"
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5) or names[:_MOST_NAMES]
    return f"Did you mean {' or '.join(near)}?" if near else f"{shortened(folder)} contains no stack file"


def shortened(path: Path) -> str:
    """Return a path relative to the current folder, if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _reveal(value: Any, key: str) -> tuple[Any, bool]:
    """Return `value` with every `{secure: …}` replaced by a placeholder, and whether there was one.

    A text below `secure` that is not encrypted is plain text.
    """
    if isinstance(value, dict):
        if set(value) == {"secure"} and isinstance(value["secure"], str) and _CIPHERTEXT.fullmatch(value["secure"]):
            return placeholder_secret(key), True
        pairs = {name: _reveal(item, f"{key}.{name}") for name, item in value.items()}
        return {name: item for name, (item, _) in pairs.items()}, any(secret for _, secret in pairs.values())
    if isinstance(value, list):
        items = [_reveal(item, key) for item in value]
        return [item for item, _ in items], any(secret for _, secret in items)
    return value, False


_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
_MIDNIGHT: Final = " 00:00:00 +0000 UTC"
"""The ending of a date after Pulumi 3.258 has written the stack file."""
_OCTAL: Final = 8
_INTEGERS: Final = (
    (re.compile(r"[-+]?0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)"), 0),
    (re.compile(r"[-+]?0[0-7]+"), _OCTAL),
    (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10),
)
_DIGITS: Final = 40
"""The longest text of a number."""
_LARGEST: Final = 1e30
_LONGEST_KEY: Final = 40
_BEGIN: Final = "A stack file begins with `config:`"
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_CONSTANTS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def _resolved(text: str, tag: str) -> object:
    """Return the value of a scalar without quotes, as the engine resolves it."""
    if text in _CONSTANTS:
        value = _CONSTANTS[text]
    elif _DATE.fullmatch(text):
        day = text.removesuffix(_MIDNIGHT)
        raise NotAllowed(f"`{text}` without quotes is a date, which Pulumi changes to a time", f'Write "{day}"')
    else:
        value = _number_or(text)
    if tag and type(value) not in _TYPES[tag]:
        raise NotAllowed(f"`{text}` is not of the type !!{tag}", "Remove the tag")
    return value


def _number_or(text: str) -> object:
    """Return `text` as a number, or unchanged if it is not a number."""
    plain = text.replace("_", "")
    base = next((base for pattern, base in _INTEGERS if pattern.fullmatch(plain)), None)
    if base is None and not _FLOAT.fullmatch(plain):
        return text
    if base == _OCTAL and len(plain.lstrip("+-")) > 1:
        # The engine reads 010 as 8. A person who writes it means 10, or the text of an account number.
        raise NotAllowed(f"`{text}` is an octal number, because it begins with 0", f'Write "{text}", or remove the 0')
    number: float = math.inf
    if len(plain) <= _DIGITS and base is not None:
        number = int(plain, base)
    elif len(plain) <= _DIGITS and plain.lstrip("+-").lower() not in {".inf", ".nan"}:
        number = float(plain)
    if abs(number) > _LARGEST:
        raise NotAllowed(f"`{text}` is not a number of a setting", "Write a smaller number, or put text in quotes")
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _document(path: Path) -> Node:
    """Return the file as a map of its top-level keys."""
    try:
        document = tree(text_of(path), _resolved)
    except FileNotFoundError:
        names = sorted(one.name for one in path.parent.glob("*.yaml"))
        raise UnreadableStackFileError(path, f"no such stack file. {_near(path.name, path.parent, names)}") from None
    except OSError as error:
        raise UnreadableStackFileError(path, f"cannot be read ({error.strerror}). Name a stack file") from None
    except YamlError as error:
        raise UnreadableStackFileError(path, *error.problems) from None
    if document is None or document.value is None:
        raise UnreadableStackFileError(path, f"the file is empty. {_BEGIN}")
    if not isinstance(document.value, dict):
        raise UnreadableStackFileError(path, _at(document, "the file is not a map", _BEGIN))
    if problems := list(_misplaced(document)):
        raise UnreadableStackFileError(path, *problems)
    return document


def _misplaced(document: Node) -> Iterator[Problem]:
    """Yield the problems of the top-level keys, and of the keys of `config`."""
    for key, node in document.keys.items():
        if key not in _TOP_LEVEL:
            near = difflib.get_close_matches(key[:_LONGEST_KEY], _TOP_LEVEL, n=1)
            fix = f"Did you mean `{near[0]}`?" if near else f"Pulumi reads {', '.join(_TOP_LEVEL)}"
            yield _at(node, f"`{key}` is not a key of a stack file", fix)
    config = document.value.get("config")
    if config is None or config.value is None:
        return
    if not isinstance(config.value, dict):
        yield _at(config, "`config` is not a map", "Write `config:` and the keys below it")
        return
    first: dict[str, Node] = {}
    for key, node in config.keys.items():
        if (other := first.setdefault(_full(key), node)) is not node:
            problem = f"`{key}` is the same key as `{other.value}` on line {other.line}"
            yield _at(node, problem, "Remove one of the two")


def _at(node: Node, problem: str, fix: str) -> Problem:
    return Problem(line=node.line, column=node.column, problem=problem, fix=fix)
