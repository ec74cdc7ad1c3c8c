"""The layers of the package structure: every module is in a folder of `LAYERS` and imports only itself and earlier ones."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

from tests.sources import python_files

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_LAYER = ("tests", "docs", "docker")

LAYERS: Final = (
    *("ami", "components"),
    *("gpu_ci", "gpu_ci/knowledge", "gpu_ci/policy"),
    *("gpu_ci/stack_file", "gpu_ci/stack_file/values", "gpu_ci/stack_file/sections", "gpu_ci/stack_file/rules"),
    *("gpu_ci/stack_file/reading", "gpu_ci/repository"),
    *("gpu_ci/back_ends", "gpu_ci/derived", "gpu_ci/checks", "gpu_ci/program", "bootstrap"),
    *("ops", "ops/fakes", "ops/kit", "ops/plan", "ops/engine", "ops/report", "ops/upgrades"),
    *("ops/doctor", "ops/smoke", "ops/state", "ops/cli", "ops/pipeline", "tools"),
)
"""From the lowest folder to the highest. Files next to a folder of the list are below it."""

PURE: Final = ("ami", "gpu_ci/knowledge", "gpu_ci/policy", "gpu_ci/stack_file/values")
"""Folders whose modules do not import Pulumi."""

BUILDING_BLOCKS: Final = (
    "components.aws.cluster.workload_role",
    "components.aws.job_role",
    "components.aws.nodes.node_group",
    "components.gcp.closed_network",
    "components.gcp.images.host_image",
    "components.gcp.provider",
    "components.kubernetes.chart",
    "components.update_guard",
)
"""The components that other components consist of. Components import no other component."""

MOST_FILES: Final = 15
"""The largest number of Python files in one folder. More of them need chapters."""


def imports(tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    """Yield the dotted names that a module imports, also in functions and for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield "." if node.level else inner if inner in modules else node.module or ""


def runs(tree: ast.Module) -> ast.Module:
    """Return a module without the imports that only type checkers see."""
    kept = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")]
    return ast.Module(body=kept, type_ignores=[])


def is_pulumi(name: str) -> bool:
    """Return True for the SDK and its providers."""
    return name.split(".", maxsplit=1)[0] == "pulumi" or name.startswith("pulumi_")


def folder(module: str) -> str | None:
    """Return the folder of `LAYERS` that a module is in: the longest one."""
    path = module.replace(".", "/")
    return max((one for one in LAYERS if f"{path}/".startswith(f"{one}/")), key=len, default=None)


def problems(sources: Mapping[str, str]) -> list[str]:
    """Return each violation of the layers, with the module and the import. Entry points may import everything."""
    modules = frozenset(sources)
    trees = {module: ast.parse(source) for module, source in sources.items() if not module.endswith("__main__")}
    found = {module: set(imports(tree, modules)) - {module} for module, tree in trees.items()}
    components = {
        module for module in trees if module.startswith("components.") and any(is_pulumi(one) for one in found[module])
    }
    violations = []
    for module, names in found.items():
        own = folder(module)
        if own is None:
            violations.append(f"{module}: is in no layer; add its folder to LAYERS")
            continue
        for name in sorted(names):
            there = folder(name) if name in modules else None
            if name == ".":
                violations.append(f"{module}: has a relative import")
            elif is_pulumi(name) and own in PURE:
                violations.append(f"{module}: imports {name}, but modules of {own} do not import Pulumi")
            elif there is not None and LAYERS.index(there) > LAYERS.index(own):
                violations.append(f"{module}: imports {name}, but {there} is above {own}")
            elif module in components and name in components - {*BUILDING_BLOCKS}:
                violations.append(f"{module}: imports the component {name}, which is no building block")
    edges = [(module, name) for module in trees for name in imports(runs(trees[module]), modules) if name in trees]
    violations += [f"a circle of imports: {circle}" for circle in circles(edge for edge in edges if edge[0] != edge[1])]
    between = {(chapter(a), chapter(b)) for a, b in edges}
    chapters = sorted((a, b) for a, b in between if a is not None and b is not None and a != b)
    violations += [f"a circle of folders: {circle}" for circle in circles(chapters)]
    return sorted(set(violations))


def circles(edges: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield one circle of a graph, if it has any."""
    graph: TopologicalSorter[str] = TopologicalSorter()
    for start, end in edges:
        graph.add(start, end)
    try:
        graph.prepare()
    except CycleError as error:
        yield " -> ".join(error.args[1])


def chapter(module: str) -> str | None:
    """Return the chapter of a layer that a module is in; None for a module of the layer itself."""
    layer = folder(module)
    if layer is None:
        return None
    name = module.removeprefix(f"{layer.replace('/', '.')}.").partition(".")[0]
    path = f"{layer}/{name}"
    return path if (ROOT / path).is_dir() and path not in LAYERS else None


def product() -> dict[str, Path]:
    """Return the dotted name and the path of every module that has a layer."""
    found = {}
    for path in python_files():
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] not in WITHOUT_LAYER:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def test_every_module_is_in_a_layer_and_imports_only_lower_layers() -> None:
    assert problems({module: path.read_text() for module, path in product().items()}) == []


def test_at_least_two_modules_import_every_building_block() -> None:
    modules = product()
    names = frozenset(modules)
    imported = [name for path in modules.values() for name in set(imports(ast.parse(path.read_text()), names))]

    assert {block: imported.count(block) for block in BUILDING_BLOCKS if imported.count(block) < 2} == {}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"surprise": ""}, "surprise: is in no layer; add its folder to LAYERS"),
        (
            {"gpu_ci.knowledge.pods": "from gpu_ci.program import run", "gpu_ci.program": ""},
            "gpu_ci.knowledge.pods: imports gpu_ci.program, but gpu_ci/program is above gpu_ci/knowledge",
        ),
        (
            {
                "components.aws.names": "if TYPE_CHECKING:\n    from gpu_ci.knowledge import pods",
                "gpu_ci.knowledge": "",
            },
            "components.aws.names: imports gpu_ci.knowledge, but gpu_ci/knowledge is above components",
        ),
        (
            {"gpu_ci.stack_file.faults": "import gpu_ci.stack_file.values", "gpu_ci.stack_file.values": ""},
            (
                "gpu_ci.stack_file.faults: imports gpu_ci.stack_file.values, but gpu_ci/stack_file/values is above "
                "gpu_ci/stack_file"
            ),
        ),
        (
            {"gpu_ci.knowledge.pods": "import pulumi"},
            "gpu_ci.knowledge.pods: imports pulumi, but modules of gpu_ci/knowledge do not import Pulumi",
        ),
        (
            {"components.aws.a": "import pulumi", "components.aws.b": "import pulumi\nfrom components.aws import a"},
            "components.aws.b: imports the component components.aws.a, which is no building block",
        ),
        ({"ops.plan": "from . import wire"}, "ops.plan: has a relative import"),
        ({"ops.a": "import ops.b", "ops.b": "import ops.a"}, "a circle of imports: ops.a -> ops.b -> ops.a"),
        (
            {
                "gpu_ci.knowledge.cost.a": "import gpu_ci.knowledge.quotas.a",
                "gpu_ci.knowledge.quotas.a": "",
                "gpu_ci.knowledge.quotas.b": "import gpu_ci.knowledge.cost.b",
                "gpu_ci.knowledge.cost.b": "",
            },
            "a circle of folders: gpu_ci/knowledge/cost -> gpu_ci/knowledge/quotas -> gpu_ci/knowledge/cost",
        ),
    ],
)
def test_a_violation_of_the_layers_is_reported(broken: dict[str, str], message: str) -> None:
    assert problems(broken) == [message]


def test_imports_of_lower_layers_are_allowed() -> None:
    allowed = {
        "components.aws.nodes.node_group": "import pulumi",
        "components.aws.names": "import json",
        "components.aws.nodes.nodes": "import pulumi\nfrom components.aws.nodes.node_group import x\n"
        "from components.aws import names",
        "gpu_ci.back_ends.arc.back_end": "from components.aws.nodes.nodes import Nodes",
        "ops.__main__": "from ops.cli import main",
        "ops.cli": "from gpu_ci.back_ends.arc import back_end",
        "ops.kinds": "if TYPE_CHECKING:\n    from ops.cloud import Cloud",
        "ops.cloud": "from ops.kinds import Kind",
    }

    assert problems(allowed) == []


def test_no_folder_exceeds_its_limit_of_files() -> None:
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in product().values())

    assert {name: count for name, count in counts.items() if count > MOST_FILES} == {}


def test_the_root_has_at_most_thirty_entries() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert len({name.partition("/")[0] for name in listed.splitlines()}) <= 30


def test_every_file_has_a_docstring() -> None:
    assert [name for name, path in product().items() if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_file_is_longer_than_320_lines() -> None:
    lines = {module: len(path.read_text().splitlines()) for module, path in product().items()}

    assert {module: count for module, count in lines.items() if count > 320} == {}


def test_no_package_has_the_name_of_an_installed_package() -> None:
    ours = {module.split(".")[0] for module in product()} - {"__main__"}
    theirs = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())

    assert ours & theirs == set()


def test_no_two_test_files_have_the_same_name() -> None:
    """Pytest identifies a test file outside a package by its name, and does not run the second one."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]

    assert {name for name in names if names.count(name) > 1} == set()
