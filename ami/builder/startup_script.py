"""Several files and their options as the one start script that Google hands to a machine. Pure.

Owns the bundling. What the files do is their own affair (`ami/gce-gpu-host`).
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTALL_FILES: Final = (
    "gpu-host-install.service",
    "gpu-host-local-ssd.service",
    "host.sh",
    "install.sh",
    "lib.sh",
    "local-ssd.sh",
    "options.sh",
    "packages.sh",
    "seal.sh",
)
"""What the image is made of."""
VERIFY_FILES: Final = ("lib.sh", "options.sh", "verify.sh")
"""What proves it. Not part of its content: a better check makes no new image."""
INSTALL_HOME: Final = "/opt/gpu-host"
VERIFY_HOME: Final = "/run/gpu-host-verify"
LIMIT: Final = 256 * 1024
"""The most that Google takes as one metadata value."""

_END: Final = "END_OF_GPU_HOST_FILE"
_OPTION = re.compile(r"[A-Z][A-Z0-9_]*")


def startup_script(files: Mapping[str, str], options: Mapping[str, str], *, home: str, run: str) -> str:
    """A script that lays `files` and `options.env` below `home` and then runs one of them.

    Raises:
        ValueError: a file or an option cannot be carried, or it is more than Google takes.

    """
    parts = [f"#!/bin/bash\nset -eu\ninstall -d {home}\n"]
    parts += [_here(f"{home}/{name}", text) for name, text in sorted(files.items())]
    parts.append(_here(f"{home}/options.env", "".join(f"{_option(*each)}\n" for each in sorted(options.items()))))
    parts.append(f"exec /bin/bash {home}/{run}\n")
    script = "".join(parts)
    if len(script.encode()) > LIMIT:
        message = f"the start script has {len(script.encode())} bytes, and Google takes {LIMIT}"
        raise ValueError(message)
    return script


def _here(path: str, text: str) -> str:
    if _END in text or (text and not text.endswith("\n")):
        message = f"{path}: it must end with a newline and not hold {_END}"
        raise ValueError(message)
    return f"cat >{path} <<'{_END}'\n{text}{_END}\n"


def _option(name: str, value: str) -> str:
    """An assignment that bash reads."""
    if not _OPTION.fullmatch(name) or "\n" in value:
        message = f"{name}: an option has a name in capitals and a value of one line"
        raise ValueError(message)
    return f"{name}={shlex.quote(value)}"
