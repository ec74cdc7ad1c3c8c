"""Print the folder of a Pulumi CLI that fits the locked SDK, getting one where there is none: `make pulumi`."""

from __future__ import annotations

import sys

from ops.engine.pulumi_cli import Found, find


def tell(line: str) -> None:
    """Say on standard error what takes its time, so that standard output is the folder alone."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Print the folder; without a CLI, say which ways were tried."""
    cli = find(progress=tell)
    if isinstance(cli, Found):
        sys.stdout.write(f"{cli.path.parent}\n")
        return 0
    tell(str(cli))
    return 3


if __name__ == "__main__":
    sys.exit(main())
