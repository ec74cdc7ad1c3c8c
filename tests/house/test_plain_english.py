"""Tests of the wording: phrases of the glossary do not occur in text that people read, nor in identifiers."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.pure

ROOT: Final = Path(__file__).resolve().parents[2]
FILES: Final = ("*.j2", "*.md", "*.py", "*.sh", "*.toml", "*.yaml", "*.yml", ".github/CODEOWNERS", "Makefile")
EXEMPT: Final = ("ami/gce-gpu-host/", "components/kubernetes/arc/hooks/", "tests/house/test_plain_english.py")
"""Scripts that are inputs of resources: a changed word in them builds a new host image or replaces a ConfigMap."""

PHRASES: Final = {
    r"anew": "again; recreated",
    r"as it is(?! \w+(ed|n)\b)": "unchanged",
    r"be of use|of (any|no) use|least of use": "useful; minimum",
    r"beside": "next to; in addition to",
    r"by (itself|themselves)": "automatically",
    r"come what may": "always",
    r"for ever": "forever",
    r"gone": "deleted; missing",
    r"has nothing after it": "is empty",
    r"held (against|to)|holds? \S+ (against|to)": "checked against",
    r"leave (it|them) away|left[ _]out": "omit; omitted",
    r"lets?( go of|ting go of| in)|letting in": "release; grant access",
    r"levers?": "mitigation",
    r"nobody|somebody": "no user; another user",
    r"offenders?": "subject",
    r"reckon(s|ed|ing)?": "compute",
    r"stand-?ins?": "fake",
    r"stands? (at|beside|for|here|in|on|there)": "is in",
    r"the house": "the package structure",
    r"to be had": "available",
    r"told of|(are|be|been|is|was|were) told": "reported",
    r"ways?[ _](in(?! \()|out)": "access; fix",
    r"what follows": "the derived values",
    r"whatever": "any; regardless of",
    r"who deploys": "the user",
    r"whoever": "anyone who",
}
"""A pattern to its replacement in plain English."""
IN_NAMES: Final = PHRASES | {
    r"(?<!there )is no": "is not a",
    r"said|told": "printed; reported",
    r"says": "prints; states",
}
"""The phrases of identifiers, whose words are separated by spaces. Some of them are correct in a sentence."""


def pattern(phrases: dict[str, str]) -> re.Pattern[str]:
    """Return a pattern that matches whole words."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(phrases)})(?![\w-])", re.IGNORECASE)


PATTERN: Final = pattern(PHRASES)
NAME_PATTERN: Final = pattern(IN_NAMES)

NOT_YET: Final = ("docker/gpu-tests/tests/",)
"""The build context of the test image, under an immutable tag: a changed text needs a new tag."""


def tracked(*patterns: str) -> list[str]:
    """Return the committed files, and new ones, that match one of the patterns."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(listed, capture_output=True, check=True, cwd=ROOT, text=True).stdout.splitlines()
    return sorted(name for name in names if not name.startswith(EXEMPT) and (ROOT / name).is_file())


def phrases(text: str) -> list[str]:
    """Return each line that has a phrase of the glossary, with its number and the phrase."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {match[0]}" for number, line in lines for match in PATTERN.finditer(line)]


def test_no_text_uses_a_phrase_of_the_glossary() -> None:
    names = [name for name in tracked(*FILES) if not name.startswith(NOT_YET)]
    found = {name: phrases((ROOT / name).read_text(encoding="utf-8")) for name in names}

    assert names
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("text", ["t4 is to be had here", "it stands in the file", "Whoever asks", "the way_out of it"])
def test_a_phrase_of_the_glossary_is_found(text: str) -> None:
    assert phrases(text)


@pytest.mark.parametrize("text", ["besides", "a standing order", "the next hold", "stand-alone", "up to date"])
def test_a_word_that_only_resembles_a_phrase_is_allowed(text: str) -> None:
    assert phrases(text) == []


def defined(node: ast.AST) -> str:
    """Return the name of the function, class, argument, variable or attribute that a node defines, or nothing."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return name
        case _:
            return ""


@functools.cache
def is_unclear(name: str) -> bool:
    """Return whether the words of an identifier contain a phrase of the glossary."""
    return NAME_PATTERN.search(re.sub(r"_|(?<=[a-z0-9])(?=[A-Z])", " ", name)) is not None


def unclear(source: str) -> list[str]:
    """Return each identifier that a source defines with a phrase of the glossary, and its line."""
    if not any(map(is_unclear, set(re.findall(r"\w+", source)))):
        return []  # Parsing every file would take seconds.
    nodes = ((getattr(node, "lineno", 0), defined(node)) for node in ast.walk(ast.parse(source)))
    return [f"{line}: {name}" for line, name in nodes if is_unclear(name)]


def test_no_identifier_uses_a_phrase_of_the_glossary() -> None:
    names = [name for name in tracked("*.py") if not name.startswith(NOT_YET)]
    found = {name: unclear((ROOT / name).read_text(encoding="utf-8")) for name in names}

    assert names
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "def test_what_follows_stands_here() -> None: ...",
        "def test_what_is_the_same_every_time_is_no_list() -> None: ...",
        "class StandsHere: ...",
        "def answer(told: str) -> None: ...",
        "told, other = 1, 2",
        "run.said = 1",
        "import this as told",
    ],
)
def test_an_identifier_with_a_phrase_is_found(source: str) -> None:
    assert unclear(source)


@pytest.mark.parametrize("source", ["print(sdk.told)", "is_none = 1", "besides = aside = 1", "call(told=1)"])
def test_a_clear_identifier_or_a_use_of_a_foreign_one_is_allowed(source: str) -> None:
    assert unclear(source) == []


def docstrings(source: str) -> list[str]:
    """Return the docstrings of a module, its classes and its functions."""
    defined = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [
        text for node in ast.walk(ast.parse(source)) if isinstance(node, defined) if (text := ast.get_docstring(node))
    ]


def test_a_docstring_starts_with_a_verb_or_a_noun() -> None:
    names = [name for name in tracked("*.py") if not name.startswith(NOT_YET)]
    questions = re.compile(r"(How|What|Where|Whether|Who|Whom|Whose|Why)\b")
    found = {
        name: [text.splitlines()[0] for text in docstrings((ROOT / name).read_text()) if questions.match(text)]
        for name in names
    }

    assert {name: texts for name, texts in found.items() if texts} == {}
