"""The house stands on floors: every module has its place, and imports only downwards.

`FLOORS` below is the plan of the house. A new module that it does not name is refused until it is placed. Whether a file
in `components/` is a pure neighbour, and so stands on the ground, follows from what it imports.
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
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS_TO_PLACE = ("tests", "tools", "docs", "docker")

NEIGHBOURS: Final = "pure neighbours"
BLOCKS: Final = "building blocks"
COMPONENTS: Final = "components"

BUILDING_BLOCKS: Final = (
    "components.aws.launch",
    "components.aws.workload_role",
    "components.gcp.host_image",
    "components.kubernetes.chart",
)
"""The components that other components are made of."""

FLOORS: Final[tuple[Mapping[str, tuple[str, ...]], ...]] = (
    {
        "gpu": ("gpu", "gpu.*"),
        "values": ("config.values",),
        "pins": ("config.pins",),
        "packages": (
            "config",
            "components",
            "components.aws",
            "components.gcp",
            "components.kubernetes",
            "back_ends",
            "back_ends.arc",
            "back_ends.cirun",
            "back_ends.cirun_aws",
            "back_ends.cirun_gcp",
        ),
    },
    {"rules": ("policy", "policy.*"), "builder": ("ami", "ami.*"), NEIGHBOURS: ()},
    {
        "identity": ("config.identity",),
        "sections": (
            "config.aws",
            "config.cirun",
            "config.faults",
            "config.gcp",
            "config.gpu_tests",
            "config.machines",
            "config.runners",
            "config.section",
            "config.services",
            "config.settings",
            "back_ends.*.section",
        ),
    },
    {
        "reading": (
            "config.aws_rules",
            "config.cirun_rules",
            "config.gcp_rules",
            "config.image_rules",
            "config.load",
            "config.references",
            "config.rules",
            "config.runner_rules",
            "config.schema",
            "config.stack_name",
            "config.stated",
            "config.translate",
            "config.zone_rules",
        ),
        BLOCKS: BUILDING_BLOCKS,
    },
    {COMPONENTS: (), "checks": ("checks", "checks.*")},
    {"composition": ("composition", "composition.*")},
    {"judge": ("judge", "judge.*", "refusal")},
    {"program": ("program",)},
    {"main": ("__main__", "policy.__main__")},
    {"kit": ("kit", "kit.*")},
    {"fakes": ("fakes", "fakes.*")},
    {"ops": ("ops", "ops.*")},
)
"""From the ground up; on each floor, rooms and the modules in them."""

PURE: Final = 2
"""The floors below this one know no Pulumi."""

SHARED_ROOMS: Final = {
    "gpu",
    "rules",
    "sections",
    "reading",
    "judge",
    "builder",
    "checks",
    "composition",
    "fakes",
    "kit",
    "ops",
    NEIGHBOURS,
    "packages",
}
"""Rooms whose modules may import each other, never in a circle."""

COMPONENTS_MAY_KNOW: Final = {"config", "config.values", "config.identity", "config.pins"}
"""What `components/` may import of `config/`: the program translates sections into arguments, so that a component can
be read and tested without knowing that there is a stack file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One thing that a module imports."""

    name: str
    """Its dotted name; `from a import b` is `a.b` where that is a module."""
    relative: bool
    """Whether it is named from where the module stands."""
    runs: bool
    """Whether it is imported when the program runs, and not for the type checkers alone."""


def imports(module: str, tree: ast.Module, modules: frozenset[str]) -> Iterator[Imported]:
    """What a module imports, inside its functions too."""
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
    """Whether a name is the SDK or a provider of it."""
    return name.split(".", maxsplit=1)[0] == "pulumi" or name.startswith("pulumi_")


def place(module: str, imported: set[str]) -> tuple[int, str] | None:
    """A module's floor and room. The exact name wins over a pattern; a component without Pulumi is a neighbour."""
    rooms = [(floor, room, names) for floor, plan in enumerate(FLOORS) for room, names in plan.items()]
    for floor, room, names in rooms:
        if module in names:
            return floor, room
    if module.startswith("components."):
        wanted = COMPONENTS if any(is_pulumi(name) for name in imported) else NEIGHBOURS
        return next((floor, room) for floor, room, _ in rooms if room == wanted)
    return next(((floor, room) for floor, room, names in rooms if any(fnmatchcase(module, n) for n in names)), None)


def faults(sources: Mapping[str, str]) -> list[str]:
    """Every rule of the house that these modules break, each naming the module and what it must not do."""
    modules = frozenset(sources)
    trees = {module: ast.parse(source) for module, source in sources.items()}
    found = {module: list(imports(module, tree, modules)) for module, tree in trees.items()}
    places = {module: place(module, {one.name for one in found[module]}) for module in modules}
    wrong = [f"{module}: stands on no floor; place it in FLOORS" for module, where in places.items() if where is None]
    circle: TopologicalSorter[str] = TopologicalSorter()
    for module, every in found.items():
        where = places[module]
        if where is None:
            continue
        for one in every:
            if one.relative:
                wrong.append(f"{module}: imports relatively")
            elif is_pulumi(one.name) and where[0] < PURE:
                wrong.append(f"{module}: imports {one.name}, but its floor is pure")
            elif one.name in modules and one.name != module:
                wrong.extend(_downwards(module, where, one.name, places[one.name]))
                if one.runs:
                    circle.add(module, one.name)
    try:
        circle.prepare()
    except CycleError as error:
        wrong.append(f"a circle of imports: {' -> '.join(error.args[1])}")
    return sorted(set(wrong))


def _downwards(module: str, where: tuple[int, str], name: str, there: tuple[int, str] | None) -> Iterator[str]:
    if module.startswith("components.") and name.startswith("config") and name not in COMPONENTS_MAY_KNOW:
        yield f"{module}: imports {name}, but components do not know the stack file"
    elif there is not None and not (there[0] < where[0] or (there == where and where[1] in SHARED_ROOMS)):
        yield f"{module}: imports {name}, which stands on floor {there[0]}; its own is {where[0]}"


def house() -> dict[str, Path]:
    """Every module of ours, by its dotted name."""
    found = {}
    for path in python_files():
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] not in NOT_OURS_TO_PLACE:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def is_generated(path: Path) -> bool:
    """Whether a file says of itself that it was written by a program."""
    return "generated by" in "\n".join(path.read_text().splitlines()[:5]).lower()


def test_every_module_has_its_place_and_imports_only_downwards() -> None:
    sources = {module: path.read_text() for module, path in house().items()}

    assert faults(sources) == []


def test_every_building_block_is_there_and_is_used_by_two() -> None:
    modules = house()
    used = {
        block: sum(block.rpartition(".")[2] in path.read_text() for name, path in modules.items() if name != block)
        for block in BUILDING_BLOCKS
    }

    assert {block: count for block, count in used.items() if block not in modules or count < 2} == {}


GROUND = {"gpu.verdict": "", "config.values": "", "config.pins": "", "gpu": "", "config": "", "components": ""}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        pytest.param(
            {"surprise": ""},
            "surprise: stands on no floor; place it in FLOORS",
            id="a module that nobody placed",
        ),
        pytest.param(
            {"gpu.pods": "from program import run", "program": ""},
            "gpu.pods: imports program, which stands on floor 7; its own is 0",
            id="knowledge that imports the program",
        ),
        pytest.param(
            {"gpu.pods": "import pulumi_aws as aws"},
            "gpu.pods: imports pulumi_aws, but its floor is pure",
            id="knowledge that imports Pulumi",
        ),
        pytest.param(
            {"gpu.pods": "def late():\n    from pulumi import log"},
            "gpu.pods: imports pulumi, but its floor is pure",
            id="an import inside a function",
        ),
        pytest.param(
            {"gpu.pods": "from config.values import Name"},
            "gpu.pods: imports config.values, which stands on floor 0; its own is 0",
            id="knowledge that imports another room of its own floor",
        ),
        pytest.param(
            {"components.aws.network": "import pulumi\nfrom config.settings import Settings", "config.settings": ""},
            "components.aws.network: imports config.settings, but components do not know the stack file",
            id="a component that knows the stack file",
        ),
        pytest.param(
            {"components.aws.names": "from config import rules", "config.rules": ""},
            "components.aws.names: imports config.rules, but components do not know the stack file",
            id="a neighbour that knows the stack file",
        ),
        pytest.param(
            {
                "components.aws.network": "import pulumi",
                "components.aws.cluster": "import pulumi\nfrom components.aws import network",
            },
            "components.aws.cluster: imports components.aws.network, which stands on floor 4; its own is 4",
            id="a component that imports its sibling",
        ),
        pytest.param(
            {
                "components.aws.launch": "import pulumi\nfrom components.aws.network import Network",
                "components.aws.network": "import pulumi",
            },
            "components.aws.launch: imports components.aws.network, which stands on floor 4; its own is 3",
            id="a building block that imports a component",
        ),
        pytest.param(
            {"config.settings": "from config.load import load", "config.load": ""},
            "config.settings: imports config.load, which stands on floor 3; its own is 2",
            id="a section that imports its reader",
        ),
        pytest.param(
            {"program": "import ops.plan", "ops.plan": ""},
            "program: imports ops.plan, which stands on floor 11; its own is 7",
            id="a program that imports what people run",
        ),
        pytest.param(
            {"kit.cirun": "import ops.plan", "ops.plan": ""},
            "kit.cirun: imports ops.plan, which stands on floor 11; its own is 9",
            id="a kit that imports what people run",
        ),
        pytest.param(
            {"composition.wiring": "import judge", "judge": ""},
            "composition.wiring: imports judge, which stands on floor 6; its own is 5",
            id="a composition that imports its judge",
        ),
        pytest.param(
            {"ops.plan": "from . import wire", "ops.wire": ""},
            "ops.plan: imports relatively",
            id="a relative import",
        ),
        pytest.param(
            {
                "gpu.pods": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from program import run",
                "program": "",
            },
            "gpu.pods: imports program, which stands on floor 7; its own is 0",
            id="an import for the type checkers alone",
        ),
        pytest.param(
            {"ops.plan": "import ops.wire", "ops.wire": "import ops.plan"},
            "a circle of imports: ops.plan -> ops.wire -> ops.plan",
            id="a circle",
        ),
    ],
)
def test_a_module_that_breaks_a_rule_is_named(broken: dict[str, str], message: str) -> None:
    assert faults({**GROUND, **broken}) == [message]


def test_what_the_house_allows_is_not_refused() -> None:
    allowed = {
        "gpu.pods": "from gpu.verdict import Verdict",
        "components.aws.launch": "import pulumi",
        "components.aws.names": "import json\nfrom gpu.verdict import Verdict",
        "components.aws.nodes": "import pulumi\nfrom components.aws.launch import launch\nfrom components.aws import names",
        "config.identity": "from config import pins",
        "composition.aws": "from components.aws.nodes import Nodes",
        "program": "from composition.aws import amazon\nimport judge",
        "judge": "from gpu.pods import fit",
        "kit.cirun": "from program import run",
        "ops.plan": "from program import run\nimport kit.cirun",
        "ops.kinds": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ops.cloud import Cloud",
        "ops.cloud": "from ops.kinds import Kind",
    }

    assert faults({**GROUND, **allowed}) == []


@pytest.mark.parametrize("module", sorted(house()))
def test_every_file_says_what_it_owns(module: str) -> None:
    text = house()[module].read_text()

    assert ast.get_docstring(ast.parse(text)), f"{module} has no docstring"


def test_no_file_is_longer_than_a_person_reads_at_once() -> None:
    lines = {module: len(path.read_text().splitlines()) for module, path in house().items() if not is_generated(path)}

    assert {module: count for module, count in lines.items() if count > 320} == {}


def test_no_package_of_ours_hides_another() -> None:
    ours = {module.split(".")[0] for module in house()} - {"__main__"}
    theirs = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())

    assert ours & theirs == set()


def test_no_two_test_files_have_one_name() -> None:
    """Without packages, pytest knows a test file by its name alone, and does not run the second one."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]

    assert {name for name in names if names.count(name) > 1} == set()
