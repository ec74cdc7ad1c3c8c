"""Draw random mutants of the product, and report which of them the tests kill.

A mutant is one small mistake: a changed constant or comparison, a removed statement, two swapped arguments. A test
kills it if the test fails with the mistake. Run it in a clone, because it edits files:

    python -m tools.mutants draw --seed 7 --count 80 > mutants.json
    python -m tools.mutants trace mutants.json reached.json -- -n 2      # one run of all tests
    python -m tools.mutants run mutants.json reached.json killed.json    # for each mutant, the tests that reach it

With `-- -p tests.quick`, `run` uses the tests of `make test`. A statement at the top of a module runs at its import, so
no test reaches it alone; the tests of the files that import the module count instead.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

ROOT: Final = Path(__file__).resolve().parents[1]
OUTSIDE: Final = ("tests", "tools", "docs", "docker")
"""Folders that are not the product."""
COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
SECONDS: Final = 60.0
"""The tests of one mutant took at most this long in the traced run; the most specific ones are first."""
FILES: Final = 8
"""The tests of one mutant are in at most this many files, because pytest imports each of them."""
PROBE: Final = """
import ast, importlib.machinery, json, os
_SITES = json.loads(os.environ["MUTANT_SITES"])
_compile = importlib.machinery.SourceFileLoader.source_to_code
def _reach(site, _seen=set()):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (site, test) not in _seen:
        _seen.add((site, test))
        with open(os.environ["MUTANT_LOG"], "a") as log:
            log.write(json.dumps([site, test]) + "\\n")
class _Probes(ast.NodeTransformer):
    def __init__(self, sites):
        self.sites = sites
    def generic_visit(self, node):
        super().generic_visit(node)
        for body in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
            for line, site in self.sites if isinstance(body, list) else ():
                at = next((at for at, one in enumerate(body) if isinstance(one, ast.stmt) and one.lineno == line), None)
                if at is not None:
                    probe = ast.parse(f"__import__('sitecustomize')._reach({site})").body[0]
                    body.insert(at, ast.copy_location(probe, body[at]))
        return node
def _source_to_code(self, data, path, **options):
    sites = _SITES.get(os.path.realpath(path))
    if sites and not isinstance(data, ast.AST):
        data = ast.fix_missing_locations(_Probes(sites).visit(ast.parse(data)))
    return _compile(self, data, path, **options)
importlib.machinery.SourceFileLoader.source_to_code = _source_to_code
"""
"""A `sitecustomize` that logs the running test at each mutated statement, also in the processes that a test starts."""


class Mutant(TypedDict):
    """One mistake. The lines without and with it find the place again after edits elsewhere in the file."""

    path: str
    line: int
    statement: int
    """The first line of the statement that contains it."""
    top: bool
    """True at the top of a module."""
    kind: str
    before: str
    after: str


class Traced(TypedDict):
    """One run of the tests."""

    reached: dict[str, list[str]]
    """The number of a mutant to the tests that reach it."""
    seconds: dict[str, float]
    failed: list[str]


class Statement(NamedTuple):
    """A statement of a module."""

    node: ast.stmt
    in_function: bool


def statements(body: Sequence[ast.stmt], *, in_function: bool = False) -> Iterator[Statement]:
    """Yield the statements of a body and those inside them, without imports and docstrings."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield Statement(node, in_function)
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for inner in getattr(node, field, []):
                deeper = [inner] if isinstance(inner, ast.stmt) else inner.body
                yield from statements(deeper, in_function=inside)


def expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, without its annotations and texts with values, and those of inner ones."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    waiting = [child for child in ast.iter_child_nodes(node) if child is not getattr(node, "annotation", None)]
    while waiting:
        child = waiting.pop()
        if isinstance(child, ast.stmt | ast.JoinedStr):
            continue
        if isinstance(child, ast.expr):
            yield child
        waiting.extend(ast.iter_child_nodes(child))


def mistake(node: ast.expr) -> tuple[str, str] | None:  # noqa: PLR0911 - one for each kind
    """Return the kind and the text of a mistake in place of an expression; None if there is none."""
    match node:
        case ast.Constant(value=bool() as value):
            return "constant", str(not value)
        case ast.Constant(value=int() | float() as value):
            return "constant", str(value + 1)
        case ast.Constant(value=str() as text) if text:
            return "constant", repr(f"{text}x")
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in COMPARISONS:
            return "comparison", f"({ast.unparse(left)} {COMPARISONS[type(op)]} {ast.unparse(right)})"
        case ast.Call(args=[first, second, *rest]) if not isinstance(first, ast.Starred):
            return "swapped", ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))
        case ast.Call(keywords=[ast.keyword(arg=str() as a, value=x), ast.keyword(arg=str() as b, value=y), *rest]):
            swapped = [ast.keyword(a, y), ast.keyword(b, x), *rest]
            return "swapped", ast.unparse(ast.Call(node.func, node.args, swapped))
        case _:
            return None


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    lines = source.splitlines(keepends=True)
    for statement, in_function in statements(ast.parse(source).body):
        found: list[tuple[ast.expr | ast.stmt, str, str]] = [
            (node, *wrong) for node in expressions(statement) if (wrong := mistake(node)) is not None
        ]
        if in_function and isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Return):
            found.append((statement, "removed", "pass"))
        for node, kind, text in found:
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            start, end = node.col_offset, node.end_col_offset or 0
            yield Mutant(
                path=path,
                line=first + 1,
                statement=statement.lineno,
                top=not in_function,
                kind=kind,
                before="".join(lines[first : last + 1]),
                after=lines[first].encode()[:start].decode() + text + lines[last].encode()[end:].decode(),
            )


def draw(seed: int, count: int) -> list[Mutant]:
    """Return random mutants: first the file, by its lines, then the kind, then the place."""
    chance = random.Random(seed)  # noqa: S311
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = {name: (ROOT / name).read_text() for name in listed.split() if name.split("/")[0] not in OUTSIDE}
    weights = [source.count("\n") for source in files.values()]
    drawn: dict[tuple[str, int, str], Mutant] = {}
    while len(drawn) < count:
        path = chance.choices(list(files), weights)[0]
        kinds: defaultdict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants_of(path, files[path]):
            kinds[mutant["kind"]].append(mutant)
        if kinds:
            mutant = chance.choice(kinds[chance.choice(sorted(kinds))])
            drawn[path, mutant["line"], mutant["after"]] = mutant
    return list(drawn.values())


def trace(mutants: Sequence[Mutant], options: Sequence[str]) -> Traced:
    """Run the tests once, and return which of them reach each mutant."""
    places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        places[str(ROOT / mutant["path"])].append((mutant["statement"], number))
    reached: defaultdict[str, set[str]] = defaultdict(set)
    seconds: defaultdict[str, float] = defaultdict(float)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(PROBE)
        log, results = Path(folder, "log"), Path(folder, "results.xml")
        log.touch()
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment |= {"MUTANT_SITES": json.dumps(places), "MUTANT_LOG": str(log)}
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={results}", *options]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        for line in log.read_text().splitlines():
            number, test = json.loads(line)
            if test:
                reached[str(number)].add(test)
        for case in ET.parse(results).iter("testcase"):  # noqa: S314 - the report of our own run
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
            seconds[name] += float(case.get("time", "0"))
            if any(child.tag in {"failure", "error"} for child in case):
                failed.append(name)
    return Traced(reached={key: sorted(tests) for key, tests in reached.items()}, seconds=dict(seconds), failed=failed)


def importing(path: str, tests: Sequence[str]) -> list[str]:
    """Return the tests whose file imports a module, or a module that imports it."""
    files = {file.relative_to(ROOT).as_posix(): file.read_text() for file in ROOT.glob("[!.]*/**/*.py")}

    def importers(name: str) -> list[str]:
        package, _, last = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".").rpartition(".")
        one = rf"(from {re.escape(package)}\.{last} import|import {re.escape(package)}\.{last}\b)"
        pattern = re.compile(rf"^\s*({one}|from {re.escape(package)} import [^\n]*\b{last}\b)", re.MULTILINE)
        return [file for file, text in files.items() if pattern.search(text)]

    direct = importers(path)
    indirect = [file for name in direct if not name.startswith("tests/") for file in importers(name)]
    return [test for test in tests if test.partition("::")[0] in {*direct, *indirect}]


def chosen(number: int, mutant: Mutant, traced: Traced) -> list[str]:
    """Return the tests to run against a mutant: those that reach fewest other mutants first, within the limits."""
    counts = Counter(test for tests in traced["reached"].values() for test in tests)
    seconds = traced["seconds"]
    reached = importing(mutant["path"], [*seconds]) if mutant["top"] else traced["reached"].get(str(number), [])
    known = {test for test in reached if test in seconds} - {*traced["failed"]}
    taken: list[str] = []
    for test in sorted(known, key=lambda name: (counts[name], seconds[name])):
        files = {one.partition("::")[0] for one in (*taken, test)}
        if sum(seconds[one] for one in (*taken, test)) <= SECONDS and len(files) <= FILES:
            taken.append(test)
    return taken


def fate_of(number: int, mutant: Mutant, traced: Traced, options: Sequence[str]) -> dict[str, Any]:
    """Return whether tests kill a mutant: killed, and by which test; survived; not reached by a test; or missing."""
    path = ROOT / mutant["path"]
    source = path.read_text() if path.exists() else ""
    tests = chosen(number, mutant, traced)
    fate: dict[str, Any] = {"mutant": number, "tests": len(tests)}
    starts = [found.start() for found in re.finditer(re.escape(mutant["before"]), source)]
    if not starts:
        return {**fate, "fate": "missing"}
    if not tests:
        return {**fate, "fate": "not reached"}
    start = min(starts, key=lambda one: abs(source.count("\n", 0, one) + 1 - mutant["line"]))
    path.write_text(source[:start] + mutant["after"] + source[start:].removeprefix(mutant["before"]))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *options, *tests]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10 * SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {**fate, "fate": "killed", "by": "the time limit"}
    finally:
        path.write_text(source)
    if ended.returncode == 0:
        return {**fate, "fate": "survived"}
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    return {**fate, "fate": "killed", "by": found[1] if found else ended.stdout[-300:]}


def main() -> None:
    """Run one of the three steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    drawing = steps.add_parser("draw")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=80)
    for name, files in {"trace": ("mutants", "reached"), "run": ("mutants", "reached", "result")}.items():
        step = steps.add_parser(name)
        for file in files:
            step.add_argument(file, type=Path)
        step.add_argument("options", nargs="*", help="options of pytest, after --")
    given = parser.parse_args()
    if given.step == "draw":
        json.dump(draw(given.seed, given.count), sys.stdout, indent=1)
        return
    mutants = json.loads(given.mutants.read_text())
    if given.step == "trace":
        given.reached.write_text(json.dumps(trace(mutants, given.options)))
        return
    traced, fates = json.loads(given.reached.read_text()), []
    for number, mutant in enumerate(mutants):
        fates.append(fate_of(number, mutant, traced, given.options))
        sys.stdout.write(f"{json.dumps(fates[-1])}\n")
        given.result.write_text(json.dumps(fates, indent=1))
    kinds = Counter(fate["fate"] for fate in fates)
    sys.stdout.write(f"{', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}\n")


if __name__ == "__main__":
    main()
