"""Where commands write: people read the one stream, programs the other.

What people read goes to standard output, unless `--json -` gives that to a program; faults and progress go to
standard error. Colour is there only where somebody looks at it (`NO_COLOR` and a pipe are both respected).
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.theme import Theme

if TYPE_CHECKING:
    from pathlib import Path

_THEME: Final = Theme(
    {
        "error": "bold red",
        "warning": "yellow",
        "ok": "green",
        "path": "bold",
        "type": "cyan",
        "quiet": "dim",
        "mark": "magenta",
    }
)


def out(*, width: int | None = None, quiet: bool = False) -> Console:
    """What people read. With `quiet` it reads nowhere, because standard output belongs to a program."""
    return Console(theme=_THEME, highlight=False, width=width, quiet=quiet)


def err() -> Console:
    """Faults, warnings and progress."""
    return Console(theme=_THEME, highlight=False, stderr=True)


def write_json(data: bytes | Any, target: Path) -> None:
    """Write `data` to `target`, or to standard output where it is `-`; bytes as they are, the rest as JSON."""
    content = data if isinstance(data, bytes) else encoded(data)
    if str(target) == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def encoded(data: Any) -> bytes:
    """`data` as JSON, the same bytes for the same data."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
