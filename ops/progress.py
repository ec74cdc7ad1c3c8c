"""The progress of a long piece of work: one line on a terminal, and at most one line a minute in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Final

from rich.console import Console
from rich.status import Status
from rich.text import Text

_INTERVAL: Final = 60.0
"""Seconds between two lines of the same stage in a log."""
_SPINNER: Final = 2
"""Columns of the spinner and of the space after it."""


class Progress:
    """The progress of one piece of work, which has stages with steps."""

    def __init__(
        self, console: Console, status: Status | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._status = status
        self._clock = clock
        self._printed = clock()

    def stage(self, text: str) -> None:
        """Show a new stage; it gets a line of its own in a log."""
        if self._status is None:
            self._print(text)
        else:
            self._status.update(one_line(text, self._console))

    def step(self, text: str) -> None:
        """Show a step of the stage; the next one replaces it on a terminal, and a log gets one a minute."""
        if self._status is not None:
            self._status.update(one_line(text, self._console))
        elif self._clock() - self._printed >= _INTERVAL:
            self._print(text)

    def _print(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)
        self._printed = self._clock()


def one_line(text: str, console: Console) -> Text:
    """Cut a text to the width of the terminal, next to a spinner."""
    line = Text(text.replace("\n", " "))
    line.truncate(console.width - _SPINNER, overflow="ellipsis")
    return line


@contextlib.contextmanager
def shown(first: str, console: Console) -> Generator[Progress]:
    """Show progress until the block ends, and its first stage at once."""
    # FORCE_COLOR makes a console a terminal, but a log cannot replace a line.
    if console.is_interactive and console.file.isatty():
        with console.status(one_line(first, console)) as status:
            yield Progress(console, status)
    else:
        line = Progress(console)
        line.stage(first)
        yield line
