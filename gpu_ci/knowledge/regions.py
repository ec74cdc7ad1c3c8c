"""The clouds, and how the zones of AWS and Google Cloud are named after regions."""

from __future__ import annotations

from enum import StrEnum


class Cloud(StrEnum):
    """A cloud provider, as the whole project spells it."""

    AWS = "aws"
    GCP = "gcp"
    JARVIS = "jarvis"
    """Jarvis Labs, which rents GPU instances that are paused between jobs. It has no zones."""


def region_of(zone: str) -> str:
    """Return the region of a zone: `us-west-2` of `us-west-2a`, `us-central1` of `us-central1-b`."""
    head, separator, letter = zone.rpartition("-")
    # A zone of AWS ends in a digit and a letter; Google puts a hyphen before the letter.
    return zone[:-1] if separator and letter[:1].isdigit() else head
