"""Whether machines stand in the region in which their images are kept.

An image of some gigabytes that is pulled across regions makes each job wait, and its traffic is paid for by the
gigabyte; within a region it is free (Google Cloud, Artifact Registry's pricing page, 2026). Machines elsewhere may be
meant, where the GPU is to be had nowhere else; so this only warns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHECK = "image-region"


def image_region(zones_path: str, zones: Sequence[str], registries: Mapping[str, str]) -> list[Verdict]:
    """Judge the zones of one runner against the regions of the registries, each by its path in the stack file."""
    kept = sorted(set(registries.values()))
    if not kept:
        return []
    where = " and ".join(kept)
    away = sorted({region for zone in zones if (region := zone.rpartition("-")[0]) not in kept})
    if not away:
        reason = f"its machines stand in {where}, where images are kept"
        return [Verdict(check=CHECK, level=Level.OK, subject=zones_path, reason=reason)]
    others = " and ".join(away)
    return [
        Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=zones_path,
            reason=f"machines in {others} pull their images from {where}: slowly, and paid for by the gigabyte",
            fix=f"name zones of {where}, or keep a repository in {others} as well",
            chain=tuple(f"{path} is in {region}" for path, region in sorted(registries.items())),
        )
    ]
