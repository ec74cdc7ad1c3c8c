"""The problems of a YAML file, each with its line and column: of its encoding, of its syntax and of its values."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from gpu_ci.stack_file.faults import one_line

LIMIT: Final = 1024 * 1024
"""The largest file, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """Something that the file must not contain, at its place."""

    line: int
    column: int
    problem: str
    fix: str

    def __post_init__(self) -> None:
        """Make both texts one line."""
        object.__setattr__(self, "problem", one_line(self.problem))
        object.__setattr__(self, "fix", one_line(self.fix))


class YamlError(Exception):
    """All problems of one file."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__(*self.problems)


def text_of(path: Path) -> str:
    """Return the text of a file, of which no more than the limit is read.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe or another thing that is not a file.
        YamlError: the content is not UTF-8, is too long or has control characters.

    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a file")
    with path.open("rb") as file:
        return decoded(file.read(LIMIT + 1))


def decoded(content: bytes) -> str:
    """Return the text of the content of a file, or raise `YamlError`."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(Problem(line=1, column=1, problem="the file is in UTF-16", fix="Save it in UTF-8"))
    if len(content) > LIMIT:
        longest = max(enumerate(content.split(b"\n"), 1), key=lambda numbered: len(numbered[1]))[0]
        problem = f"the file has more than {LIMIT // 1024} KiB; this is its longest line"
        raise YamlError(Problem(line=longest, column=1, problem=problem, fix="Remove what is no setting"))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(content[: error.start].decode("utf-8", "replace"))
        problem = f"the byte {content[error.start]:#04x} is not UTF-8"
        raise YamlError(Problem(line=line, column=column, problem=problem, fix="Save the file in UTF-8")) from None
    if found := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line, column = _place(text[: found.start()])
        problem = f"the character {found[0]!a} is not allowed in YAML"
        raise YamlError(Problem(line=line, column=column, problem=problem, fix="Remove it"))
    return text


def syntax(error: yaml.MarkedYAMLError, text: str) -> Problem:
    """Return an error of the parser at the place where the person has to look."""
    scanning = str(error.context or "").startswith("while scanning a")
    mark = (error.context_mark if scanning else None) or error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = text.splitlines()
    sign = lines[line - 1][column - 1 : column] if line <= len(lines) else ""
    problem = str(error.problem or "not YAML").replace("did not find expected node content", "a value is missing here")
    if "cannot start any token" in problem:
        if sign == "\t":
            return Problem(line=line, column=column, problem="a tab is not allowed here", fix="Indent with spaces")
        quoted = f"a value cannot begin with {sign} without quotes"
        return Problem(line=line, column=column, problem=quoted, fix="Write the value in quotes")
    if "mapping values are not allowed" in problem:
        fix = "Write a value that contains a colon in quotes, and check the indentation"
        return Problem(line=line, column=column, problem="a colon is not allowed here", fix=fix)
    opened = {"while parsing a flow sequence": "list", "while parsing a flow mapping": "map"}.get(str(error.context))
    if opened and error.context_mark:
        begin = error.context_mark
        problem = f"the {opened} that begins here does not end before line {line}, column {column}"
        fix = "Check its commas, quotes and brackets"
        return Problem(line=begin.line + 1, column=begin.column + 1, problem=problem, fix=fix)
    return Problem(line=line, column=column, problem=problem, fix="Check the indentation and the quotes")


def _place(before: str) -> tuple[int, int]:
    """Return the line and the column after the text `before`."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
