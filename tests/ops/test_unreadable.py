"""A stack file that cannot be read gives one line for each problem, with its place, and no traceback."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ops.cli.options import ROOT
from ops.outcome import Exit
from ops.plan.stack_file import UnreadableStackFileError, read

pytestmark = pytest.mark.pure

BOMB = "\n".join(
    ["config:", "  a: &a [x, x, x, x, x, x, x, x, x]"]
    + [
        f"  {name}: &{name} [{', '.join([f'*{below}'] * 9)}]"
        for below, name in zip("abcdefghi", "bcdefghij", strict=True)
    ]
)
HEAD = "config:\n  gpu-ci:stack: {protect: false}\n"

UNREADABLE = {
    "a template in place of a value": (f"{HEAD}  gpu-ci:aws:\n    region: {{{{ region }}}}\n", "4:14: a map cannot be a"),
    "a list as a key": (f"{HEAD}  [a, b]: c\n", "3:3: a list cannot be a key"),
    "a complex key": (f"{HEAD}  ? {{a: b}}\n  : c\n", "3:5: a map cannot be a key"),
    "an alias of a list as a key": (f"{HEAD}  a: &a [b]\n  *a : c\n", "4:3: an alias cannot be a key"),
    "the tag of a time": (f"{HEAD}  a: !!timestamp 2026-11-22\n", "3:6: the tag !!timestamp is not allowed"),
    "the tag of bytes": (f"{HEAD}  a: !!binary aGk=\n", "3:6: the tag !!binary is not allowed"),
    "the tag of a set": (f"{HEAD}  a: !!set {{b, c}}\n", "3:6: the tag !!set is not allowed"),
    "the tag of ordered pairs": (f"{HEAD}  a: !!omap [b: c]\n", "3:6: the tag !!omap is not allowed"),
    "the tag of an object": (f"{HEAD}  a: !!python/object/apply:os.system [id]\n", "3:6: the tag !!python/object/apply:"),
    "an unknown tag": (f"{HEAD}  a: !foo b\n", "3:6: the tag !foo is not allowed"),
    "a tag that does not fit": (f"{HEAD}  a: !!int abc\n", "3:6: `abc` is not of the type !!int"),
    "a tag of a float that does not fit": (f"{HEAD}  a: !!float true\n", "3:6: `true` is not of the type !!float"),
    "the tag of a map at a text": (f"{HEAD}  a: !!map b\n", "3:6: the tag !!map is not allowed here"),
    "the tag of a list at a map": (f"{HEAD}  a: !!seq {{}}\n", "3:6: the tag !!seq is not allowed here"),
    "an integer of thousands of digits": (f"{HEAD}  a: {'9' * 5000}\n", "3:6: `9999"),
    "a list with such an integer": (f"{HEAD}  a: [{'9' * 5000}]\n", "3:7: `9999"),
    "a hexadecimal number of thousands of digits": (f"{HEAD}  a: 0x{'f' * 5000}\n", "3:6: `0xff"),
    "a float that is too large": (f"{HEAD}  a: 1e999\n", "3:6: `1e999` is not a number of a setting"),
    "an octal number": (f"{HEAD}  a: 0123\n", '3:6: `0123` is an octal number, because it begins with 0. Write "0123", or'),
    "infinity": (f"{HEAD}  a: -.inf\n", "3:6: `-.inf` is not a number"),
    "not a number": (f"{HEAD}  a: [.nan]\n", "3:7: `.nan` is not a number"),
    "a hundred lists": (f"{HEAD}  a: {'[' * 100}{']' * 100}\n", "3:68: maps and lists are nested more than 64 deep"),
    "a hundred thousand lists": (f"{HEAD}  a: {'[' * 100_000}", "3:68: maps and lists are nested"),
    "a hundred thousand maps": (f"{HEAD}  a: {'{a: ' * 100_000}", "maps and lists are nested more than 64 deep"),
    "a hundred thousand items": (f"{'- ' * 100_000}x", "1:129: maps and lists are nested more than 64 deep"),
    "a deep block": ("\n".join(f"{' ' * depth}a:" for depth in range(1000)), "65:65: maps and lists are nested"),
    "an alias bomb": (BOMB, "more than 50000 values, with those that aliases repeat"),
    "a merge bomb": (BOMB.replace("[x, x, x, x, x, x, x, x, x]", "{x: y}"), "more than 50000 values"),
    "an alias inside of its anchor": (f"{HEAD}  a: &a [*a]\n", "3:10: the alias *a is inside of its own anchor"),
    "a map that merges itself": (f"{HEAD}  a: &a\n    <<: *a\n", "4:9: the alias *a is inside of its own anchor"),
    "an alias without an anchor": (f"{HEAD}  a: *b\n", "3:6: the alias *b has no anchor &b before it"),
    "a merge of a text": (f"{HEAD}  a:\n    <<: text\n", "4:9: `<<` merges maps only. Write an alias of a map"),
    "a duplicate key": (f"{HEAD}  a: 1\n  a: 2\n", "4:3: `a` is a duplicate key (first on line 3)"),
    "a key in both spellings": (f"{HEAD}  stack: 2\n", "3:3: `stack` is the same key as `gpu-ci:stack` on line 2"),
    "two documents": (f"{HEAD}---\n{HEAD}", "3:1: a second document begins"),
    "a NUL": (f"{HEAD}  a: b\0\n", r"3:7: the character '\x00' is not allowed in YAML"),
    "a bell": (f"{HEAD}  a: 'b\a'\n", r"3:8: the character '\x07' is not allowed in YAML"),
    "an escape sequence": (f"{HEAD}  a: \x1b[2J\n", r"3:6: the character '\x1b' is not allowed"),
    "a tab": ("config:\n\ta: 1\n", "2:1: a tab is not allowed here. Indent with spaces"),
    "an at sign": (f"{HEAD}  a: @b\n", "3:6: a value cannot begin with @ without quotes"),
    "a second colon": (f"{HEAD}  a: b: c\n", "3:7: a colon is not allowed here"),
    "an open quote": (f"{HEAD}  a: 'b\n  c: d\n", "3:6: found unexpected end of stream"),
    "an open list": (f"{HEAD}  a: [b\n", "3:6: the list that begins here does not end before line 4, column 1"),
    "a wrong escape": (f'{HEAD}  a: "\\q"\n', "found unknown escape character"),
    "half of a pair": (f'{HEAD}  a: "\\ud800"\n', "found invalid Unicode character escape code"),
    "an unknown directive": (f"%FOO\n---\n{HEAD}", "1:1: found unknown directive name"),
    "a wrong directive": ("%YAML 9\n---\nconfig: {}\n", "1:"),
    "an undefined handle": (f"{HEAD}  a: !e!b c\n", "found undefined tag handle"),
    "a list": ("- config\n", "1:1: the file is not a map"),
    "a word": ("config\n", "1:1: the file is not a map"),
    "config as a list": ("config: [a]\n", "1:9: `config` is not a map"),
    "a section at the top": ("config: {}\nrunners: {}\n", "2:1: `runners` is not a key of a stack file"),
    "a long key at the top": (f"{'k' * 500}: 1\n", "is not a key of a stack file"),
    "a long value": (f"config: {'x' * 500_000}\n", "1:9: `config` is not a map"),
    "a long text as a number": (f"{HEAD}  a: {'1' * 500_000}\n", "3:6: `111"),
    "megabytes in one value": (f"{HEAD}  a: {'x' * 5_000_000}\n", "3:1: the file has more than 1024 KiB"),
    "megabytes of keys": ("config:\n" + "  a: b\n" * 200_000, "1:1: the file has more than 1024 KiB"),
    "too many values": (f"config: [{'a,' * 60_000}]\n", "more than 50000 values"),
}  # fmt: skip

BYTES = {
    "UTF-16": (HEAD.encode("utf-16"), "1:1: the file is in UTF-16. Save it in UTF-8"),
    "UTF-16 without a mark": (HEAD.encode("utf-16-le"), r"1:2: the character '\x00' is not allowed in YAML"),
    "Latin-1": (f"{HEAD}  a: é\n".encode("latin-1"), "3:6: the byte 0xe9 is not UTF-8"),
    "a part of a sign": (f"{HEAD}  é: é".encode()[:-1], "3:6: the byte 0xc3 is not UTF-8"),
}


def problems(path: Path) -> list[str]:
    """Return the lines about an unreadable file, after its name."""
    with pytest.raises(UnreadableStackFileError) as refused:
        read(path)
    lines = str(refused.value).splitlines()
    assert all(line.startswith(f"{path}:") and line.isprintable() and len(line) < 1500 for line in lines)
    return [line.removeprefix(f"{path}:").strip() for line in lines]


def test_a_problem_is_reported_in_one_line_with_its_position(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    found = {}
    for name, (text, expected) in UNREADABLE.items():
        path.write_text(text, encoding="utf-8")
        found[name] = (expected, problems(path))

    assert {
        name: (expected, lines)
        for name, (expected, lines) in found.items()
        if [expected in line and bool(re.match(r"\d+:\d+: .+\. [A-Z].+", line)) for line in lines] != [True]
    } == {}


@pytest.mark.parametrize("name", BYTES)
def test_a_wrong_encoding_is_reported_in_one_line_with_its_position(name: str, tmp_path: Path) -> None:
    content, expected = BYTES[name]
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_bytes(content)

    (line,) = problems(path)

    assert line.startswith(expected)


def test_nested_keys_and_excessive_depth_are_two_problems(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_text("? " * 100_000 + "x", encoding="utf-8")

    assert [line.split(": ")[0] for line in problems(path)] == ["1:3", "1:129"]


def test_one_run_reports_all_problems(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_text(
        "config:\n  a: 2026-11-22\n  b: {{ region }}\n  c: !!set {d}\n  c: .inf\n  e: 1\n  f: [}\n", encoding="utf-8"
    )

    assert [line.split(": ")[0] for line in problems(path)] == ["2:6", "3:7", "4:6", "5:3", "5:6", "7:7"]


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{HEAD}",
        HEAD.replace("\n", "\r\n"),
        f"%YAML 1.1\n---\n{HEAD}...\n",
        f"# comment\n{HEAD}",
        f"{HEAD}  gpu-ci:budget:\n    <<: {{expected: 1}}\n",
        f"{HEAD}  !!str gpu-ci:budget: !!map {{expected: !!int 5, worst: !!int '7'}}\n",
    ],
    ids=["BOM", "CRLF", "directive", "comment", "merge key", "tags of plain values"],
)
def test_a_file_that_the_engine_reads_is_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_bytes(text.encode())

    assert read(path).config["gpu-ci:stack"] == '{"protect":false}'


def test_a_path_that_is_not_a_regular_file_is_reported(tmp_path: Path) -> None:
    folder, pipe, missing = tmp_path / "folder.yaml", tmp_path / "pipe.yaml", tmp_path / "missing.yaml"
    folder.mkdir()
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        with contextlib.chdir(tmp_path):  # The path of a socket has at most 108 characters.
            listening.bind("socket.yaml")
        paths = [folder, pipe, tmp_path / "socket.yaml"]

        assert [problems(path) for path in paths] == [["cannot be read (it is not a file). Name a stack file"]] * 3
    assert problems(missing)[0].startswith("no such stack file.")


LIMITED = """
import resource, sys
import ops.cli.commands.plan
from ops.cli.main import run
from tests.work import calls
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
codes = []
print(calls(lambda: codes.append(run(["plan", "--file", sys.argv[2]]))))
sys.exit(codes[0])
"""


@pytest.mark.parametrize(
    "name",
    ["a hundred thousand lists", "an alias bomb", "a merge bomb", "megabytes in one value", "too many values"],
)
def test_a_dangerous_file_ends_within_its_limits(name: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_text(UNREADABLE[name][0], encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(300 * 2**20), str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, len(done.stderr.splitlines())) == (Exit.WRONG, 1)
    assert int(done.stdout) < 2_000_000
