"""Only the package of a back end names it: everything else asks `gpu_ci.back_ends.protocol`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.back_ends.stack_file import RunnerSettings
from tests.sources import python_files

pytestmark = pytest.mark.pure

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = sorted(
    name
    for path in python_files()
    if not (name := path.relative_to(ROOT).as_posix()).startswith(("docs/", "tests/", "tools/"))
)
NAMES: Final = tuple(BACK_ENDS)
REGISTRY: Final = ("gpu_ci/back_ends/registry.py", "gpu_ci/back_ends/stack_file.py")
KEYS: Final = {name: {name, name.replace("_", "-")} for name in NAMES}
"""A package to the names of its section: as an attribute, and as a key of the stack file."""
OF_A_RUNNER: Final = frozenset({"BACK_ENDS", "back_end", "back_ends", "runner", "runners", "stated"})
"""Identifiers of a runner and of its back end. In a statement with one of them, a back end's key is a mention of it."""
TEMPLATES: Final = frozenset({"gpu_ci/back_ends/start_stop/jarvis_rules.py"})
"""Modules with another thing that is called like a back end: the template `vm` of Jarvis Labs."""


def named(source: str, names: tuple[str, ...] = NAMES) -> Iterator[str]:
    """Yield each mention of a back end: an import of its package, or its key where the code is about a runner.

    A back end may have the name of an English word. Such a word is a mention only in a statement about a runner.
    """
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.ImportFrom | ast.Import):
            prefix = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
            imported = [f"{prefix}{alias.name}." for alias in statement.names]
            yield from (name for name in names if any(one.startswith(f"gpu_ci.back_ends.{name}.") for one in imported))
        elif isinstance(statement, ast.stmt):
            inside = [part for child in _expressions(statement) for part in ast.walk(child)]
            identifiers = {part.id for part in inside if isinstance(part, ast.Name)}
            identifiers |= {part.attr for part in inside if isinstance(part, ast.Attribute)}
            for name in names:
                word = "_" not in name
                keys = {name, name.replace("_", "-")}
                strings = any(isinstance(part, ast.Constant) and part.value in keys for part in inside)
                attributes = [part.value for part in inside if isinstance(part, ast.Attribute) and part.attr == name]
                if (strings and (not word or identifiers & OF_A_RUNNER)) or any(
                    ast.unparse(value).endswith("runner") if word else True for value in attributes
                ):
                    yield name


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, without those of the statements inside it."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child


def test_no_module_outside_its_package_names_a_back_end() -> None:
    own = {f"gpu_ci/back_ends/{name}/" for name in NAMES}
    modules = [name for name in PRODUCT if not name.startswith(tuple(own)) and name not in REGISTRY]
    found = {name: sorted(set(named((ROOT / name).read_text(encoding="utf-8")))) for name in modules}

    assert {name: back_ends for name, back_ends in found.items() if back_ends and name not in TEMPLATES} == {}


@pytest.mark.parametrize(("package", "others"), [(name, set(NAMES) - {name}) for name in NAMES])
def test_a_back_end_names_no_other(package: str, others: set[str]) -> None:
    modules = [name for name in PRODUCT if name.startswith(f"gpu_ci/back_ends/{package}/")]

    assert {
        name
        for name in modules
        if others & {*named((ROOT / name).read_text(encoding="utf-8"))} and name not in TEMPLATES
    } == set()


@pytest.mark.parametrize(
    "source",
    [
        "from gpu_ci.back_ends.arc.section import ArcSection",
        "from gpu_ci.back_ends import cirun_aws",
        "import gpu_ci.back_ends.cirun_gcp.back_end",
        "def served(runner):\n    return runner.arc is not None",
        "if BACK_ENDS[runner.back_end] is BACK_ENDS['vm']:\n    pass",
        "x = 'arc' in runner.stated",
        "KEY = 'cirun-aws'",
        "FIELD = 'cirun_gcp'",
    ],
)
def test_a_mention_of_a_back_end_is_found(source: str) -> None:
    assert list(named(source))


@pytest.mark.parametrize(
    "source",
    [
        "from gpu_ci.back_ends.registry import BACK_ENDS",
        "x = settings.arc",
        "'arc-runners'",
        "if machine['status'] == 'existing':\n    pass",
        "x = github.registered",
    ],
)
def test_a_word_that_is_also_the_name_of_a_back_end_is_allowed(source: str) -> None:
    assert list(named(source, (*NAMES, "existing", "registered"))) == []


def test_the_registry_has_a_back_end_for_each_section_of_a_runner() -> None:
    assert tuple(RunnerSettings.back_ends()) == NAMES
