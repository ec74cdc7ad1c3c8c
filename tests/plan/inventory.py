"""An inventory of a plan: values that matter and resources that must be absent, written by hand.

Values that an inventory does not mention may change freely. Its form:

    resources:
      aws:eks/nodeGroup:NodeGroup pool-t4-spot: {capacityType: SPOT, scalingConfig: {minSize: 0}}
    counts: {aws:ec2/natGateway:NatGateway: 1}
    absent: [aws:iam/accessKey:AccessKey, aws:ec2/instance:Instance bastion]
    outputs: {runs_on: {gpu-t4: "runs-on: gpu-t4"}}

An inventory may mention a part of a list: the list must contain each mentioned item, at any position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ops.plan.model import Plan

PARTS: Final = ("resources", "counts", "absent", "outputs")


def mismatches(inventory: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    """Yield each difference between the plan and the inventory."""
    for part in inventory:
        if part not in PARTS:
            yield f"{part}: unknown part of an inventory; the parts are {', '.join(PARTS)}"
    there = _by_key(plan)
    for key, wanted in _map(inventory.get("resources")).items():
        if key not in there:
            yield f"{key}: not in the plan"
        else:
            yield from _differences(wanted, there[key], key)
    for type_, wanted in _map(inventory.get("counts")).items():
        count = len(plan.of(type_))
        if count != wanted:
            yield f"{type_}: {count} in the plan, not {wanted}"
    for key in inventory.get("absent") or ():
        if key in there or plan.of(key):
            yield f"{key}: in the plan, but listed as absent"
    yield from _differences(_map(inventory.get("outputs")), plan.outputs, "outputs")


def _by_key(plan: Plan) -> dict[str, Mapping[str, Any]]:
    """Return the resources by type and name, with the values that an inventory may mention."""
    options = {
        resource.urn: {
            "protect": resource.protect,
            "retainOnDelete": resource.retain_on_delete,
            "ignoreChanges": list(resource.ignore_changes),
            "deleteBeforeReplace": resource.delete_before_replace,
        }
        for resource in plan
    }
    return {
        f"{resource.type} {resource.name}": {**resource.shown, "options": options[resource.urn]} for resource in plan
    }


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _differences(wanted: Any, there: Any, path: str) -> Iterator[str]:
    """Yield each part of `wanted` that `there` does not contain."""
    if isinstance(wanted, Mapping) and isinstance(there, Mapping):
        for key, value in wanted.items():
            if key in there:
                yield from _differences(value, there[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: missing"
    elif _is_list(wanted) and _is_list(there):
        for index, value in enumerate(wanted):
            if all(list(_differences(value, item, "")) for item in there):
                yield f"{path}.{index}: {value!r} is not among {list(there)!r}"
    elif wanted != there:
        yield f"{path}: {there!r}, not {wanted!r}"
