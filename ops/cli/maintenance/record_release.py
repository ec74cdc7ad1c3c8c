"""Record the state of every committed stack at a release, for the upgrade check of the next one."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from ops.cli import terminal
from ops.cli.options import ROOT
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, upgrade
from ops.outcome import Exit, Stop
from ops.plan.stack_file import read

Release = Annotated[str, typer.Argument(help="The release that the program is, for example 0.2.0.")]


def main(release: Release) -> None:
    """Record the state of every committed stack at a release, for the upgrade check of the next one."""
    if not re.fullmatch(r"\d+(\.\d+)+[a-z0-9.-]*", release, re.ASCII):
        raise Stop(
            Exit.WRONG, f'"{release}" is not a release; write its number, as in make record-release RELEASE=0.2.0'
        )
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
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
