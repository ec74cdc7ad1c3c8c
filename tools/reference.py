"""The reference pages that follow from the code: the stack file, the command line, the components, the targets,
the decisions.
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
NAMESPACE: Final = "gpu-ci:"


def stack_file() -> str:
    """Every section of the stack file with its keys, from the JSON schema of the types."""
    from config.schema import stack_schema  # noqa: PLC0415  # pages that do not ask for it need no pydantic

    schema = stack_schema()
    config = schema["properties"]["config"]
    return "\n".join(_sections(config["properties"], set(config["required"]), schema["$defs"]))


def _sections(sections: dict[str, Any], required: set[str], models: dict[str, Any]) -> Iterator[str]:
    for key, section in sections.items():
        if not key.startswith(NAMESPACE):
            continue
        yield f"## `{key}` {{ #{key.removeprefix(NAMESPACE)} }}\n"
        name = _model(section)
        text = models[name].get("description", "") if name else section.get("description", "")
        if text:
            yield f"{text}\n"
        notes = [f"A {kind}." for kind in [_kind(section)] if not name or kind.startswith("map")]
        notes += ["It must be there."] if key in required else []
        if notes:
            yield " ".join(notes) + "\n"
        if name:
            yield from _table(name, models, set())


def _table(name: str, models: dict[str, Any], seen: set[str]) -> Iterator[str]:
    """A model's keys, and below them the models inside it, each once a section."""
    seen.add(name)
    model = models[name]
    inside: list[tuple[str, str]] = []
    yield "| key | what it may be | without it | what it means |\n|---|---|---|---|"
    for key, field in model.get("properties", {}).items():
        inner = _model(field)
        if inner and inner not in seen:
            inside.append((key, inner))
        absent = "required" if key in model.get("required", []) else _default(field)
        yield f"| `{key}` | {_cell(_kind(field))} | {_cell(absent)} | {_cell(_meaning(field, models))} |"
    yield ""
    for key, inner in inside:
        if inner not in seen:
            yield f"**`{key}`**: {models[inner].get('description', '')}\n"
            yield from _table(inner, models, seen)


def _model(field: dict[str, Any]) -> str | None:
    """The model that a field holds, or that each entry of a map holds."""
    for one in _alternatives(field):
        if "$ref" in one:
            return str(one["$ref"]).rsplit("/", maxsplit=1)[-1]
        values = one.get("additionalProperties") or next(iter(one.get("patternProperties", {}).values()), None)
        if isinstance(values, dict) and (found := _model(values)):
            return found
    return None


def _alternatives(field: dict[str, Any]) -> list[dict[str, Any]]:
    """What a field may be; absence is said elsewhere."""
    return [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]


def _kind(field: dict[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_one_kind(one) for one in _alternatives(field)))


def _one_kind(one: dict[str, Any]) -> str:
    if "enum" in one or "const" in one:
        return ", ".join(f"`{_yaml(value)}`" for value in one.get("enum", [one.get("const")]))
    if "$ref" in one:
        return "section"
    kind = str(one.get("type", "value"))
    if kind == "array":
        items = one.get("items")
        return f"list of {_kind(items)}" if items else "list"
    if kind == "object":
        values = one.get("additionalProperties") or next(iter(one.get("patternProperties", {}).values()), None)
        return f"map of names to {_kind(values)}" if isinstance(values, dict) else "section"
    words = {"string": "text", "integer": "whole number", "boolean": "`true`, `false`"}
    low, high = one.get("minimum"), one.get("maximum")
    return words.get(kind, kind) + (f", {low} to {high}" if low is not None and high is not None else "")


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    return "nothing" if default in (None, [], {}) else f"`{_yaml(default)}`"


def _meaning(field: dict[str, Any], models: dict[str, Any]) -> str:
    name = _model(field)
    return str(field.get("description") or (models[name].get("description", "") if name else ""))


def _yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value).replace('"', "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def command_line() -> str:
    """What each command says of itself."""
    from ops.cli import commands  # noqa: PLC0415  # the front door of the command line

    names = sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(commands.__path__))
    return "\n".join(f"## {name}\n\n```text\n{_help(name)}\n```\n" for name in names)


def _help(command: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "ops", command, "--help"],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
        text=True,
    )
    return "\n".join(line.rstrip() for line in ended.stdout.strip().splitlines())


def components() -> str:
    """A directive for every module that makes something, and for the neighbours that compute for it."""
    modules = sorted(
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in (ROOT / "components").rglob("*.py")
        if path.name != "__init__.py"
    )
    return "\n".join(f"::: {module}\n" for module in modules)


def targets() -> str:
    """The Makefile's targets with what they do."""
    said = re.findall(r"^([a-z-]+):[^=\n]*## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    rows = [f"| `make {target}` | {_cell(text)} |" for target, text in said]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def decisions() -> str:
    """The decisions with their state, each linked."""
    rows = []
    for path in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md")):
        number, _, title = path.read_text().splitlines()[0].removeprefix("# ").partition(": ")
        state = re.search(r"^(In force|Replaced|Superseded)\b.*", path.read_text(), re.MULTILINE)
        rows.append(f"| [{number}]({path.name}) | {_cell(title)} | {state[0].rstrip('.') if state else ''} |")
    return "\n".join(["| | decision | state |", "|---|---|---|", *rows])
