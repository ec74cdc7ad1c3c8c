"""Print the folder of a Pulumi CLI that matches the locked SDK, and install one if needed: `make pulumi`."""

from __future__ import annotations

import sys

from ops.cli.terminal import progress
from ops.engine.pulumi_cli import Found, find


def main() -> int:
    """Print the folder, or the reasons if no CLI could be installed; return the exit code."""
    with progress("Looking for the Pulumi CLI") as line:
        cli = find(line)
    if isinstance(cli, Found):
        sys.stdout.write(f"{cli.path.parent}\n")
        return 0
    sys.stderr.write(f"{cli}\n")
    return 3


if __name__ == "__main__":
    sys.exit(main())
