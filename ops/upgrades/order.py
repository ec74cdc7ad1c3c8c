"""The updates that apply the moves of versions, and the stages of each, in order.

One update applies everything, except for steps that must be alone: each minor version of Kubernetes, a minor version of
the Actions Runner Controller, which needs two, and a major version of a Python package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gpu_ci.knowledge import pins as tables
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.knowledge.kubernetes.support import minor
from ops.upgrades.pins import ARC_KINDS, AUTOSCALER_IMAGE, CLUSTER_KINDS, DRIVER, ORDER, Kind, Move, Pin

EKS: Final = "docs/how-to/upgrade-eks.md"
ARC: Final = "docs/how-to/upgrade-arc.md"
JOBS: Final = "docs/how-to/change-a-running-stack.md"
_DEPRECATED: Final = (
    "Read the release notes of Kubernetes {}.",
    "Look for calls of removed interfaces: kubectl get --raw /metrics | grep apiserver_requested_deprecated_apis",
    "Change min and max of the groups in another update.",
    "Update a staging stack first, and run a job on every pool there.",
)
_DEFINITIONS: Final = tuple(
    f"{name}.actions.github.com"
    for name in ("autoscalingrunnersets", "autoscalinglisteners", "ephemeralrunnersets", "ephemeralrunners")
)
_EXPORT: Final = "Keep the state: pulumi stack export --file before.json. An older provider cannot read a newer state."


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The moves of one kind in an update."""

    kind: Kind
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One `pulumi up`."""

    title: str
    before: tuple[str, ...] = ()
    """What a person does first."""
    stages: tuple[Stage, ...]
    page: str = ""

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every move of the update, in order."""
        return tuple(move for stage in self.stages for move in stage.moves)

    def to_data(self) -> dict[str, Any]:
        """Return the update as plain data."""
        return {
            "title": self.title,
            "before": list(self.before),
            "stages": [
                {"kind": stage.kind.name.lower(), "moves": [move.to_data() for move in stage.moves]}
                for stage in self.stages
            ],
            "page": self.page,
        }


def pinned(pin: Pin, version: str) -> str | None:
    """Return the version of a pin that this checkout has for a minor version of Kubernetes; None if it has none."""
    by_kind: Mapping[Kind, Mapping[str, str]] = {
        Kind.NODE: tables.EKS_AMI_RELEASES,
        Kind.CHART: tables.CLUSTER_AUTOSCALER_IMAGES,
    }
    if pin.kind in (Kind.NODE_ADD_ON, Kind.ADD_ON):
        return next((one.versions.get(version) for one in ADD_ONS if one.name == pin.name), None)
    return by_kind.get(pin.kind, {}).get(version)


def updates(
    moves: Sequence[Move], lookup: Callable[[Pin, str], str | None] = pinned, *, outside: str = ""
) -> tuple[Update, ...]:
    """Return the updates that apply the moves, in order.

    Args:
        moves: the versions that change.
        lookup: returns the version of a pin for a minor version of Kubernetes.
        outside: the name of the pin of an existing cluster, which another program upgrades.

    """
    return tuple(_updates(moves, lookup, outside))


def _updates(moves: Sequence[Move], lookup: Callable[[Pin, str], str | None], outside: str) -> Iterator[Update]:
    packages = [move for move in moves if move.pin.kind is Kind.PACKAGE]
    arc = [move for move in moves if move.pin.kind in ARC_KINDS]
    rest = [move for move in moves if move.pin.kind not in (*ARC_KINDS, Kind.PACKAGE)]
    if not any(major(move) for move in packages):
        rest, packages = [*packages, *rest], []
    if not any(arc_minor(move) for move in arc):
        rest, arc = [*rest, *arc], []
    if packages:
        yield Update(
            title="the Python packages alone; the preview must show no other change",
            before=(_EXPORT,),
            stages=_stages(packages),
        )
    steps = _minors(rest)
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        old = steps[number - 1] if number else None
        yield _kubernetes(_part(rest, old, None if last else step, lookup), step, outside)
    if rest and not steps:
        page = JOBS if any(move.pin.kind is Kind.NODE for move in rest) else ""
        yield Update(title=_titled(rest), stages=_stages(rest), page=page)
    yield from _reinstallation(arc)


def _kubernetes(moves: Sequence[Move], version: str, outside: str) -> Update:
    before = tuple(line.format(version) for line in _DEPRECATED)
    if outside:
        before = (f"Upgrade the control plane of the {outside} first, with the program that manages it.", *before)
    return Update(title=f"Kubernetes {version}", before=before, stages=_stages(moves), page=EKS)


def _reinstallation(arc: Sequence[Move]) -> Iterator[Update]:
    """Yield the two updates of another minor version of ARC: it deletes scale sets of the old one."""
    if not arc:
        return
    old, new = arc[0].old, arc[0].new
    yield Update(
        title=f"remove ARC {old}",
        before=(
            "Wait until no job runs: kubectl --namespace arc-runners get ephemeralrunners",
            "Remove the runners with `arc` and gpu-ci:arc from the stack file, and run `pulumi up`.",
            f"Delete the definitions, which Helm never updates: kubectl delete crd {' '.join(_DEFINITIONS)}",
        ),
        stages=(),
        page=ARC,
    )
    yield Update(
        title=f"install ARC {new}",
        before=("Restore the sections, and change ARC_CHARTS.",),
        stages=_stages(arc),
        page=ARC,
    )


def major(move: Move) -> bool:
    """Return whether a package gets another major version."""
    return move.old.split(".")[0] != move.new.split(".")[0]


def arc_minor(move: Move) -> bool:
    """Return whether a chart of ARC gets another minor version."""
    return move.old.split(".")[:2] != move.new.split(".")[:2]


def kubernetes_moves(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return the moves of the version of control planes."""
    return tuple(move for move in moves if move.pin.kind is Kind.CONTROL_PLANE)


def _minors(moves: Sequence[Move]) -> list[str]:
    """Return the minor versions that the cluster passes through, oldest first; one if it goes backwards."""
    for move in kubernetes_moves(moves):
        (first, old), (last, new) = minor(move.old), minor(move.new)
        return [f"{first}.{number}" for number in range(old + 1, new)] + [move.new] if first == last else [move.new]
    return []


def _part(
    moves: Sequence[Move], old: str | None, new: str | None, lookup: Callable[[Pin, str], str | None]
) -> list[Move]:
    """Return the moves of one step from one minor version to the next; None is the first or the last version."""
    found: list[Move] = []
    for move in moves:
        if not _follows_kubernetes(move.pin):
            # The last step applies everything else.
            found += [move] if new is None else []
            continue
        before, after = _at(move, old, move.old, lookup), _at(move, new, move.new, lookup)
        if before != after:
            found.append(replace(move, old=before, new=after))
    return found


def _at(move: Move, version: str | None, given: str, lookup: Callable[[Pin, str], str | None]) -> str:
    if version is None:
        return given
    if move.pin.kind is Kind.CONTROL_PLANE:
        return version
    return lookup(move.pin, version) or f"a version for Kubernetes {version}, which has no pin"


def _follows_kubernetes(pin: Pin) -> bool:
    cluster = pin.kind in CLUSTER_KINDS and not pin.name.startswith(DRIVER)
    return cluster or pin.name == AUTOSCALER_IMAGE


def _stages(moves: Iterable[Move]) -> tuple[Stage, ...]:
    by_kind: dict[Kind, list[Move]] = {}
    for move in moves:
        by_kind.setdefault(move.pin.kind, []).append(move)
    return tuple(Stage(kind=kind, moves=tuple(by_kind[kind])) for kind in ORDER if kind in by_kind)


def _titled(moves: Sequence[Move]) -> str:
    """Return the kinds of the moves as a title."""
    return ", ".join(kind.value for kind in ORDER if kind in {move.pin.kind for move in moves})
