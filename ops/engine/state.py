"""Two files of the engine in the shape of a recorded plan, for comparison.

These are the plan that a preview saves (`pulumi preview --save-plan`) and the deployment that an update leaves (Pulumi
3.258: `sdk/go/common/apitype/plan.go`, `core.go`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ops.fakes.cloud.paths import UNKNOWN
from ops.fakes.protocol.wire import SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from ops.plan.model import SECRET, STACK_TYPE, Planned

_OF_THE_ENGINE: Final = ("__internal", "version", "pluginDownloadURL")
"""Provider inputs that the engine adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of a stack."""

    resources: Mapping[str, Planned]
    """The resources by URN, as they were registered."""
    ids: Mapping[str, str]
    """The ids by URN; empty for a component."""
    outputs: Mapping[str, Any]
    """The stack's outputs, secrets masked."""


class _Reader:
    """A reader of one property bag."""

    def __init__(self) -> None:
        self.secret_paths: set[str] = set()
        self.unknown_paths: set[str] = set()

    def plain(self, value: Any, path: str) -> Any:
        if value == UNKNOWN_MARK:
            self.unknown_paths.add(path)
            return UNKNOWN
        if isinstance(value, dict):
            if value.get(SIGNATURE) == SECRET_SIGNATURE:
                self.secret_paths.add(path)
                # An encrypted secret cannot be read.
                return self.plain(json.loads(value["plaintext"]), path) if "plaintext" in value else SECRET
            return {key: self.plain(item, f"{path}.{key}") for key, item in sorted(value.items())}
        if isinstance(value, list):
            return [self.plain(item, f"{path}.{index}") for index, item in enumerate(value)]
        return value


def goals(saved: str) -> dict[str, Planned]:
    """Return the registrations of a first preview by URN, from its saved plan."""
    plans: Mapping[str, Any] = json.loads(saved)["resourcePlans"]
    return {urn: _goal(urn, plan["goal"]) for urn, plan in plans.items() if "goal" in plan}


def state(deployment: Mapping[str, Any]) -> State:
    """Return the state that an update left."""
    rows = [row for row in deployment.get("resources") or () if not row.get("delete")]
    root: Mapping[str, Any] = next((row for row in rows if row["type"] == STACK_TYPE), {})
    reader = _Reader()
    outputs = {key: reader.plain(value, key) for key, value in (root.get("outputs") or {}).items()}
    whole = {path.split(".", 1)[0] for path in reader.secret_paths}
    return State(
        resources={row["urn"]: _resource(row) for row in rows},
        ids={row["urn"]: row.get("id", "") for row in rows},
        outputs={key: SECRET if key in whole else value for key, value in outputs.items()},
    )


def plain(bag: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property bag of a state without its marks; an encrypted secret is masked."""
    reader = _Reader()
    return {key: reader.plain(value, key) for key, value in bag.items()}


def _goal(urn: str, goal: Mapping[str, Any]) -> Planned:
    return _planned(urn, goal, goal.get("inputDiff", {}).get("adds") or {})


def _resource(row: Mapping[str, Any]) -> Planned:
    return _planned(row["urn"], row, row.get("inputs") or {})


def _planned(urn: str, row: Mapping[str, Any], inputs: Mapping[str, Any]) -> Planned:
    reader = _Reader()
    provider = row["type"].startswith("pulumi:providers:")
    values = {
        key: reader.plain(value, key)
        for key, value in sorted(inputs.items())
        if not (provider and key in _OF_THE_ENGINE)
    }
    return Planned(
        urn=urn,
        type=row["type"],
        name=urn.rpartition("::")[2],
        inputs=values,
        custom=row["custom"],
        parent=row.get("parent", ""),
        provider=row.get("provider", "").rpartition("::")[0],
        dependencies=tuple(sorted(row.get("dependencies") or ())),
        property_dependencies={
            key: tuple(sorted(urns or ())) for key, urns in sorted((row.get("propertyDependencies") or {}).items())
        },
        protect=bool(row.get("protect")),
        retain_on_delete=bool(row.get("retainOnDelete")),
        deleted_with=row.get("deletedWith", ""),
        ignore_changes=tuple(row.get("ignoreChanges") or ()),
        delete_before_replace=bool(row.get("deleteBeforeReplace")),
        aliases=tuple(row.get("aliases") or ()),
        secret_paths=frozenset(reader.secret_paths),
        unknown_paths=frozenset(reader.unknown_paths),
    )
