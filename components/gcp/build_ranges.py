"""The address range of each region's builders. Pure.

The position in `REGIONS` determines the range of a region. Neither another region nor another order in the stack file
changes it, so a network in use keeps its addresses.
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
"""Google's list of regions (docs.cloud.google.com/compute/docs/regions-zones, November 2026).

Add a new region at the end: a position in this list is an address range.
"""


def range_of(region: str) -> str:
    """Return the range of the region's subnetwork. Few builders run at a time, so it is small.

    Raises:
        ValueError: the region is unknown.

    """
    return f"10.200.{REGIONS.index(region)}.0/28"
