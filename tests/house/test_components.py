"""Every component has the same constructor, and its arguments are described."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.sources import python_files

pytestmark = pytest.mark.pure

COMPONENTS: Final = Path(__file__).resolve().parents[2] / "components"
SELF_EXPLANATORY: Final = {
    "account", "cluster_name", "disk", "gib", "host", "log_level", "mode", "project", "region", "values",
}  # fmt: skip
"""Fields whose name says everything."""


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield every class of the components, with its module and name."""
    for path in python_files():
        if path.is_relative_to(COMPONENTS):
            module = path.relative_to(COMPONENTS.parent).with_suffix("").as_posix().replace("/", ".")
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    yield f"{module}.{node.name}", node


CLASSES: Final = dict(classes())
RESOURCES: Final = [
    name
    for name, node in CLASSES.items()
    if any(ast.unparse(base).endswith("ComponentResource") for base in node.bases)
]
ARGS: Final = [name for name, node in CLASSES.items() if node.decorator_list]


def undescribed(node: ast.ClassDef) -> list[str]:
    """Return the fields that need a docstring and have none."""
    return [
        field.target.id
        for field, following in zip(node.body, [*node.body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and field.target.id not in SELF_EXPLANATORY
        and not (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant))
    ]


def constructor(node: ast.ClassDef) -> ast.arguments:
    """Return the arguments of a class's constructor."""
    (found,) = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    return found.args


def is_usual(arguments: ast.arguments) -> bool:
    """Return whether these are a name, arguments of the component and options, and no others."""
    types = [ast.unparse(argument.annotation or ast.Constant("")) for argument in arguments.args]
    return (
        [argument.arg for argument in arguments.args] == ["self", "name", "args", "opts"]
        and types[2].endswith("Args")
        and types[3] == "ResourceOptions | None"
        and (arguments.kwonlyargs, arguments.vararg, arguments.kwarg) == ([], None, None)
    )


def test_a_component_takes_a_name_args_and_options() -> None:
    arguments = {name: constructor(CLASSES[name]) for name in RESOURCES}

    assert {name: ast.unparse(found) for name, found in arguments.items() if not is_usual(found)} == {}


def test_every_field_is_described() -> None:
    assert {name: fields for name in ARGS if (fields := undescribed(CLASSES[name]))} == {}


def test_the_components_are_found() -> None:
    assert len(RESOURCES) >= 29
    assert len(ARGS) >= 29


def test_a_field_without_a_docstring_is_found() -> None:
    (node,) = ast.parse('class A:\n    named: int\n    """Described."""\n    keep_days: int\n    region: str').body

    assert isinstance(node, ast.ClassDef)
    assert undescribed(node) == ["keep_days"]
