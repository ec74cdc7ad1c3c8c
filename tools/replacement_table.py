"""Write the inputs whose change replaces a resource, from the schemas of the pinned providers.

`python -m tools.replacement_table` gets the schemas with `pulumi package get-schema`, which downloads the providers.
With `--schemas FOLDER` it reads `FOLDER/aws.json`, `FOLDER/gcp.json` and `FOLDER/github.json` instead; a package
without a file keeps its rows. It ends with 3 if no schema is available, and with 2 if a version differs from the SDK.

The bridge marks an input with `willReplaceOnChanges` if its Terraform attribute has ForceNew. Not in a schema are
resources of Terraform's plugin framework (pulumi-terraform-bridge issue 818) and rules that depend on values
(CustomizeDiff): these are in `replacement_rules.json`, by hand. A type without a mark gets no row. A row with another
source was written by hand before the schema of its package was read; the next run replaces it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ops.cli.terminal import progress
from ops.engine import pulumi_cli
from ops.fakes import tables
from ops.fakes.protocol import replacement

PACKAGES: Final = ("aws", "gcp", "github")
"""The bridged providers. The schema of Kubernetes has no marks."""


class Missing(Exception):
    """A schema that is neither in the folder nor can be downloaded."""


def block(package: str, version: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the version and the rows of a package.

    Raises:
        ValueError: the schema has another version, or lacks a type.

    """
    # The file in a provider's repository has no version.
    if schema.get("version", version) != version:
        raise ValueError(f"the schema of {package} has version {schema['version']}; the SDK has {version}")
    types = sorted(type_ for type_ in tables.TABLE if type_.startswith(f"{package}:"))
    if lacking := sorted(set(types) - set(schema["resources"])):
        raise ValueError(f"the schema of {package} {version} has no {', '.join(lacking)}")
    rows = {type_: row(schema, type_) for type_ in types}
    source = f"schema of pulumi-{package} {version}"
    return {"version": version, "types": {type_: {"source": source, **row} for type_, row in rows.items() if row}}


def row(schema: Mapping[str, Any], type_: str) -> dict[str, list[str]]:
    """Return the paths that replace a resource, and those below them that do not."""
    decided = list(_walk(schema, schema["resources"][type_]["inputProperties"], "", above=False))
    lists = {
        "replace": [path for path, mark in decided if mark],
        "update": [path for path, mark in decided if not mark],
    }
    return {key: paths for key, paths in lists.items() if paths}


def _walk(
    schema: Mapping[str, Any], properties: Mapping[str, Any], prefix: str, *, above: bool
) -> Iterator[tuple[str, bool]]:
    """Yield each path whose mark differs from that of the block around it."""
    for name, property_ in sorted(properties.items()):
        mark = property_.get("willReplaceOnChanges", False)
        if mark is not above:
            yield f"{prefix}{name}", mark
        reference = (property_.get("items") or property_).get("$ref", "")
        inner = schema["types"].get(reference.removeprefix("#/types/"), {})
        yield from _walk(schema, inner.get("properties", {}), f"{prefix}{name}.", above=mark)


def fetch(package: str, version: str) -> dict[str, Any]:
    """Return the schema of a provider, which the Pulumi CLI downloads.

    Raises:
        Missing: no CLI is available, or it fails.

    """
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.find(line)
    if isinstance(cli, pulumi_cli.NotFound):
        raise Missing(str(cli))
    command = [str(cli.path), "package", "get-schema", f"{package}@{version}"]
    finished = subprocess.run(command, capture_output=True, check=False, text=True)
    if finished.returncode:
        raise Missing(
            f"pulumi cannot get the schema of {package} {version}: {finished.stderr.strip()}; "
            "run `make replacement-table SCHEMAS=folder` with downloaded schemas"
        )
    schema: dict[str, Any] = json.loads(finished.stdout)
    return schema


def given(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the schemas in a folder by package.

    Raises:
        Missing: the folder has no schema.

    """
    files = {package: folder / f"{package}.json" for package in PACKAGES}
    found = {package: json.loads(file.read_text("utf-8")) for package, file in files.items() if file.is_file()}
    if not found:
        raise Missing(f"{folder} contains none of {', '.join(file.name for file in files.values())}")
    return found


def write(schemas: Mapping[str, Mapping[str, Any]], table: Path) -> None:
    """Replace the rows of the packages that have a schema."""
    blocks = json.loads(table.read_text(encoding="utf-8"))
    for package, schema in schemas.items():
        blocks[package] = block(package, importlib.metadata.version(f"pulumi-{package}"), schema)
    table.write_text(text(blocks), encoding="utf-8")


def text(blocks: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table as JSON with a line for each type."""
    parts = []
    for package, values in sorted(blocks.items()):
        lines = [f"   {json.dumps(type_)}: {json.dumps(row)}" for type_, row in sorted(values["types"].items())]
        head = f' {json.dumps(package)}: {{\n  "version": {json.dumps(values["version"])},\n  "types": {{\n'
        parts.append(head + ",\n".join(lines) + "\n  }\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=Path, help="a folder with schemas; without it the Pulumi CLI gets them")
    folder = parser.parse_args(arguments).schemas
    try:
        pinned = {package: importlib.metadata.version(f"pulumi-{package}") for package in PACKAGES}
        write(
            given(folder) if folder else {name: fetch(name, version) for name, version in pinned.items()},
            replacement.TABLE,
        )
    except Missing as missing:
        sys.stderr.write(f"replacement-table: {missing}\n")
        return 3
    except ValueError as differs:
        sys.stderr.write(f"replacement-table: {differs}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
