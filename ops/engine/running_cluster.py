"""The replacement of a cluster that runs, which the engine cannot finish and which is therefore refused.

The engine creates another provider for the new cluster and closes the old one, and then cannot delete the objects in
the old cluster ("the client connection is closing", pulumi/pulumi#14650). It tries the same at every repetition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ops.engine.events import Step
from ops.engine.property_path import value_at
from ops.fakes.protocol.wire import UNKNOWN_MARK

CLUSTER: Final = "aws:eks/cluster:Cluster"
PROVIDER: Final = "pulumi:providers:kubernetes"
VPC: Final = "aws:ec2/vpc:Vpc"
_NETWORK: Final = (VPC, "aws:ec2/subnet:Subnet")
_INSIDE: Final = "kubernetes:"
"""The beginning of the types whose objects are in the cluster."""
_SUBNETS: Final = "vpcConfig.subnetIds"
_PARTS: Final = frozenset({"create-replacement", "delete-replaced"})
"""The engine reports a replacement with these steps, and with one of its own."""
_LATER: Final = "(known after the update)"
WAY: Final = (
    "Restore the old value, so that this stack does not change.",
    (
        "Create a second stack file with the new value, runners under other names and, if it creates a network, a free"
        " range in network.cidr. Run `pulumi up`, `make smoke` and `make doctor` for the new stack."
    ),
    "Change `runs-on` in the workflows to the new runners.",
    "When no job runs in the old stack any more, run `pulumi destroy` there.",
)
"""The way that replaces a cluster without an interruption."""
SHORTER: Final = "If no job runs and a downtime is acceptable: `pulumi destroy` with the old value, then `pulumi up`."
PAGE: Final = "docs/runbook.md#an-update-replaces-the-cluster-and-fails-with-the-client-connection-is-closing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """One property that forces the replacement."""

    resource: str
    """The type and the name of the resource."""
    path: str
    old: str
    new: str

    def __str__(self) -> str:
        """Return the property with its values."""
        return f"{self.resource}: {self.path}: {self.old} -> {self.new}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused replacement of a running cluster."""

    reason: str
    forces: tuple[Force, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The reason, the properties that force the replacement, and the way that works, as lines."""
        return (
            f"{self.reason}.",
            *(f"Forced by {force}" for force in self.forces),
            *(f"{number}. {line}" for number, line in enumerate(WAY, 1)),
            SHORTER,
            f"See {PAGE}",
        )

    def to_data(self) -> dict[str, Any]:
        """Return the refusal as plain data."""
        return {
            "reason": self.reason,
            "forces": [
                {"resource": one.resource, "path": one.path, "old": one.old, "new": one.new} for one in self.forces
            ],
            "way": [*WAY, SHORTER],
            "page": PAGE,
        }


def refusal(steps: Iterable[Step]) -> Refusal | None:
    """Return the refusal of a preview that replaces a running cluster, or the network that it is in; otherwise None.

    A cluster runs if it is in the state and objects in it are. A cluster without them can be replaced.
    """
    known = [step for step in steps if step.op not in {"create", *_PARTS}]
    replaced = [step for step in known if step.op == "replace"]
    inside = len({step.urn for step in known if step.type.startswith(_INSIDE)})
    objects = (
        "while 1 object of the stack is in it" if inside == 1 else f"while {inside} objects of the stack are in it"
    )
    clusters = [step for step in replaced if step.type == CLUSTER]
    moved = [step for step in known if step.type == CLUSTER and any(path.startswith(_SUBNETS) for path in step.changed)]
    networks = [step for step in replaced if step.type in _NETWORK]
    connections = [step for step in replaced if step.type == PROVIDER]
    if clusters and inside:
        return _refusal(f"the cluster cannot be replaced {objects}", clusters)
    if moved and networks:
        vpcs = [step for step in networks if step.type == VPC]
        reason = "the network of a cluster cannot be replaced: EKS refuses to move a control plane"
        return _refusal(reason, vpcs or networks)
    if connections and inside:
        return _refusal(f"the cluster cannot be exchanged for another {objects}", connections)
    return None


def _refusal(reason: str, steps: Iterable[Step]) -> Refusal:
    """Return a refusal with the properties of the steps that force the replacement; values not known yet follow."""
    forces = [
        Force(
            resource=f"{step.type.rpartition(':')[2]} {step.name}",
            path=path,
            old=_text(value_at(path, step.old, marks=[UNKNOWN_MARK])),
            new=_text(value_at(path, step.new, marks=[UNKNOWN_MARK])),
        )
        for step in steps
        for path, kind in sorted(step.changed.items())
        if kind.endswith("-replace")
    ]
    stated = [one for one in forces if one.new != _LATER]
    return Refusal(reason=reason, forces=tuple(stated or forces))


def _text(value: object) -> str:
    if value is None:
        return "(none)"
    return _LATER if value == UNKNOWN_MARK else str(value)
