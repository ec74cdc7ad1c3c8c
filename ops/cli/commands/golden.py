"""Write the golden files that tests compare every stack with."""

from __future__ import annotations

from ops.cli import terminal
from ops.cli.options import ROOT
from ops.plan import golden


def main() -> None:
    """Write the golden files that tests compare every stack with."""
    changed = list(golden.write())
    console = terminal.out()
    for path in changed:
        console.print(f"{path.relative_to(ROOT)} is {'written' if path.is_file() else 'removed'}.")
    if not changed:
        console.print("The golden files are up to date.")
