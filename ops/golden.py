"""The golden files: what every committed stack file leads to, kept so that a change to it is a change one can read.

Owns which files there are and what stands in them. `<stack>.urns` lists every URN: a line that goes is a resource
that is deleted, a line that changes one that is replaced. `<stack>.inventory.yaml` is written by hand (see
`ops.inventory`); here its values are only brought up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ruamel.yaml import YAML

from ops import inventory
from ops.options import ROOT
from ops.recorder import record
from ops.stack_file import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.plan import Plan

FOLDER: Final = ROOT / "tests" / "golden"
REGENERATE: Final = "make golden"
"""The command that writes all of them."""


def stack_files() -> tuple[Path, ...]:
    """Every committed stack file: the project's stacks, and the examples."""
    return tuple(sorted([*ROOT.glob("Pulumi.*.yaml"), *(ROOT / "examples").glob("*.yaml")]))


def urns(plan: Plan) -> str:
    """The URNs of a plan, sorted, one a line."""
    return "".join(f"{urn}\n" for urn in sorted(plan.urns))


def urns_path(plan: Plan) -> Path:
    """Where the URNs of a stack are kept."""
    return FOLDER / f"{plan.stack}.urns"


def inventory_path(plan: Plan) -> Path:
    """Where the inventory of a stack is kept, where it has one."""
    return FOLDER / f"{plan.stack}.inventory.yaml"


def load_inventory(path: Path) -> Any:
    """An inventory with its comments."""
    return _yaml().load(path)


def write() -> Iterator[Path]:
    """Write the golden files of every committed stack file, and say which ones changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stack_files():
        plan = record(read(path))
        if _write(urns_path(plan), urns(plan)):
            yield urns_path(plan)
        kept = inventory_path(plan)
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
