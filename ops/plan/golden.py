"""The golden files: what every committed stack file leads to, kept so that a change to it is a change one can read.

Owns which files there are and what stands in them. Each is called after its stack file: `Pulumi.staging.urns` belongs
to `Pulumi.staging.yaml`, `eks-arc.urns` to `examples/eks-arc.yaml`. The `.urns` list every URN: a line that goes is a
resource that is deleted, a line that changes one that is replaced. An `.inventory.yaml` is written by hand (see
`ops.plan.inventory`); here its values are only brought up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ruamel.yaml import YAML

from ops.cli.options import ROOT
from ops.plan import inventory
from ops.plan.recorder import record
from ops.plan.stack_file import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.plan.model import Plan

FOLDER: Final = ROOT / "tests" / "golden"
REGENERATE: Final = "make golden"
"""The command that writes all of them."""


def stack_files() -> tuple[Path, ...]:
    """Every committed stack file: the stacks that are deployed, the examples, and those that tests speak about."""
    places = ("Pulumi.*.yaml", "examples/*.yaml", "tests/stacks/*.yaml")
    return tuple(sorted(path for place in places for path in ROOT.glob(place)))


def urns(plan: Plan) -> str:
    """The URNs of a plan, sorted, one a line."""
    return "".join(f"{urn}\n" for urn in sorted(plan.urns))


def urns_path(stack_file: Path) -> Path:
    """Where the URNs of a stack file are kept."""
    return FOLDER / f"{stack_file.stem}.urns"


def inventory_path(stack_file: Path) -> Path:
    """Where the inventory of a stack file is kept, where it has one."""
    return FOLDER / f"{stack_file.stem}.inventory.yaml"


def stale() -> tuple[Path, ...]:
    """The lists of URNs whose stack file is gone."""
    return tuple(sorted({*FOLDER.glob("*.urns")} - {urns_path(path) for path in stack_files()}))


def load_inventory(path: Path) -> Any:
    """An inventory with its comments."""
    return _yaml().load(path)


def write() -> Iterator[Path]:
    """Write the golden files of every committed stack file, remove what is stale, and say which ones changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stale():
        path.unlink()
        yield path
    for path in stack_files():
        plan = record(read(path))
        if _write(urns_path(path), urns(plan)):
            yield urns_path(path)
        kept = inventory_path(path)
        if kept.is_file():
            before = kept.read_text(encoding="utf-8")
            content = load_inventory(kept)
            inventory.refresh(content, plan)
            _yaml().dump(content, kept)
            if kept.read_text(encoding="utf-8") != before:
                yield kept


def _write(path: Path, text: str) -> bool:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
