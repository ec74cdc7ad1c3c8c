"""Write the golden files that tests compare each plan with."""

from __future__ import annotations

from ops.cli import terminal
from ops.cli.options import ROOT
from ops.plan import golden, golden_workflows


def main() -> None:
    """Write the golden files that tests compare each plan with."""
    changed = [*golden.write(), *golden_workflows.write()]
    console = terminal.out()
    for path in changed:
        console.print(f"{'Wrote' if path.is_file() else 'Removed'} {path.relative_to(ROOT)}.")
    if not changed:
        console.print("The golden files are up to date.")
