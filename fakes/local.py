"""Commands and image builds on the local machine: they refuse nothing.

Only a changed trigger replaces a command (pulumi-command 1.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.kinds import Kind

if TYPE_CHECKING:
    from fakes.request import Created, Request


def _command(request: Request) -> Created:
    """Return the answer of a command that prints nothing."""
    return f"{request.name}-{request.hex(7)}", {"stdout": "", "stderr": ""}


def _image(request: Request) -> Created:
    """Return the answer of a pushed image: its first tag and its digest."""
    digest = f"sha256:{request.hex(64)}"
    first = next(iter(request.inputs.get("tags") or ()), f"{request.name}:built")
    return str(first), {"digest": digest, "ref": f"{first}@{digest}", "contextHash": request.hex(64)}


TABLE: Final = (
    Kind(type="command:local:Command", answer=_command, replaced_by=frozenset({"triggers"})),
    Kind(type="docker-build:index:Image", answer=_image),
)
