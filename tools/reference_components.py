"""The reference of the components: classes, arguments and functions, read from the source without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
ARGUMENTS: Final = "| Key | Type | Default | Description |\n|---|---|---|---|"
ATTRIBUTES: Final = "| Attribute | Type | Description |\n|---|---|---|"


def components() -> str:
    """Return every module of `components/` as Markdown."""
    paths = sorted(path for path in (ROOT / "components").rglob("*.py") if path.name != "__init__.py")
    return "\n".join(line for path in paths for line in _module(path))


def _module(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield f"## {path.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.')}\n"
    yield f"{ast.get_docstring(tree)}\n"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield f"### {node.name}\n"
            yield f"{ast.get_docstring(node) or ''}\n"
            yield from _fields(node)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    for function in functions:
        returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
        summary = (ast.get_docstring(function) or "").partition("\n\n")[0]
        yield f"- `{function.name}({ast.unparse(function.args)}){returns}`: {' '.join(summary.split())}"
    if functions:
        yield ""


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """Return the table of a class's annotated fields; a string that follows a field is its description."""
    is_dataclass = bool(node.decorator_list)
    rows = []
    for field, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        cells = [f"`{field.target.id}`", f"`{_cell(ast.unparse(field.annotation))}`"]
        if is_dataclass:
            cells.append(f"`{_cell(ast.unparse(field.value))}`" if field.value else "required")
        rows.append(f"| {' | '.join([*cells, _cell(_string(following))])} |")
    if rows:
        yield "\n".join([ARGUMENTS if is_dataclass else ATTRIBUTES, *rows, ""])


def _string(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
