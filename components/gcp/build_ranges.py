"""Which addresses a region's builders have. Pure.

Each region has a place of its own in `REGIONS`, and by it a range: neither another region beside it nor another order
in the stack file can move it, and with it a network that is in use.
"""

from __future__ import annotations

from typing import Final

REGIONS: Final = (
    "us-central1",
    "us-east1",
    "us-east4",
    "us-east5",
    "us-south1",
    "us-west1",
    "us-west2",
    "us-west3",
    "us-west4",
    "northamerica-northeast1",
    "northamerica-northeast2",
    "northamerica-south1",
    "southamerica-east1",
    "southamerica-west1",
    "europe-central2",
    "europe-north1",
    "europe-north2",
    "europe-southwest1",
    "europe-west1",
    "europe-west2",
    "europe-west3",
    "europe-west4",
    "europe-west6",
    "europe-west8",
    "europe-west9",
    "europe-west10",
    "europe-west12",
    "asia-east1",
    "asia-east2",
    "asia-northeast1",
    "asia-northeast2",
    "asia-northeast3",
    "asia-south1",
    "asia-south2",
    "asia-southeast1",
    "asia-southeast2",
    "australia-southeast1",
    "australia-southeast2",
    "me-central1",
    "me-central2",
    "me-west1",
    "africa-south1",
    "asia-southeast3",
)
"""Google's list of regions (docs.cloud.google.com/compute/docs/regions-zones, November 2026). A new one comes last: a
place in this list is an address range, and is never given to another region."""


def range_of(region: str) -> str:
    """The range of the region's subnetwork; a builder needs an address, and seldom two at a time.

    Raises:
        ValueError: no such region is known.

    """
    return f"10.200.{REGIONS.index(region)}.0/28"
