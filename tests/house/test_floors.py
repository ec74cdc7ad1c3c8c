"""The layers of the package structure: every module is in one layer and imports only lower ones.

`LAYERS` is the list. A module that is in no layer fails the test until it is added. A module of `components/` that does
not import Pulumi is a pure neighbour and belongs to a lower layer automatically.
"""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.sources import python_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_LAYER = ("tests", "tools", "docs", "docker")

NEIGHBOURS: Final = "pure neighbours"
BLOCKS: Final = "building blocks"
COMPONENTS: Final = "components"

BUILDING_BLOCKS: Final = (
    "components.aws.job_role",
    "components.aws.nodes.node_group",
    "components.aws.cluster.workload_role",
    "components.gcp.closed_network",
    "components.gcp.images.host_image",
    "components.gcp.provider",
    "components.kubernetes.chart",
)
"""The components that other components consist of."""

GUARDS: Final = ("components.update_guard", "components.aws.cluster.update_reasons")
"""The comparison of an update with the old state, and what EKS refuses."""

FILE_FORMATS: Final = (
    *(
        "gpu_ci.repository.cirun",
        "gpu_ci.repository.cirun_access",
        "gpu_ci.repository.cirun_checks",
        "gpu_ci.repository.cirun_runners",
        "gpu_ci.repository.documents",
    ),
    *(
        "gpu_ci.repository.actions",
        "gpu_ci.repository.gpu_workflow",
        "gpu_ci.repository.image_workflow",
        "gpu_ci.repository.matrix",
        "gpu_ci.repository.python_environment",
        "gpu_ci.repository.render",
    ),
    *("gpu_ci.repository.container_workflow", "gpu_ci.repository.docs_workflow", "gpu_ci.repository.run_script"),
)
"""The modules of the kit that know no stack: models of files, and their rendering."""

LAYERS: Final[tuple[Mapping[str, tuple[str, ...]], ...]] = (
    {
        "knowledge": ("gpu", "gpu.*"),
        "values": ("gpu_ci.stack_file.values.general",),
        "pins": ("gpu_ci.knowledge.pins",),
        "packages": (
            *("config", "components", "components.aws", "components.gcp", "components.github", "components.kubernetes"),
            *(
                "back_ends",
                "gpu_ci.back_ends.arc",
                "gpu_ci.back_ends.shared.cirun",
                "gpu_ci.back_ends.cirun_aws",
                "gpu_ci.back_ends.cirun_gcp",
                "kit",
            ),
            *("gpu_ci.back_ends.shared.machine", "gpu_ci.back_ends.start_stop", "gpu_ci.back_ends.vm"),
        ),
    },
    {
        "policy": ("policy", "policy.*"),
        "machine images": ("ami", "ami.*"),
        "parts of back ends": ("gpu_ci.back_ends.parts",),
        NEIGHBOURS: (),
    },
    {
        "identity": ("gpu_ci.stack_file.identity",),
        "guards": GUARDS,
        "sections": (
            "back_ends.*.section",
            "gpu_ci.stack_file.sections.aws",
            "gpu_ci.stack_file.sections.cirun",
            "gpu_ci.stack_file.sections.exceptions",
            "gpu_ci.stack_file.faults",
            "gpu_ci.stack_file.sections.gcp",
            "gpu_ci.stack_file.sections.github_repository",
            "gpu_ci.stack_file.sections.gpu_tests",
            "gpu_ci.stack_file.sections.images",
            "gpu_ci.stack_file.sections.instance_types",
            "gpu_ci.stack_file.sections.machine_images",
            "gpu_ci.stack_file.sections.machines",
            "gpu_ci.stack_file.sections.runners",
            "gpu_ci.stack_file.sections.section",
            "gpu_ci.stack_file.sections.services",
            "gpu_ci.stack_file.sections.settings",
            "gpu_ci.stack_file.values.aws",
            "gpu_ci.stack_file.values.gcp",
            "gpu_ci.stack_file.values.github",
            "gpu_ci.stack_file.values.mail",
            "gpu_ci.stack_file.reading.yaml_problems",
            "gpu_ci.stack_file.reading.yaml_tree",
        ),
    },
    {
        "rules": (
            "back_ends.*.rules",
            "back_ends.*_rules",
            "config.*_rules",
            "gpu_ci.stack_file.reading.credentials",
            "gpu_ci.stack_file.reading.load",
            "gpu_ci.stack_file.reading.respelling",
            "gpu_ci.stack_file.rules.between_sections",
            "gpu_ci.stack_file.reading.schema",
            "gpu_ci.stack_file.reading.stack_name",
            "gpu_ci.stack_file.rules.stated",
            "gpu_ci.stack_file.reading.translate",
        ),
        BLOCKS: BUILDING_BLOCKS,
    },
    {COMPONENTS: (), "file formats": FILE_FORMATS},
    {"back ends": ("back_ends.*",)},
    {"wiring": ("wiring", "wiring.*")},
    {"checks": ("checks", "checks.*", "refusal")},
    {"program": ("program", "program.*"), "bootstrap": ("bootstrap", "bootstrap.*")},
    {"entry points": ("__main__", "bootstrap.__main__", "gpu_ci.policy.__main__")},
    {"kit": ("kit", "kit.*")},
    {"fakes": ("fakes", "fakes.*")},
    {"ops": ("ops", "ops.*")},
)
"""From the lowest layer to the highest: groups of modules with the names of their modules."""

PURE: Final = frozenset({"knowledge", "values", "pins", "packages", "policy", "machine images", NEIGHBOURS})
"""Groups whose modules do not import Pulumi."""

CONNECTED: Final = frozenset(
    {
        *(
            "back ends",
            "bootstrap",
            "checks",
            "fakes",
            "kit",
            "knowledge",
            "machine images",
            "ops",
            "packages",
            "policy",
            "program",
            "rules",
        ),
        *("file formats", "guards", "sections", "wiring", NEIGHBOURS),
    }
)
"""Groups whose modules may import each other. Circles are never allowed."""

CHAPTERS: Final = ("gpu", "ops")
"""Packages whose folders do not import each other in a circle."""

CONFIG_OF_COMPONENTS: Final = {
    "config",
    "gpu_ci.stack_file.values.general",
    "gpu_ci.stack_file.identity",
    "gpu_ci.knowledge.pins",
}
"""The modules of `gpu_ci/stack_file/` that `components/` may import. The program translates sections into arguments, so that a
component can be read and tested without the stack file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One import of a module."""

    name: str
    """Its dotted name; `from a import b` is `a.b` if that is a module."""
    relative: bool
    runs: bool
    """False if only type checkers see the import."""


def imports(module: str, tree: ast.Module, modules: frozenset[str]) -> Iterator[Imported]:
    """Yield the imports of a module, including those in functions."""
    for_checkers = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        runs = id(node) not in for_checkers
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(name=alias.name, relative=False, runs=runs)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                name = inner if inner in modules else node.module or module
                yield Imported(name=name, relative=node.level > 0, runs=runs)


def is_pulumi(name: str) -> bool:
    """Return True for the SDK and its providers."""
    return name.split(".", maxsplit=1)[0] == "pulumi" or name.startswith("pulumi_")


def place(module: str, imported: set[str]) -> tuple[int, str] | None:
    """Return the layer and the group of a module. An exact name wins over a pattern, and a lower layer over a higher."""
    groups = [(layer, group, names) for layer, row in enumerate(LAYERS) for group, names in row.items()]
    for layer, group, names in groups:
        if module in names:
            return layer, group
    if module.startswith("components."):
        wanted = COMPONENTS if any(is_pulumi(name) for name in imported) else NEIGHBOURS
        return next((layer, group) for layer, group, _ in groups if group == wanted)
    return next(((layer, group) for layer, group, names in groups if any(fnmatchcase(module, n) for n in names)), None)


def problems(sources: Mapping[str, str]) -> list[str]:
    """Return each violation of the layers, with the module and the import."""
    modules = frozenset(sources)
    trees = {module: ast.parse(source) for module, source in sources.items()}
    found = {module: list(imports(module, tree, modules)) for module, tree in trees.items()}
    places = {module: place(module, {one.name for one in found[module]}) for module in modules}
    violations = [f"{module}: is in no layer; add it to LAYERS" for module, where in places.items() if where is None]
    edges: list[tuple[str, str]] = []
    for module, every in found.items():
        where = places[module]
        if where is None:
            continue
        for one in every:
            if one.relative:
                violations.append(f"{module}: has a relative import")
            elif is_pulumi(one.name) and where[1] in PURE:
                violations.append(f"{module}: imports {one.name}, but {where[1]} do not import Pulumi")
            elif one.name in modules and one.name != module:
                violations.extend(_upwards(module, where, one.name, places[one.name]))
                if one.runs:
                    edges.append((module, one.name))
    violations += [f"a circle of imports: {circle}" for circle in circles(edges)]
    for package in CHAPTERS:
        between = {(chapter(a, package), chapter(b, package)) for a, b in edges}
        chapters = [(a, b) for a, b in between if a is not None and b is not None and a != b]
        violations += [f"a circle of folders: {circle}" for circle in circles(sorted(chapters))]
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


def chapter(module: str, package: str) -> str | None:
    """Return the folder of a package that a module is in; None outside and for a module of the package itself."""
    top, _, rest = module.partition(".")
    folder = f"{package}.{rest.partition('.')[0]}"
    return folder if top == package and (ROOT / folder.replace(".", "/")).is_dir() else None


def _upwards(module: str, where: tuple[int, str], name: str, there: tuple[int, str] | None) -> Iterator[str]:
    if module.startswith("components.") and name.startswith("config") and name not in CONFIG_OF_COMPONENTS:
        yield f"{module}: imports {name}, but components do not read the stack file"
    elif there is not None and not (there[0] < where[0] or (there == where and where[1] in CONNECTED)):
        yield f"{module}: imports {name}, which is in layer {there[0]}; its own layer is {where[0]}"


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


def test_every_building_block_is_imported_by_two_modules() -> None:
    modules = product()
    names = frozenset(modules)
    imported = [
        one.name
        for module, path in modules.items()
        for one in {found.name: found for found in imports(module, ast.parse(path.read_text()), names)}.values()
    ]

    assert {block: imported.count(block) for block in BUILDING_BLOCKS if imported.count(block) < 2} == {}


LOWEST = {
    "gpu_ci.knowledge.verdict": "",
    "gpu_ci.stack_file.values.general": "",
    "gpu_ci.knowledge.pins": "",
    "gpu": "",
    "config": "",
    "components": "",
}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"surprise": ""}, "surprise: is in no layer; add it to LAYERS"),
        (
            {"gpu.pods": "from program import run", "program": ""},
            "gpu.pods: imports program, which is in layer 8; its own layer is 0",
        ),
        ({"gpu.pods": "import pulumi"}, "gpu.pods: imports pulumi, but knowledge do not import Pulumi"),
        (
            {
                "components.aws.network.network": "import pulumi\nfrom gpu_ci.stack_file.sections.settings import Settings",
                "gpu_ci.stack_file.sections.settings": "",
            },
            "components.aws.network.network: imports gpu_ci.stack_file.sections.settings, but components do not read the stack file",
        ),
        (
            {"components.aws.names": "from config import rules", "gpu_ci.stack_file.rules.between_sections": ""},
            "components.aws.names: imports gpu_ci.stack_file.rules.between_sections, but components do not read the stack file",
        ),
        (
            {"components.aws.a": "import pulumi", "components.aws.b": "import pulumi\nfrom components.aws import a"},
            "components.aws.b: imports components.aws.a, which is in layer 4; its own layer is 4",
        ),
        (
            {
                "components.aws.nodes.node_group": "from components.aws.a import A",
                "components.aws.a": "import pulumi",
            },
            "components.aws.nodes.node_group: imports components.aws.a, which is in layer 4; its own layer is 3",
        ),
        (
            {
                "gpu_ci.stack_file.sections.settings": "from gpu_ci.stack_file.reading.load import load",
                "gpu_ci.stack_file.reading.load": "",
            },
            "gpu_ci.stack_file.sections.settings: imports gpu_ci.stack_file.reading.load, which is in layer 3; its own layer is 2",
        ),
        (
            {"gpu_ci.back_ends.arc.section": "import gpu_ci.back_ends.offer", "gpu_ci.back_ends.offer": ""},
            "gpu_ci.back_ends.arc.section: imports gpu_ci.back_ends.offer, which is in layer 5; its own layer is 2",
        ),
        (
            {"gpu_ci.derived.outputs": "import gpu_ci.checks.nodes.fit", "gpu_ci.checks.nodes.fit": ""},
            "gpu_ci.derived.outputs: imports gpu_ci.checks.nodes.fit, which is in layer 7; its own layer is 6",
        ),
        (
            {"ops.kit.stack": "import ops.plan", "ops.plan": ""},
            "ops.kit.stack: imports ops.plan, which is in layer 12; its own layer is 10",
        ),
        ({"ops.plan": "from . import wire", "ops.wire": ""}, "ops.plan: has a relative import"),
        (
            {"gpu.pods": "if TYPE_CHECKING:\n    from program import run", "program": ""},
            "gpu.pods: imports program, which is in layer 8; its own layer is 0",
        ),
        (
            {"ops.a": "import ops.b", "ops.b": "import ops.a"},
            "a circle of imports: ops.a -> ops.b -> ops.a",
        ),
        (
            {
                "gpu_ci.knowledge.cost.a": "import gpu_ci.knowledge.quotas.a",
                "gpu_ci.knowledge.quotas.a": "",
                "gpu_ci.knowledge.quotas.b": "import gpu_ci.knowledge.cost.b",
                "gpu_ci.knowledge.cost.b": "",
            },
            "a circle of folders: gpu_ci.knowledge.cost -> gpu_ci.knowledge.quotas -> gpu_ci.knowledge.cost",
        ),
    ],
)
def test_a_violation_of_the_layers_is_reported(broken: dict[str, str], message: str) -> None:
    assert problems({**LOWEST, **broken}) == [message]


def test_imports_of_lower_layers_are_allowed() -> None:
    allowed = {
        "gpu.pods": "from gpu_ci.knowledge.verdict import Verdict",
        "components.aws.nodes.node_group": "import pulumi",
        "components.aws.names": "import json\nfrom gpu_ci.knowledge.verdict import Verdict",
        "components.aws.nodes.nodes": "import pulumi\nfrom components.aws.nodes.node_group import node_group\nfrom components.aws import names",
        "gpu_ci.stack_file.identity": "from config import pins",
        "gpu_ci.back_ends.arc.back_end": "from components.aws.nodes.nodes import Nodes",
        "gpu_ci.checks.nodes.fit": "from gpu.pods import fit\nfrom gpu_ci.back_ends.arc import back_end",
        "program": "import gpu_ci.checks.nodes.fit",
        "ops.kit.stack": "from program import run",
        "ops.plan": "from program import run\nimport ops.kit.stack",
        "ops.kinds": "if TYPE_CHECKING:\n    from ops.cloud import Cloud",
        "ops.cloud": "from ops.kinds import Kind",
    }

    assert problems({**LOWEST, **allowed}) == []


@pytest.mark.parametrize("module", sorted(product()))
def test_every_file_has_a_docstring(module: str) -> None:
    assert ast.get_docstring(ast.parse(product()[module].read_text())), f"{module} has no docstring"


def test_no_file_is_longer_than_320_lines() -> None:
    lines = {module: len(path.read_text().splitlines()) for module, path in product().items()}

    assert {module: count for module, count in lines.items() if count > 320} == {}


def test_no_package_has_the_name_of_an_installed_one() -> None:
    ours = {module.split(".")[0] for module in product()} - {"__main__"}
    theirs = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())

    assert ours & theirs == set()


def test_no_two_test_files_have_the_same_name() -> None:
    """Pytest identifies a test file outside a package by its name, and does not run the second one."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]

    assert {name for name in names if names.count(name) > 1} == set()
