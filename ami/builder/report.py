"""The report of a machine, and the end of its serial port output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ami.builder.gcloud import CallFailed, NotThere

if TYPE_CHECKING:
    from ami.builder.gcloud import Gcloud

_REPORT = re.compile(r"gpu-host-report: (.+)")
_SERIAL_LINES: Final = 60


def reported(gcloud: Gcloud, name: str, zone: str) -> str:
    """Return the last report: from the guest attribute, or from the serial port if guest attributes are forbidden."""
    place = (name, "--zone", zone)
    query = "--query-path=gpu-host/status"
    try:
        found = gcloud.json("compute", "instances", "get-guest-attributes", *place, query) or ()
    except NotThere:
        return ""  # There is no report yet.
    except CallFailed:
        lines = _REPORT.findall(gcloud.run("compute", "instances", "get-serial-port-output", *place))
        return lines[-1].strip() if lines else ""
    return "".join(str(each["value"]) for each in found if each["key"] == "status").strip()


def last_words(gcloud: Gcloud, name: str, zone: str) -> str:
    """Return the end of the serial port output, which is readable only while the machine runs."""
    try:
        text = gcloud.run("compute", "instances", "get-serial-port-output", name, "--zone", zone)
    except CallFailed as error:
        return f"the serial port cannot be read: {error.text}"
    return "\n".join(text.splitlines()[-_SERIAL_LINES:])
