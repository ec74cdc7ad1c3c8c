"""Print the folder of a Pulumi CLI that matches the locked SDK, and install one if needed: `make pulumi`."""

from __future__ import annotations

import sys

from ops.engine.pulumi_cli import Found, find


def report(line: str) -> None:
    """Write progress to standard error; standard output is only the folder."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Print the folder, or the reasons if no CLI could be installed; return the exit code."""
    cli = find(progress=report)
    if isinstance(cli, Found):
        sys.stdout.write(f"{cli.path.parent}\n")
        return 0
    report(str(cli))
    return 3


if __name__ == "__main__":
    sys.exit(main())
