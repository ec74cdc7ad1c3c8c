"""The startup script of a machine: the files of `ami/gce-gpu-host` with their options in one script. Pure."""

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
"""The files that are part of the image. A changed byte changes the name of the image."""
VERIFY_FILES: Final = ("lib.sh", "options.sh", "verify.sh")
"""The files of the verifier. They are not part of the image."""
HASH_OPTION: Final = "GPU_HOST_HASH"
"""The option whose value ends a successful report."""
INSTALL_HOME: Final = "/opt/gpu-host"
VERIFY_HOME: Final = "/run/gpu-host-verify"
LIMIT: Final = 256 * 1024
"""The largest metadata value that Google accepts, in bytes."""

_END: Final = "END_OF_GPU_HOST_FILE"
_OPTION = re.compile(r"[A-Z][A-Z0-9_]*")


def startup_script(files: Mapping[str, str], options: Mapping[str, str], *, home: str, run: str) -> str:
    """Return a script that writes `files` and `options.env` to `home` and then runs the file `run`.

    Raises:
        ValueError: a file or an option is not supported, or the script is too large.

    """
    parts = [f"#!/bin/bash\nset -eu\ninstall -d {home}\n"]
    parts += [_here(f"{home}/{name}", text) for name, text in sorted(files.items())]
    parts.append(_here(f"{home}/options.env", "".join(f"{_option(*each)}\n" for each in sorted(options.items()))))
    parts.append(f"exec /bin/bash {home}/{run}\n")
    script = "".join(parts)
    if len(script.encode()) > LIMIT:
        message = f"the start script has {len(script.encode())} bytes; Google takes {LIMIT}"
        raise ValueError(message)
    return script


def _here(path: str, text: str) -> str:
    if _END in text or (text and not text.endswith("\n")):
        message = f"{path}: it must end with a newline and must not contain {_END}"
        raise ValueError(message)
    return f"cat >{path} <<'{_END}'\n{text}{_END}\n"


def _option(name: str, value: str) -> str:
    """Return an assignment for bash."""
    if not _OPTION.fullmatch(name) or "\n" in value:
        message = f"{name}: the name of an option is in capitals, and its value is one line"
        raise ValueError(message)
    return f"{name}={shlex.quote(value)}"
