"""Progress of long work: one changing line on a terminal, one line per stage elsewhere."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rich.markup import escape

from ops.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.console import Console
    from rich.status import Status


class Progress:
    """The progress of one piece of work."""

    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status

    def stage(self, text: str) -> None:
        """Show a new stage; it gets a line of its own outside a terminal."""
        if self._status is None:
            self._console.print(escape(text), soft_wrap=True)
        else:
            self._status.update(escape(text))

    def step(self, text: str) -> None:
        """Show a step inside a stage; only on a terminal, where the next step replaces it."""
        if self._status is not None:
            self._status.update(escape(text))


@contextlib.contextmanager
def progress(first: str) -> Generator[Progress]:
    """Show progress on standard error until the block ends."""
    console = terminal.err()
    if console.is_terminal:
        with console.status(escape(first)) as status:
            yield Progress(console, status)
    else:
        line = Progress(console, None)
        line.stage(first)
        yield line
