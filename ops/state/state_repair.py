"""Decide the interrupted creations of an exported state: each resource exists in the cloud, or it does not.

`pulumi refresh --import-pending-creates` is not used: with a state in a bucket or a file, version 3.258 drops the
operation without importing the resource, which is then lost in the cloud.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from ops.outcome import Exit, Stop

CREATING: Final = "creating"


def repaired(document: Mapping[str, Any], exists: Mapping[str, str], absent: AbstractSet[str]) -> dict[str, Any]:
    """Return the state with a decision for every interrupted creation.

    Args:
        document: the exported state.
        exists: URNs to the IDs of resources that exist. They become resources of the state; a refresh reads them.
        absent: URNs of resources that do not exist.

    Raises:
        Stop: a URN is not that of an interrupted creation, or one has no decision.

    """
    after = copy.deepcopy(dict(document))
    deployment: dict[str, Any] = after["deployment"]
    operations: list[dict[str, Any]] = deployment.get("pending_operations") or []
    creating = {_urn(one): one["resource"] for one in operations if one.get("type") == CREATING}
    _refuse(sorted((exists.keys() | absent) - creating.keys()), "is not the URN of an interrupted creation")
    _refuse(sorted(exists.keys() & absent), "is stated with --exists and with --absent")
    _refuse(sorted(creating.keys() - exists.keys() - absent), "needs --exists 'URN=ID' or --absent 'URN'")
    deployment["pending_operations"] = [one for one in operations if one.get("type") != CREATING]
    for urn, id_ in exists.items():
        deployment["resources"] = _with(deployment.get("resources") or [], {**creating[urn], "id": id_})
    return after


def _with(rows: Sequence[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    """Add a resource; the one that it replaces is deleted by the next update, as the engine itself does."""
    old = next((row for row in rows if row["urn"] == new["urn"] and not row.get("delete")), None)
    if old is None:
        return [*rows, new]
    kept = [new if row is old else row for row in rows]
    # An old resource that waits for its replacement is already deleted in the cloud.
    return kept if old.get("pendingReplacement") else [*kept, {**old, "delete": True}]


def _urn(operation: Mapping[str, Any]) -> str:
    return str((operation.get("resource") or {}).get("urn", ""))


def _refuse(urns: Sequence[str], problem: str) -> None:
    if urns:
        raise Stop(Exit.WRONG, "\n".join(f"{urn} {problem}" for urn in urns))
