"""What a machine says of itself: its report, and its last words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ami.builder.gcloud import CallFailed, NotThere

if TYPE_CHECKING:
    from ami.builder.gcloud import Gcloud

_REPORT = re.compile(r"gpu-host-report: (.+)")
_SERIAL_LINES: Final = 60


def reported(gcloud: Gcloud, name: str, zone: str) -> str:
    """The last report: from the guest attribute, and from the serial port where an organisation forbids those."""
    place = (name, "--zone", zone)
    query = "--query-path=gpu-host/status"
    try:
        found = gcloud.json("compute", "instances", "get-guest-attributes", *place, query) or ()
    except NotThere:
        return ""  # Nothing is written yet.
    except CallFailed:
        lines = _REPORT.findall(gcloud.run("compute", "instances", "get-serial-port-output", *place))
        return lines[-1].strip() if lines else ""
    return "".join(str(each["value"]) for each in found if each["key"] == "status").strip()


def last_words(gcloud: Gcloud, name: str, zone: str) -> str:
    """The end of what it wrote on the serial port, which can be read only while it runs."""
    try:
        text = gcloud.run("compute", "instances", "get-serial-port-output", name, "--zone", zone)
    except CallFailed as error:
        return f"the serial port cannot be read: {error.text}"
    return "\n".join(text.splitlines()[-_SERIAL_LINES:])
