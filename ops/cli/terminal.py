"""The output of commands, and the progress of long ones.

Results go to standard output, or nowhere if `--json -` uses it for JSON. Faults and progress go to standard error.
Colour is only used on a terminal and without `NO_COLOR`.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rich.console import Console
from rich.theme import Theme

from ops.outcome import Exit
from ops.progress import shown

if TYPE_CHECKING:
    from ops.progress import Progress

_THEME: Final = Theme(
    {
        "error": "bold red",
        "warning": "yellow",
        "ok": "green",
        "allowed": "cyan",
        "path": "bold",
        "type": "cyan",
        "quiet": "dim",
        "mark": "magenta",
    }
)


class _Output(Console):
    """A console that ends the command when its reader has ended, as in `make plan | head`."""

    def on_broken_pipe(self) -> None:
        """End the command."""
        _closed()


def _closed() -> NoReturn:
    """End the command silently. Python writes its buffers at the end, so they get another file."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(Exit.CLOSED)


def out(*, quiet: bool = False) -> Console:
    """Return the console for results. With `quiet` it prints nothing, because standard output is used for JSON."""
    return _Output(theme=_THEME, highlight=False, quiet=quiet)


def err() -> Console:
    """Return the console for faults, warnings and progress."""
    return Console(theme=_THEME, highlight=False, stderr=True)


def write_json(data: bytes | Any, target: Path) -> None:
    """Write `data` to the file `target`, or to standard output for `-`. Bytes stay unchanged; the rest becomes JSON."""
    content = data if isinstance(data, bytes) else encoded(data)
    if str(target) == "-":
        try:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            _closed()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def encoded(data: Any) -> bytes:
    """Return `data` as JSON; the same data always gives the same bytes."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def progress(first: str) -> AbstractContextManager[Progress]:
    """Show progress on standard error until the block ends."""
    return shown(first, err())
