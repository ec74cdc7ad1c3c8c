"""The command line: finds the command, and ends it with the right code whatever happens inside.

Every module of `ops.cli.commands` is a command of the same name, with `main` as its function; a new command is a new
file, and a command costs only what it imports itself. Nobody's mistake is answered with a traceback; `--traceback`,
anywhere on the line, shows one.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any, Final

import typer
from rich.markup import escape
from typer.exceptions import TyperException

from ops.cli import commands, terminal
from ops.cli.outcome import Exit, Stop
from ops.engine import interruption
from ops.plan.stack_file import UnreadableStackFileError

_NAME: Final = "python -m ops"
_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    traceback = "--traceback" in line
    line = [word for word in line if word != "--traceback"]
    try:
        with interruption.raise_again():
            code = int(_application(line)(args=line, prog_name=_NAME, standalone_mode=False) or 0)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except Exception as fault:
        if traceback:
            raise
        return _end(fault, line)
    if code == Exit.INTERRUPTED:
        terminal.err().print("Stopped.")
    return code


def _application(line: list[str]) -> typer.Typer:
    """The command that `line` asks for; all of them where it asks for help, or for one that is not there."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
        help="Plan, preview, rehearse and look after a stack of gpu-ci.",
        no_args_is_help=True,
    )
    app.callback()(_front_door)
    names = sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(commands.__path__))
    wanted = [name for name in names if line[:1] == [name]]
    for name in wanted or names:
        module = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
        app.command(name)(module.main)
    return app


def _front_door() -> None:
    """Only here so that a single command keeps its name on the line."""


def _end(fault: Exception, line: list[str]) -> int:
    """Say what stopped the command, and with which code it ends."""
    console = terminal.err()
    if isinstance(fault, TyperException):
        command = f" {line[0]}" if len(line) > 1 and not line[0].startswith("-") else ""
        see = f"\nSee: {_NAME}{command} --help" if line else ""
        console.print(f"{escape(fault.format_message())}{see}", soft_wrap=True)
        return Exit.WRONG
    if isinstance(fault, Stop):
        if fault.message:
            console.print(escape(fault.message), soft_wrap=True)
        return fault.code
    if isinstance(fault, UnreadableStackFileError):
        console.print(escape(str(fault)), soft_wrap=True)
        return Exit.WRONG
    return _judged(fault) or _unexpected(fault)


def _judged(fault: Exception) -> int | None:
    """The end of a program that refuses its stack file; None where it is something else."""
    # Only where the program ran are its modules there, and only then can it have raised these.
    faults = getattr(sys.modules.get("config.load"), "StackFileError", None)
    if faults is not None and isinstance(fault, faults):
        return _faults(fault)
    refused = getattr(sys.modules.get("refusal"), "Refused", None)
    if refused is not None and isinstance(fault, refused):
        from ops.plan.verdicts import show  # noqa: PLC0415  # only a refusal needs it

        show(terminal.out(), getattr(fault, "verdicts", ()))
        return Exit.FINDING
    return None


def _faults(fault: Any) -> int:
    """Every fault of a stack file on a line, and how many there are."""
    console = terminal.err()
    for one in fault.faults:
        console.print(f"[path]{escape(one.path)}[/]: {escape(one.problem)}; {escape(one.fix)}", soft_wrap=True)
    count = len(fault.faults)
    console.print(f"{count} {'fault' if count == 1 else 'faults'} in the stack file. Nothing was written.")
    return Exit.WRONG


def _unexpected(fault: Exception) -> int:
    """One line for what nobody foresaw, and how to see more."""
    text = " ".join(str(fault).split()) or "no message"
    console = terminal.err()
    console.print(f"[error]{type(fault).__name__}[/]: {escape(text)}", soft_wrap=True)
    console.print("This is a fault of the program. Say it again with --traceback to see where.", soft_wrap=True)
    return Exit.OUTSIDE
