"""The daily deletion of old images by the lifecycle policies of Image Builder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ops.fakes.aws.image_builder import EC2_TAG, IMAGE, LIFECYCLE
from ops.fakes.cloud.objects import Objects
from ops.fakes.cloud.paths import value_at, values_at


def run_lifecycle(cloud: Objects, *, launched_days: Mapping[str, int] | None = None) -> list[str]:
    """Apply every lifecycle policy, as Image Builder does each day; return the AMIs that are deleted.

    Args:
        cloud: the cloud.
        launched_days: AMI to the days since a machine was started from it; none was started from the others.

    """
    deleted: list[str] = []
    for policy in cloud.of(LIFECYCLE):
        wanted = (policy.inputs.get("resourceSelection") or {}).get("tagMap") or {}
        images = [one for one in cloud.of(IMAGE) if wanted.items() <= (one.inputs.get("tags") or {}).items()]
        for detail in policy.inputs["policyDetails"]:
            rules = value_at("exclusionRules.amis", detail) or {}
            # The newest images come last: objects are in the order of their creation.
            for image in images[: -int(detail["filter"]["value"])]:
                amis = [ami for _, ami in values_at("outputResources.*.amis.*.image", image.outputs)]
                if not any(_is_excluded(cloud, ami, rules, launched_days or {}) for ami in amis):
                    deleted += amis
                    cloud.delete(IMAGE, image.id)
    return deleted


def _is_excluded(cloud: Objects, ami: str, rules: Mapping[str, Any], launched_days: Mapping[str, int]) -> bool:
    tags = {one.inputs["key"]: one.inputs["value"] for one in cloud.of(EC2_TAG) if one.inputs["resourceId"] == ami}
    limit = value_at("lastLaunched.value", rules)
    recent = limit is not None and ami in launched_days and launched_days[ami] <= int(limit)
    return recent or any(tags.get(key) == value for key, value in (rules.get("tagMap") or {}).items())
