"""The log of a job in a file, as a system that checks can ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ops.outcome import Exit, Stop

_LARGEST: Final = 5_000_000
"""The largest number of characters that are read; the end of a log has the reason of a failure."""


class GivenLog:
    """The log that a person names, or none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def ask(self, call: str, /, **_arguments: Any) -> Any:
        """Return the name and the text of the log; None without one."""
        if self._path is None:
            return None
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError as fault:
            wrong = f"{self._path}: cannot {call} the log ({fault.strerror}); name a text file with --log"
            raise Stop(Exit.WRONG, wrong) from None
        return {"name": self._path.name, "text": text[-_LARGEST:]}
