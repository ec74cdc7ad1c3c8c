"""Check that machines run in a region where the stack keeps its images.

Pulling an image of several gigabytes from another region delays each job, and the traffic is charged by the gigabyte.
Within a region, and from a multi-region on the same continent, it is free (Google Cloud, pricing page of Artifact
Registry, 2026). This is only a warning, because
another region may be intended, for example if no zone of this one offers the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Verdict, ok, warning

CHECK: Final = "image-region"


def check(stack: Stack) -> Iterator[Verdict]:
    """Compare the regions of machines on Google Cloud with those of the stack's repositories."""
    settings = stack.settings
    if settings.gcp is None or not settings.artifact_registry:
        return
    registries = {
        f"artifact-registry.{name}": repository.region or settings.gcp.region
        for name, repository in settings.artifact_registry.items()
    }
    kept = sorted(set(registries.values()))
    where = " and ".join(kept)
    for own in (offer.own for offer in stack.offers.values()):
        if own is None or own.cloud is not Cloud.GCP:
            continue
        regions = {placement.region for placement in own.placements}
        others = sorted(region for region in regions if not {region, region.partition("-")[0]} & set(kept))
        if others:
            yield warning(
                CHECK,
                own.places_key,
                f"machines in {' and '.join(others)} pull their images from {where}, which is slow and costs money",
                f"use zones of {where}, or keep a repository in {' and '.join(others)} as well",
                (f"{path} is in {region}" for path, region in sorted(registries.items())),
            )
        else:
            yield ok(CHECK, own.places_key, f"its machines run in {where}, where the stack keeps its images")
