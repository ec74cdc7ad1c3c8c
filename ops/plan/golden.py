"""The golden files: the expected plan of every committed stack file, so that a review shows each change to it.

A golden file is named after its stack file: `eks-arc.urns` belongs to `examples/eks-arc.yaml`. A `.urns` file lists
every URN: a removed line is a deleted resource, a changed line a replaced one. Stack files with equal content share one
golden file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.plan.model import Plan
from ops.plan.recorder import record
from ops.plan.stack_file import read

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "tests" / "golden"


def stack_files() -> tuple[Path, ...]:
    """Return every committed stack file: the deployed stacks, the examples, and the stacks of the tests."""
    places = ("Pulumi.*.yaml", "examples/*.yaml", "tests/stacks/*.yaml")
    return tuple(sorted(path for place in places for path in ROOT.glob(place)))


def originals() -> dict[Path, Path]:
    """Return for each stack file the one with equal content that has the golden file; a deployed stack comes last."""
    found: dict[Path, Path] = {}
    first: dict[object, Path] = {}
    for path in sorted(stack_files(), key=lambda path: (path.parent == ROOT, path)):
        file = read(path)
        found[path] = first.setdefault((file.name, tuple(file.config.items()), file.secret_keys), path)
    return found


def urns(plan: Plan) -> str:
    """Return the URNs of a plan, sorted, one per line."""
    return "".join(f"{urn}\n" for urn in sorted(plan.urns))


def urns_path(stack_file: Path) -> Path:
    """Return the path of the URNs of a stack file."""
    return FOLDER / f"{stack_file.stem}.urns"


def stale() -> tuple[Path, ...]:
    """Return the lists of URNs that belong to no stack file."""
    return tuple(sorted({*FOLDER.glob("*.urns")} - {urns_path(path) for path in originals().values()}))


def write() -> Iterator[Path]:
    """Write all golden files, remove stale ones, and yield the paths that changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stale():
        path.unlink()
        yield path
    for path in sorted(set(originals().values())):
        if _write(urns_path(path), urns(record(read(path)))):
            yield urns_path(path)


def _write(path: Path, text: str) -> bool:
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True
