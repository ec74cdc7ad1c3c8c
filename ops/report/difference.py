"""The difference of two values as lines that a person reads.

Policies are JSON text, scripts are packed into user data, and the values of a chart are deep. They are opened first.
Then only the branches that differ are shown, as YAML, with a `-` or a `+` at the beginning of a line.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import difflib
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, Final

import yaml

MISSING: Final = object()
"""In place of a value that does not exist."""
_PACKED: Final = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")
_LARGEST: Final = 1_000_000
"""Bytes of unpacked text; larger content stays packed."""
_IDENTITIES: Final = ("name", "Sid", "sid", "id", "key", "rulePriority", "path")
"""The keys that identify an item of a list."""
_AROUND: Final = 40
"""Letters around the part of a long line that differs."""
_WIDTH: Final = 110
"""Letters of a line of YAML."""
_CONTEXT: Final = 2
"""Equal lines around a changed line of a text."""


class _Dumper(yaml.SafeDumper):
    """YAML for people: text of several lines as such."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)


def readable(value: Any) -> Any:
    """Return a value with JSON text opened, and with packed text unpacked."""
    match value:
        case dict():
            return {str(key): readable(item) for key, item in value.items()}
        case list():
            return [readable(item) for item in value]
        case str():
            return _opened(value)
        case _:
            return value


def _opened(text: str) -> Any:
    if text.startswith(("{", "[")):
        try:
            return readable(json.loads(text))
        except (json.JSONDecodeError, RecursionError):
            return text
    return _PACKED.sub(lambda found: _unpacked(found[0]), text)


def _unpacked(packed: str) -> str:
    """Return the text in base64, also if it is compressed; other content unchanged."""
    try:
        content = base64.b64decode(packed, validate=True)
        if content.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(_LARGEST)
        elif content.startswith(b"BZh"):
            content = bz2.BZ2Decompressor().decompress(content, _LARGEST)
        text = content.decode()
    except (binascii.Error, OSError, EOFError, ValueError, zlib.error):
        return packed
    printable = all(letter.isprintable() or letter in "\n\r\t" for letter in text)
    return f"\n{text}" if printable and "\n" in text else packed


def leaves(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the paths and values that differ between two values; `MISSING` where there is none."""
    before, after = _members(old), _members(new)
    if before is None or after is None or type(old) is not type(new):
        yield path, old, new
        return
    for key in _merged(before, after):
        one, other = before.get(key, MISSING), after.get(key, MISSING)
        if not _same(one, other):
            yield from leaves(f"{path}{key}", one, other)


def _same(old: Any, new: Any) -> bool:
    """Return whether two values are equal; true and 1 are not."""
    if old is MISSING or new is MISSING:
        return old is new
    return old is new or json.dumps(old, sort_keys=True, default=str) == json.dumps(new, sort_keys=True, default=str)


def _merged(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [*before, *(key for key in after if key not in before)]


def _members(value: Any) -> dict[str, Any] | None:
    """Return the members of a map, or the items of a list, by the end of their paths."""
    if isinstance(value, dict):
        plain = re.compile(r"[\w-]+")
        return {
            f".{key}" if plain.fullmatch(str(key)) else f'["{key}"]': item
            for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))
        }
    if isinstance(value, list):
        identity = _identity(value)
        return {f"[{item[identity] if identity else number}]": item for number, item in enumerate(value)}
    return None


def _identity(items: list[Any]) -> str:
    """Return the key that identifies the items of a list; empty if none does."""
    for key in _IDENTITIES:
        names = [str(item.get(key, "")) if isinstance(item, dict) else "" for item in items]
        if names and all(names) and len(set(names)) == len(names):
            return key
    return ""


def difference(old: Any, new: Any) -> list[str]:
    """Return the lines of the branches that differ; every line begins with `-`, `+` or a space."""
    if isinstance(old, str) and isinstance(new, str):
        return text_lines(old, new)
    return list(_branches(old, new, ""))


def whole(value: Any) -> list[str]:
    """Return all lines of a value."""
    return value.splitlines() if isinstance(value, str) else _yaml(value)


def _yaml(value: Any, *, flow: bool | None = None) -> list[str]:
    """Return a value as YAML; with `flow` None, the innermost maps and lists are in one line."""
    dumped: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=flow, allow_unicode=True, sort_keys=True, width=_WIDTH
    )
    return [line for line in dumped.splitlines() if line != "..."]


def _branches(old: Any, new: Any, pad: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            yield from _entry(key, old.get(key, MISSING), new.get(key, MISSING), pad)
    elif isinstance(old, list) and isinstance(new, list):
        for before, after in _pairs(old, new):
            yield from _entry(None, before, after, pad)
    else:
        yield from (f"-{pad}{line}" for line in ([] if old is MISSING else whole(old)))
        yield from (f"+{pad}{line}" for line in ([] if new is MISSING else whole(new)))


def _entry(key: str | None, old: Any, new: Any, pad: str) -> Iterator[str]:
    """Yield the lines of one member of a map, or of one item of a list if `key` is None."""
    if _same(old, new):
        return
    if old is not MISSING and new is not MISSING:
        nested = (dict, list)
        if isinstance(old, nested) and type(old) is type(new):
            yield f" {pad}{_label(key, old)}"
            yield from _branches(old, new, f"{pad}  ")
            return
        if isinstance(old, str) and isinstance(new, str):
            if "\n" in old and "\n" in new:
                yield f" {pad}{_label(key, old)} |"
                yield from (f"{line[0]}{pad}  {line[1:]}" for line in text_lines(old, new))
                return
            old, new = excerpts(old, new)
    for sign, value in (("-", old), ("+", new)):
        if value is not MISSING:
            flow = None if isinstance(value, (dict, list)) else False
            yield from (f"{sign}{pad}{line}" for line in _yaml([value] if key is None else {key: value}, flow=flow))


def _label(key: str | None, value: Any) -> str:
    """Return the line above a branch; that of an item of a list names it."""
    if key is not None:
        return f"{key}:"
    identity = _identity([value])
    return f"- {identity}: {value[identity]}" if identity else "-"


def _pairs(old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the items of two lists that belong together."""
    before, after = _members(old) or {}, _members(new) or {}
    if (_identity(old) and _identity(new)) or not old or not new:
        yield from ((before.get(key, MISSING), after.get(key, MISSING)) for key in _merged(before, after))
        return
    was, now = ([json.dumps(item, sort_keys=True, default=str) for item in items] for items in (old, new))
    for kind, start, end, first, last in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if end - start == last - first:
            yield from zip(old[start:end], new[first:last], strict=True)
        else:
            yield from ((item, MISSING) for item in old[start:end])
            yield from ((MISSING, item) for item in new[first:last])


def text_lines(old: str, new: str) -> list[str]:
    """Return the changed lines of a text with the lines around them; a gap between them is a line with `…`."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) == len(after) == 1:
        old, new = excerpts(old, new)
        return [f"-{old}", f"+{new}"]
    found = [
        " …" if line.startswith("@@") else line
        for line in list(difflib.unified_diff(before, after, lineterm="", n=_CONTEXT))[2:]
    ]
    return found[1:] or [f"-{old!r}", f"+{new!r}"]


def excerpts(old: str, new: str) -> tuple[str, str]:
    """Return the parts of two long lines that differ, with the words around them."""
    if max(len(old), len(new)) <= 3 * _AROUND:
        return old, new
    shortest = min(len(old), len(new))
    start = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    end = next((at for at in range(shortest - start) if old[-1 - at] != new[-1 - at]), shortest - start)
    first, last = max(0, start - _AROUND), max(0, end - _AROUND)
    cut = [text[first : len(text) - last] for text in (old, new)]
    return f"{'…' * (first > 0)}{cut[0]}{'…' * (last > 0)}", f"{'…' * (first > 0)}{cut[1]}{'…' * (last > 0)}"
