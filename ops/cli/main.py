"""The command line: run one command, and turn every result and exception into an exit code.

Every module of `ops.cli.commands` and `ops.cli.maintenance` is a command of the same name, with the function `main`.
Only the module of the requested command is imported. An exception is printed as one line; with `--traceback` anywhere
on the command line, it is printed with its traceback.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any, Final

import typer
from rich.markup import escape
from typer.exceptions import TyperException

from gpu_ci.knowledge.incomplete import Incomplete
from ops.cli import commands, interruption, machine, maintenance, terminal
from ops.outcome import Exit, Stop
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
        return _report(fault, line)
    if code == Exit.INTERRUPTED:
        terminal.err().print("Stopped.")
    return code


def _application(line: list[str]) -> typer.Typer:
    """Return an application with the requested command, or with all of them for help and unknown names."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
        help="Plan, preview, rehearse and maintain a stack of gpu-ci.",
        no_args_is_help=True,
    )
    app.callback()(_callback)
    modules = {
        found.name.replace("_", "-"): f"{package.__name__}.{found.name}"
        for package in (commands, maintenance)
        for found in pkgutil.iter_modules(package.__path__)
    }
    wanted = [name for name in modules if line[:1] == [name]]
    for name in wanted or sorted(modules):
        app.command(name)(importlib.import_module(modules[name]).main)
    return app


def _callback() -> None:
    """Do nothing. With a callback, typer keeps the name of a single command on the command line."""


def _report(fault: Exception, line: list[str]) -> int:
    """Print why the command stopped, and return its exit code."""
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
    if isinstance(fault, Incomplete):
        console.print(escape(str(fault)), soft_wrap=True)
        return Exit.OUTSIDE
    if (problem := machine.described(fault)) is not None:
        console.print(escape(problem), soft_wrap=True)
        return Exit.OUTSIDE
    return _refused(fault) or _unexpected(fault)


def _refused(fault: Exception) -> int | None:
    """Print why the program refused its stack file, and return the exit code; None for other exceptions."""
    # Imported here, because they are slow to import and only a refusal needs them.
    from gpu_ci.derived.refusal import Refused  # noqa: PLC0415
    from gpu_ci.stack_file.reading.load import StackFileError  # noqa: PLC0415
    from ops.plan.planning import RefusedPlan, show_found  # noqa: PLC0415
    from ops.plan.verdicts import show  # noqa: PLC0415

    if isinstance(fault, StackFileError):
        return _faults(fault)
    if isinstance(fault, Refused):
        console = terminal.out()
        if isinstance(fault, RefusedPlan):
            show_found(console, fault.verdicts, fault.findings, fault.exceptions)
        else:
            show(console, fault.verdicts)
        return Exit.FINDING
    return None


def _faults(fault: Any) -> int:
    """Print every fault of a stack file on a line, and their number."""
    console = terminal.err()
    for one in fault.faults:
        console.print(f"[path]{escape(one.path)}[/]: {escape(one.problem)}; {escape(one.fix)}", soft_wrap=True)
    count = len(fault.faults)
    console.print(f"{count} {'fault' if count == 1 else 'faults'} in the stack file. Nothing was changed.")
    return Exit.WRONG


def _unexpected(fault: Exception) -> int:
    """Print an unexpected exception in one line."""
    text = " ".join(str(fault).split()) or "no message"
    console = terminal.err()
    console.print(f"[error]{type(fault).__name__}[/]: {escape(text)}", soft_wrap=True)
    console.print("This is a bug. Run the command again with --traceback for details.", soft_wrap=True)
    return Exit.OUTSIDE
