"""Conditions of a build that are known before its first machine: the base image and the quota of GPUs.

Without them a build of half an hour fails at its end: a new project has no GPU in any region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ami.builder.gcloud import NotThere
from ami.builder.images import is_verified
from ami.builder.inputs import NotStarted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ami.builder.gcloud import Gcloud
    from ami.builder.inputs import Inputs

_API: Final = "https://www.googleapis.com/compute/v1"
_ALL_REGIONS: Final = "GPUS_ALL_REGIONS"
_WITHDRAWN: Final = ("OBSOLETE", "DELETED")
"""States of an image from which Google creates no disk."""


def refuse(gcloud: Gcloud, inputs: Inputs, found: Mapping[str, Any] | None) -> None:
    """Stop before a build that cannot succeed. `found` is the image, if it exists.

    Raises:
        NotStarted: the base image is withdrawn, or the project may not have the verifier's GPUs in any region.

    """
    faults: list[str] = []
    if found is None:
        faults += _withdrawn(gcloud, inputs)
    if found is None or not is_verified(found):
        faults += _too_small(gcloud, inputs)
    if faults:
        raise NotStarted("\n".join(faults))


def _withdrawn(gcloud: Gcloud, inputs: Inputs) -> Iterator[str]:
    project, name = inputs.base.split("/")
    try:
        image = gcloud.json("compute", "images", "describe", f"{_API}/projects/{project}/global/images/{name}")
    except NotThere:
        image = {"deprecated": {"state": "DELETED"}}
    if image.get("deprecated", {}).get("state") in _WITHDRAWN:
        family = name.rpartition("-")[0]
        yield (
            f"the base image {name} of {project} is withdrawn: state a newer one as host-image.source-image; "
            f"gcloud compute images list --project {project} --no-standard-images --filter 'name~^{family}' lists them"
        )


def _too_small(gcloud: Gcloud, inputs: Inputs) -> Iterator[str]:
    """Compare the verifier's GPUs with the quotas of each region and of all regions.

    Google counts a Spot machine against the preemptible quota, or without one against the common quota. A quota that is
    not in the answer, as that of H100, is not known.
    """
    wanted, metric = inputs.verify_gpus, inputs.verify_quota
    everywhere = _limits(gcloud.json("compute", "project-info", "describe")).get(_ALL_REGIONS, wanted)
    granted: list[str] = []
    for region in dict.fromkeys(zone.rpartition("-")[0] for zone in inputs.zones):
        limits = _limits(gcloud.json("compute", "regions", "describe", region))
        common, spot = limits.get(metric, wanted), limits.get(f"PREEMPTIBLE_{metric}", 0)
        if min(common, everywhere) >= wanted or ("SPOT" in inputs.provisioning and spot >= wanted):
            return
        granted.append(f"{region} has {metric} {common:g} and PREEMPTIBLE_{metric} {spot:g}")
    yield (
        f"the verifier needs {wanted} GPUs, but {_ALL_REGIONS} is {everywhere:g}, {', '.join(granted)}: request quota "
        "(IAM & Admin, Quotas & System Limits), and run the update again once it is granted"
    )


def _limits(described: Mapping[str, Any]) -> dict[str, float]:
    return {quota["metric"]: quota["limit"] for quota in described.get("quotas", ())}
