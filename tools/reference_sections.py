"""The reference of the stack file: each section with its keys and an example, from the JSON schema of the types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpu_ci.back_ends.stack_file import Settings
from gpu_ci.stack_file.reading.schema import stack_schema

ROOT: Final = Path(__file__).resolve().parent.parent
NAMESPACE: Final = "gpu-ci:"
TABLE: Final = "| Key | Type | Default | Description |\n|---|---|---|---|"
STACK_FILES: Final = ("tests/stacks/staging.yaml", "examples/eks-arc.yaml", "examples/cirun-aws.yaml")
"""The files that examples are copied from. A user may edit `Pulumi.*.yaml`, so the page does not depend on them."""
KEY_OF_THE_APP: Final = "github-app-private-key"
"""The one section that is a secret value and has no type."""
KEY_DESCRIPTION: Final = "The private key of the GitHub App, encrypted by `pulumi config set --secret`."


def sections() -> str:
    """Return every section of the stack file as Markdown."""
    schema = stack_schema(Settings)
    config = schema["properties"]["config"]
    return "\n".join(_sections(config["properties"], set(config["required"]), schema["$defs"]))


def example(key: str) -> str | None:
    """Return the lines of a section, as the first file that has it writes them; None if no file has it."""
    pattern = re.compile(rf"^( *){NAMESPACE}{re.escape(key)}:.*\n(?:(?:\1 +.*)?\n)*", re.MULTILINE)
    pages = sorted((ROOT / "docs" / "how-to").glob("*.md"))
    for path in [*(ROOT / name for name in STACK_FILES), *pages]:
        if found := pattern.search(path.read_text(encoding="utf-8")):
            lines = found[0].rstrip().splitlines()
            if lines[-1].strip() != "```":
                return "\n".join(line.removeprefix(found[1]) for line in lines)
    return None


def _sections(properties: dict[str, Any], required: set[str], models: dict[str, Any]) -> Iterator[str]:
    for key, section in properties.items():
        if not key.startswith(NAMESPACE):
            continue
        name = _model(section)
        alias = key.removeprefix(NAMESPACE)
        yield f"## {alias}\n"
        if alias == KEY_OF_THE_APP:
            yield f"{KEY_DESCRIPTION} Required with `github`.\n"
        elif text := (models[name] if name else section).get("description", ""):
            yield f"{text}\n"
        kind = _kind(section)
        notes = [f"Type: {kind}."] if kind.startswith("map") else []
        notes += ["Required."] if key in required else []
        if notes:
            yield " ".join(notes) + "\n"
        if name:
            yield from _table(name, models, set())
        if shown := example(alias):
            yield f"Example:\n\n```yaml\n{shown}\n```\n"


def _table(name: str, models: dict[str, Any], seen: set[str]) -> Iterator[str]:
    """Return the keys of a model, and below them the models inside it, each once a section."""
    seen.add(name)
    model = models[name]
    inside: list[tuple[str, str]] = []
    yield TABLE
    for key, field in model.get("properties", {}).items():
        inner = _model(field)
        if inner and inner not in seen:
            inside.append((key, inner))
        default = "required" if key in model.get("required", []) else _default(field)
        yield f"| `{key}` | {_cell(_kind(field))} | {_cell(default)} | {_cell(_description(field, models))} |"
    yield ""
    for key, inner in inside:
        if inner not in seen:
            yield f"**`{key}`**: {models[inner].get('description', '')}\n"
            yield from _table(inner, models, seen)


def _model(field: dict[str, Any]) -> str | None:
    """Return the name of the model of a field, or of each value of a map."""
    for one in _alternatives(field):
        if "$ref" in one:
            return str(one["$ref"]).rsplit("/", maxsplit=1)[-1]
        values = _values(one)
        if values and (found := _model(values)):
            return found
    return None


def _alternatives(field: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the types of a field. Null is not among them: the column Default shows it."""
    return [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]


def _values(one: dict[str, Any]) -> dict[str, Any] | None:
    """Return the type of a map's values."""
    values = one.get("additionalProperties") or next(iter(one.get("patternProperties", {}).values()), None)
    return values if isinstance(values, dict) else None


def _kind(field: dict[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_one_kind(one) for one in _alternatives(field)))


def _one_kind(one: dict[str, Any]) -> str:
    if "enum" in one or "const" in one:
        return ", ".join(f"`{_yaml(value)}`" for value in one.get("enum", [one.get("const")]))
    if "$ref" in one:
        return "object"
    kind = str(one.get("type", "value"))
    if kind == "array":
        items = one.get("items")
        return f"list of {_kind(items)}" if items else "list"
    if kind == "object":
        values = _values(one)
        return f"map of name to {_kind(values)}" if values else "object"
    low, high = one.get("minimum"), one.get("maximum")
    return kind + (f", {low} to {high}" if low is not None and high is not None else "")


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    return "none" if default in (None, [], {}) else f"`{_yaml(default)}`"


def _description(field: dict[str, Any], models: dict[str, Any]) -> str:
    name = _model(field)
    return str(field.get("description") or (models[name].get("description", "") if name else ""))


def _yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value).replace('"', "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
