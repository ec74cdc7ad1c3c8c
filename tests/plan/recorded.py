"""A script that prints the digests of plans, and refuses connections, name lookups and child processes.

An audit hook observes these events in all modules.
"""

from __future__ import annotations

import hashlib
import sys

OUTSIDE = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system")


def _watch(event: str, _arguments: object) -> None:
    if event in OUTSIDE:
        message = f"the plan reaches outside: {event}"
        raise PermissionError(message)


def main(names: list[str]) -> None:
    """Record each named stack file; or, with `--outside`, a program that opens a connection."""
    sys.addaudithook(_watch)
    from ops.cli.options import ROOT  # noqa: PLC0415  # imported after the hook is set
    from ops.cli.terminal import encoded  # noqa: PLC0415
    from ops.plan.recorder import record  # noqa: PLC0415
    from ops.plan.stack_file import read  # noqa: PLC0415

    if names[0] == "--outside":
        record(read(ROOT / names[1]), program=_outside)
    for name in names:
        sys.stdout.write(f"{hashlib.sha256(encoded(record(read(ROOT / name)).to_data())).hexdigest()} {name}\n")


def _outside() -> None:
    import socket  # noqa: PLC0415

    socket.create_connection(("192.0.2.1", 9), timeout=0.01)


if __name__ == "__main__":
    main(sys.argv[1:])
