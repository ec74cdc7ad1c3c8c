"""Record the state of every committed stack at a release, for the upgrade check of the next one."""

from __future__ import annotations

from typing import Annotated

import typer

from ops.cli import terminal
from ops.cli.options import ROOT
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, upgrade
from ops.plan.stack_file import read

Release = Annotated[str, typer.Argument(help="The release that the program is, for example 0.2.0.")]


def main(release: Release) -> None:
    """Record the state of every committed stack at a release, for the upgrade check of the next one."""
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line.stage)
        texts: dict[str, str] = {}
        for path in upgrade.stack_files():
            stack_file = read(path)
            line.stage(f"Updating {stack_file.name} on fake clouds")
            texts[f"{stack_file.name}.json"] = upgrade.snapshot(cli, stack_file, release)
    for path in upgrade.FOLDER.glob("*.json"):
        path.unlink()
    for name, text in texts.items():
        (upgrade.FOLDER / name).write_text(text, encoding="utf-8")
    terminal.out().print(f"{len(texts)} states are recorded in {upgrade.FOLDER.relative_to(ROOT)}/.")
