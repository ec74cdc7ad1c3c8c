"""The effect of each kind of version on nodes, runners and jobs, and what is known of single versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gpu_ci.knowledge.cost.prices_aws import AWS_ITEMS
from gpu_ci.knowledge.kubernetes.support import ENDS
from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.cuda import Support, support, toolkit
from gpu_ci.knowledge.software.drivers import Driver, branch, written
from gpu_ci.knowledge.software.runner_releases import LEAST, NEWEST
from gpu_ci.knowledge.software.versions import dotted, parse
from ops.upgrades.order import Stage, arc_minor
from ops.upgrades.pins import ARC_KINDS, CUDA, DRIVER, Kind, Move, leaves

EFFECTS: Final[Mapping[Kind, str]] = {
    Kind.PACKAGE: (
        "Run `make pulumi`: the CLI must have the version of the SDK. Resources and jobs continue; a provider updates"
        " the state when it updates a resource."
    ),
    Kind.CONTROL_PLANE: "EKS upgrades the control plane. Nodes and jobs continue.",
    Kind.NODE_ADD_ON: "Their pods restart on one node after another. Jobs continue.",
    Kind.NODE: (
        "EKS replaces every running node, and waits fifteen minutes for the jobs on a node. If one runs longer, the"
        " update fails with PodEvictionFailure and continues at the next `pulumi up`. A group of 0 nodes is updated at"
        " once."
    ),
    Kind.ADD_ON: "Their pods restart on the system nodes. Jobs continue.",
    Kind.CHART: (
        "Their pods restart. Jobs continue; no node starts while the autoscaler restarts, and no pod gets a GPU of a"
        " node while its device plugin restarts."
    ),
    Kind.CONTROLLER: "The controller restarts every listener. Jobs continue; queued jobs wait at GitHub.",
    Kind.SCALE_SET: "The listeners restart. Jobs continue; queued jobs wait at GitHub.",
    Kind.MACHINE_IMAGE: "Machines that start afterwards use the new image. Jobs on other machines continue.",
    Kind.IMAGE: "Pods and machines that start afterwards use the new versions. Running jobs continue.",
    Kind.RUNNER: f"GitHub registers {dotted(LEAST)} and later, and the newest known release is {NEWEST}.",
}
"""By kind, the effect of a stage on nodes, runners and jobs."""


def effect(stage: Stage) -> str:
    """Return the effect of a stage on nodes, runners and jobs."""
    if stage.kind in ARC_KINDS and any(arc_minor(move) for move in stage.moves):
        return "ARC is installed again. Queued jobs start afterwards."
    return EFFECTS[stage.kind]


def notes(stage: Stage, config: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is known of the versions of a stage: ends of support, and the CUDA versions that still work."""
    return tuple(dict.fromkeys(line for move in stage.moves for line in _notes(move, config)))


def _notes(move: Move, config: Mapping[str, str]) -> Iterator[str]:
    kind, name = move.pin.kind, move.pin.name
    if kind is Kind.CONTROL_PLANE and (ends := ENDS.get(move.new)) is not None:
        standard, extended = (AWS_ITEMS[f"eks-{one}"].usd for one in ("standard", "extended"))
        yield (
            f"Kubernetes {move.new} has standard support until {ends.standard}, for {standard} USD an hour. Then EKS"
            f" upgrades the cluster, or with `support: extended` keeps it until {ends.extended}, for {extended} USD."
        )
    if name.startswith(DRIVER) or name.endswith(".driver"):
        yield from _driver(move.new, config)
    if CUDA.fullmatch(name):
        yield from _cuda(move.new)


def _driver(label: str, config: Mapping[str, str]) -> Iterator[str]:
    """Yield the end of life of a driver, and its support for each CUDA version of the stack file."""
    try:
        parts = parse(label.removeprefix("R"))
        driver = Driver(name=label, branch=branch(parts[0]), version=parts if len(parts) > 1 else None)
    except (UnknownName, ValueError):
        return
    if driver.branch.ends is not None:
        ends = "ends on" if driver.branch.ends_exactly else "had ended by"
        yield f"The driver branch {driver.branch.label} {ends} {driver.branch.ends}."
    places: dict[str, list[str]] = {}
    for path, value in leaves(config):
        if CUDA.fullmatch(path):
            places.setdefault(str(value), []).append(path)
    for version, paths in sorted(places.items()):
        try:
            level = support(driver, toolkit(version))
        except UnknownName:
            continue
        yield f"CUDA {version} ({', '.join(paths)}) on {driver.label}: {_LEVELS[level]}."


_LEVELS: Final = {
    Support.FULL: "works",
    Support.MINOR_VERSION: "works by minor version compatibility, without compiling PTX",
    Support.NONE: "does not work",
}


def _cuda(version: str) -> Iterator[str]:
    try:
        wanted = toolkit(version)
    except UnknownName:
        return
    yield f"All of CUDA {version} needs the driver {written(wanted.driver)} or later."
