"""Only the package of a back end names it: everything else asks `gpu_ci.back_ends.protocol`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from gpu_ci.back_ends import NAMES
from tests.sources import python_files

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.pure

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = sorted(
    name
    for path in python_files()
    if not (name := path.relative_to(ROOT).as_posix()).startswith(("docs/", "tests/", "tools/"))
)
REGISTRY: Final = "gpu_ci/back_ends/__init__.py"
KEYS: Final = {name: {name, name.replace("_", "-")} for name in NAMES}
"""A package to the names of its section: as an attribute, and as a key of the stack file."""
RESOURCE_NAMES: Final = frozenset(
    {"components/kubernetes/arc/arc_controller.py", "gpu_ci/back_ends/start_stop/jarvis_rules.py"}
)
"""Modules with another thing that is called like a back end: a resource, whose name is part of a URN and cannot change,
and the template `vm` of Jarvis Labs."""


def named(source: str) -> Iterator[str]:
    """Yield each mention of a back end: an import of its package, its key as a string, or its section of a runner."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in NAMES if any(f"{one}.".startswith(f"back_ends.{name}.") for one in inner))
        elif isinstance(node, ast.Import):
            inner = [alias.name for alias in node.names]
            yield from (name for name in NAMES if any(f"{one}.".startswith(f"back_ends.{name}.") for one in inner))
        elif isinstance(node, ast.Attribute):
            yield from (name for name in NAMES if node.attr == name and not _is_settings(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (name for name, keys in KEYS.items() if node.value in keys)


def _is_settings(value: ast.expr) -> bool:
    """Return True for `settings.arc`: the section of the controller, which is no section of a runner."""
    return ast.unparse(value).endswith("settings")


def test_no_module_outside_its_package_names_a_back_end() -> None:
    own = {f"gpu_ci/back_ends/{name}/" for name in NAMES}
    modules = [name for name in PRODUCT if not name.startswith(tuple(own)) and name != REGISTRY]
    found = {name: sorted(set(named((ROOT / name).read_text(encoding="utf-8")))) for name in modules}

    assert {name: back_ends for name, back_ends in found.items() if back_ends and name not in RESOURCE_NAMES} == {}


@pytest.mark.parametrize(("package", "others"), [(name, set(NAMES) - {name}) for name in NAMES])
def test_a_back_end_names_no_other(package: str, others: set[str]) -> None:
    modules = [name for name in PRODUCT if name.startswith(f"gpu_ci/back_ends/{package}/")]

    assert {
        name
        for name in modules
        if others & {*named((ROOT / name).read_text(encoding="utf-8"))} and name not in RESOURCE_NAMES
    } == set()


@pytest.mark.parametrize(
    "source",
    [
        "from gpu_ci.back_ends.arc.section import SECTION",
        "from back_ends import cirun_aws",
        "import gpu_ci.back_ends.cirun_gcp.offer",
        "def served(runner):\n    return runner.arc is not None",
        "KEY = 'cirun-aws'",
        "FIELD = 'cirun_gcp'",
    ],
)
def test_a_mention_of_a_back_end_is_found(source: str) -> None:
    assert list(named(source))


@pytest.mark.parametrize(
    "source", ["from gpu_ci.back_ends.registry import BACK_ENDS", "x = settings.arc", "'arc-runners'"]
)
def test_a_name_that_only_resembles_a_back_end_is_allowed(source: str) -> None:
    assert list(named(source)) == []
