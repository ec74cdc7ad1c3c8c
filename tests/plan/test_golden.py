"""Every plan equals its golden files, so that a review shows each change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ops.cli.options import ROOT
from ops.plan import golden
from tests.ops.small import KEY, plan, planned
from tests.plan import inventory, stacks

pytestmark = pytest.mark.plan

WRITE = "if the change is intended, run `make golden`"


@pytest.mark.parametrize("name", stacks.NAMES)
def test_the_urns_equal_the_golden_file(name: str) -> None:
    made = stacks.planned(name)
    path = golden.urns_path(ROOT / name)

    kept = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    removed, added = sorted(set(kept) - set(made.urns)), sorted(set(made.urns) - set(kept))
    assert (removed, added) == ([], []), f"removed and added resources of {name}; {WRITE}"


@pytest.mark.parametrize("name", stacks.NAMES)
def test_the_plan_matches_its_inventory(name: str) -> None:
    path = golden.FOLDER / f"{Path(name).stem}.inventory.yaml"
    if not path.is_file():
        assert not name.startswith("tests/"), f"{name} has no inventory: write {path.relative_to(ROOT)}"
        return

    assert list(inventory.mismatches(yaml.safe_load(path.read_text(encoding="utf-8")), stacks.planned(name))) == []


def test_every_golden_file_has_a_stack_file() -> None:
    assert golden.stale() == (), WRITE


def test_a_golden_file_without_a_stack_file_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    left = tmp_path / "Pulumi.removed.urns"
    for path in (left, golden.urns_path(ROOT / stacks.STAGING), tmp_path / "staging.inventory.yaml"):
        path.touch()

    assert golden.stale() == (left,)


BUCKETS = plan(
    planned(KEY, "one", inputs={"rotation": True, "list": [{"a": 1, "b": 2}, {"a": 3}]}, protect=True),
    planned(KEY, "two", inputs={"pass": "open"}, secret_paths=frozenset({"pass"})),
    outputs={"place": "here"},
)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"resources": {f"{KEY} three": {}}}, f"{KEY} three: not in the plan"),
        ({"resources": {f"{KEY} one": {"rotation": False}}}, f"{KEY} one.rotation: True, not False"),
        ({"resources": {f"{KEY} one": {"other": 1}}}, f"{KEY} one.other: missing"),
        ({"resources": {f"{KEY} one": {"options": {"protect": False}}}}, f"{KEY} one.options.protect: True, not False"),
        ({"resources": {f"{KEY} one": {"list": [{"a": 2}]}}}, f"{KEY} one.list.0: {{'a': 2}} is not among"),
        ({"resources": {f"{KEY} two": {"pass": "open"}}}, f"{KEY} two.pass: '[secret]', not 'open'"),
        ({"counts": {KEY: 1}}, f"{KEY}: 2 in the plan, not 1"),
        ({"absent": [KEY]}, f"{KEY}: in the plan, but listed as absent"),
        ({"absent": [f"{KEY} one"]}, f"{KEY} one: in the plan, but listed as absent"),
        ({"outputs": {"place": "there"}}, "outputs.place: 'here', not 'there'"),
        ({"resource": {}}, "resource: unknown part of an inventory"),
    ],
)
def test_a_difference_from_the_inventory_is_reported(wanted: dict[str, Any], message: str) -> None:
    [mismatch] = inventory.mismatches(wanted, BUCKETS)

    assert mismatch.startswith(message)


def test_an_inventory_ignores_values_that_it_does_not_mention() -> None:
    wanted = {
        "resources": {f"{KEY} one": {"list": [{"a": 3}, {"b": 2}]}},
        "absent": [f"{KEY} three"],
        "outputs": {"place": "here"},
    }

    assert list(inventory.mismatches(wanted, BUCKETS)) == []
