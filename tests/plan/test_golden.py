"""What every committed stack file leads to stands written down: a change to it is a change that somebody reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.cli.options import ROOT
from ops.plan import golden, inventory
from tests.ops.small import KEY, plan, planned
from tests.plan import stacks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.plan

WRITE = f"where this is meant: {golden.REGENERATE}"


@pytest.mark.parametrize("name", stacks.SAME_AS)
def test_the_resources_are_the_ones_written_down(name: str) -> None:
    made = stacks.planned(name)
    path = golden.urns_path(ROOT / name)

    kept = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    gone, new = sorted(set(kept) - set(made.urns)), sorted(set(made.urns) - set(kept))
    assert (gone, new) == ([], []), f"gone and new resources of {name}; {WRITE}"


@pytest.mark.parametrize("name", stacks.SAME_AS)
def test_the_inventory_holds(name: str) -> None:
    path = golden.inventory_path(ROOT / name)
    if not path.is_file():
        assert not name.startswith("tests/"), f"{name} has no inventory: write {path.relative_to(ROOT)}"
        return

    assert list(inventory.mismatches(golden.load_inventory(path), stacks.planned(name))) == [], WRITE


def test_no_golden_file_is_left_of_a_stack_that_is_gone() -> None:
    assert golden.stale() == (), WRITE


def test_what_is_left_of_a_stack_that_is_gone_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    left = tmp_path / "Pulumi.gone.urns"
    for path in (left, golden.urns_path(ROOT / stacks.STAGING), tmp_path / "staging.inventory.yaml"):
        path.touch()

    assert golden.stale() == (left,)


BUCKETS = plan(
    planned(KEY, "one", inputs={"rotation": True, "list": [{"a": 1, "b": 2}, {"a": 3}]}, protect=True),
    planned(KEY, "two", inputs={"pass": "open"}, secret_paths=frozenset({"pass"})),
    outputs={"told": "here"},
)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"resources": {f"{KEY} three": {}}}, f"{KEY} three: not in the plan"),
        ({"resources": {f"{KEY} one": {"rotation": False}}}, f"{KEY} one.rotation: True, not False"),
        ({"resources": {f"{KEY} one": {"other": 1}}}, f"{KEY} one.other: not there"),
        ({"resources": {f"{KEY} one": {"options": {"protect": False}}}}, f"{KEY} one.options.protect: True, not False"),
        ({"resources": {f"{KEY} one": {"list": [{"a": 2}]}}}, f"{KEY} one.list.0: {{'a': 2}} is not among"),
        ({"resources": {f"{KEY} two": {"pass": "open"}}}, f"{KEY} two.pass: '[secret]', not 'open'"),
        ({"counts": {KEY: 1}}, f"{KEY}: 2 in the plan, not 1"),
        ({"absent": [KEY]}, f"{KEY}: in the plan, and must not be"),
        ({"absent": [f"{KEY} one"]}, f"{KEY} one: in the plan, and must not be"),
        ({"outputs": {"told": "there"}}, "outputs.told: 'here', not 'there'"),
        ({"resource": {}}, "resource: no part of an inventory"),
    ],
)
def test_an_inventory_tells_what_is_not_as_it_says(wanted: dict[str, Any], said: str) -> None:
    [mismatch] = inventory.mismatches(wanted, BUCKETS)

    assert mismatch.startswith(said)


def test_an_inventory_passes_over_what_it_does_not_mention() -> None:
    wanted = {
        "resources": {f"{KEY} one": {"list": [{"a": 3}, {"b": 2}]}},
        "absent": [f"{KEY} three"],
        "outputs": {"told": "here"},
    }

    assert list(inventory.mismatches(wanted, BUCKETS)) == []


def test_a_refreshed_inventory_holds_and_still_says_as_little() -> None:
    stale: dict[str, Any] = {"resources": {f"{KEY} one": {"rotation": False}}, "counts": {KEY: 7}, "absent": ["x:y:Z"]}

    inventory.refresh(stale, BUCKETS)

    assert stale == {"resources": {f"{KEY} one": {"rotation": True}}, "counts": {KEY: 2}, "absent": ["x:y:Z"]}
