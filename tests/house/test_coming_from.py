"""Tests of docs/coming-from/: each capability of a source document has a place here and tests that prove it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from gpu_ci.back_ends.stack_file import Settings
from gpu_ci.stack_file.reading.schema import stack_schema

pytestmark = pytest.mark.pure

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "docs" / "coming-from"
PAGES: Final = {
    "S0": "gce-image-and-cirun.md",
    "S1": "self-hosted-runner.md",
    "S2": "cirun-on-aws.md",
    "S3": "eks-and-arc.md",
    "S4": "start-test-stop.md",
}
"""The page of each source document."""
LAST: Final = {"S0": 55, "S1": 40, "S2": 37, "S3": 80, "S4": 27}
"""The number of capabilities of each source document. They are numbered from 1."""
OPTIONAL: Final = {
    "S0": {3, 6, 8, *range(11, 18), 19, 22, 23, 24, 31, 32, 33, 37, 39, 42, 48, *range(51, 55)},
    "S1": {21, *range(34, 41)},
    "S2": {*range(21, 38)},
    "S3": {*range(5, 14), *range(22, 27), 31, 32, 35, 37, 41, 42, 44, *range(53, 60), 61, 75, 78, 79, 80},
    "S4": {4, 8, 10, 14, 19, 24},
}
"""Capabilities that the document itself does not state, only the repository around it. A page may omit them."""
REQUIRED: Final = {
    f"{source}-{number:02}"
    for source, last in LAST.items()
    for number in range(1, last + 1)
    if number not in OPTIONAL[source]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A capability in the table of a page."""

    id: str
    capability: str
    places: tuple[str, ...]
    proofs: tuple[str, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of all tables."""
    found = []
    for name in PAGES.values():
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if re.match(r"\| S\d-\d\d \|", line):
                cells = [cell.strip() for cell in line.strip("|").split(" | ")]
                assert len(cells) == 4, line
                key, capability, places, proofs = cells
                found.append(
                    Row(
                        id=key,
                        capability=capability,
                        places=tuple(re.findall(r"`([^`]+)`", places)),
                        proofs=tuple(re.findall(r"`([^`]+)`", proofs)),
                    )
                )
    return tuple(found)


@cache
def defined(path: str) -> frozenset[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def proof_exists(proof: str) -> bool:
    """Return True if a test exists, and for `FILE::NAME[CASE]` also its case, as a text in the same folder."""
    match = re.fullmatch(r"(tests/[\w/]+\.py)::(test_\w+)(?:\[(.+)\])?", proof)
    if not match or not (ROOT / match[1]).is_file() or match[2] not in defined(match[1]):
        return False
    folder = (ROOT / match[1]).parent
    texts = [path.read_text(encoding="utf-8") for pattern in ("*.py", "*/*.yaml") for path in folder.glob(pattern)]
    forms = (f'"{match[3]}"', f"name:-{match[3]}\n")
    return not match[3] or any(form in text.replace(" ", "-") for text in texts for form in forms)


@cache
def the_schema() -> dict[str, Any]:
    """Return the schema of the stack file."""
    return stack_schema(Settings)


def key_exists(path: str) -> bool:
    """Return True if the schema of the stack file has a key, such as `gpu-ci:runners.NAME.arc.max`."""
    schema = the_schema()
    first, *others = path.split(".")
    if first not in schema["properties"]["config"]["properties"]:
        return False
    found = [schema["properties"]["config"]["properties"][first]]
    for key in others:
        found = [inner for one in found for inner in _inside(one, key, schema["$defs"])]
    return bool(found)


def _inside(field: dict[str, Any], key: str, models: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the types of a key inside a field. NAME is any key of a map."""
    found: list[dict[str, Any]] = []
    for one in field.get("anyOf", [field]):
        model = models[one["$ref"].rsplit("/", maxsplit=1)[-1]] if "$ref" in one else one
        if "anyOf" in model and model is not field:
            found += _inside(model, key, models)
        maps = [model.get("additionalProperties"), *model.get("patternProperties", {}).values()]
        found += [inner for inner in maps if key == "NAME" and isinstance(inner, dict)]
        found += [model["properties"][key]] if key in model.get("properties", {}) else []
    return found


def place_exists(place: str) -> bool:
    """Return True for a key of the stack file, a target of the Makefile, an output of a stack, or a file."""
    if place.startswith("gpu-ci:"):
        return key_exists(place)
    if place.startswith("make "):
        targets = re.findall(r"^([a-z-]+):[^=\n]*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return place.removeprefix("make ") in targets
    outputs = (ROOT / "docs/reference/outputs.md").read_text(encoding="utf-8")
    return f"\n| `{place}` |" in outputs or (ROOT / place).exists()


def test_every_required_capability_is_in_exactly_one_table() -> None:
    ids = [row.id for row in rows()]

    assert REQUIRED - set(ids) == set()
    assert sorted(ids) == sorted(set(ids))


def test_every_row_is_a_capability_of_its_document_in_order() -> None:
    known = [f"{source}-{number:02}" for source, last in LAST.items() for number in range(1, last + 1)]
    ids = [row.id for row in rows()]

    assert ids == [key for key in known if key in set(ids)]


def test_every_capability_has_a_place_and_a_test_that_exist() -> None:
    assert {row.id: row for row in rows() if not (row.capability and row.places and row.proofs)} == {}
    assert [(row.id, place) for row in rows() for place in row.places if not place_exists(place)] == []
    assert [(row.id, proof) for row in rows() for proof in row.proofs if not proof_exists(proof)] == []


@pytest.mark.parametrize("place", ["gpu-ci:host-image.famly", "gpu-ci:nothing", "make nothing", "ami/nothing.sh"])
def test_a_place_that_does_not_exist_is_found(place: str) -> None:
    assert not place_exists(place)


@pytest.mark.parametrize(
    "proof",
    [
        "tests/house/test_coming_from.py::test_nothing",
        "tests/house/test_nothing.py::test_x",
        "tests/mistakes/test_mistakes.py::test_the_plan_reports[no such mistake]",
    ],
)
def test_a_test_that_does_not_exist_is_found(proof: str) -> None:
    assert not proof_exists(proof)
