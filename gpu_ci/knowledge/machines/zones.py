"""The regions of AWS and Google Cloud, and the zones of each.

AWS: the regions of pulumi-aws 7.51 without those for classified work, and their availability zones from public lists
(read in November 2026). The letters of zones differ between accounts, so that every letter is listed that any account
has. Local and wavelength zones are not listed. Google Cloud: "Available regions and zones" of Compute Engine, from
public lists (read in November 2026), without us-central2, which only has TPUs. A new region needs a row here. The GPUs
that zones offer are in `gpu_ci.checks.capacity.gpu_zones`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_AWS: Final = {
    "abc": "af-south-1 ap-east-1 ap-east-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2"
    " ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-west-1 cn-northwest-1 eu-central-1"
    " eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1"
    " mx-central-1 sa-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-west-1",
    "abcd": "ap-northeast-1 ap-northeast-2 ca-central-1 cn-north-1 us-west-2",
    "abcdef": "us-east-1",
}
_GCP: Final = {
    "abc": "africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2"
    " asia-southeast1 asia-southeast2 asia-southeast3 australia-southeast1 australia-southeast2 europe-central2"
    " europe-north1 europe-north2 europe-southwest1 europe-west2 europe-west3 europe-west4 europe-west6 europe-west8"
    " europe-west9 europe-west10 europe-west12 me-central1 me-central2 me-west1 northamerica-northeast1"
    " northamerica-northeast2 northamerica-south1 southamerica-east1 southamerica-west1 us-east4 us-east5 us-south1"
    " us-west1 us-west2 us-west3 us-west4",
    "abcf": "us-central1",
    "bcd": "europe-west1",
    "abcd": "us-east1",
}


def _zones(letters: Mapping[str, str], between: str) -> MappingProxyType[str, tuple[str, ...]]:
    return MappingProxyType(
        {
            region: tuple(f"{region}{between}{letter}" for letter in zones)
            for zones, regions in letters.items()
            for region in regions.split()
        }
    )


AWS_ZONES = _zones(_AWS, "")
"""AWS region to its zones."""
GCP_ZONES = _zones(_GCP, "-")
"""Google Cloud region to its zones."""
