"""The versions of a stack at one commit: those of its resources, of its stack file and of the Python packages.

Versions of resources come from the inputs of the state or of the plan, so that a pin that the stack does not use is
not listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.drivers import Driver
from gpu_ci.knowledge.software.machine_images import driver_of


class Kind(StrEnum):
    """The kinds of versions, in the order in which an update applies them."""

    PACKAGE = "Python packages of the program"
    CONTROL_PLANE = "control plane"
    NODE_ADD_ON = "add-ons that nodes need"
    NODE = "node groups"
    ADD_ON = "add-ons that need nodes"
    CHART = "charts"
    CONTROLLER = "controller of ARC"
    SCALE_SET = "scale sets of ARC"
    MACHINE_IMAGE = "machine images and drivers"
    IMAGE = "container images and CUDA"
    RUNNER = "runners"


ORDER: Final = tuple(Kind)
CLUSTER_KINDS: Final = (Kind.CONTROL_PLANE, Kind.NODE_ADD_ON, Kind.NODE, Kind.ADD_ON)
"""The kinds that follow the Kubernetes version."""
ARC_KINDS: Final = (Kind.CONTROLLER, Kind.SCALE_SET)
BEFORE_NODES: Final = "node-add-ons-"
"""The beginning of the names of the add-ons that are created before the nodes."""
AUTOSCALER_IMAGE: Final = "autoscaler image"
DRIVER: Final = "driver of "
"""The beginning of the names of the drivers that node images bring."""
_CONTROLLER: Final = "gha-runner-scale-set-controller"
_SCALE_SET: Final = "gha-runner-scale-set"
_LOCKED: Final = re.compile(r"^(pulumi(?:-[\w-]+)?)==([^\s;\\]+)", re.MULTILINE)
_STATED: Final = (
    (re.compile(r"(eks-image\.version|(eks-image|ec2-image|host-image)\.(driver|source-image))"), Kind.MACHINE_IMAGE),
    (re.compile(r"runners\.[^.]+\.(vm|start-stop\.machine)\.(driver|image)"), Kind.MACHINE_IMAGE),
    (re.compile(r"runners\.[^.]+\.(cirun-aws\.image-parameter|cirun-gcp\.image-family)"), Kind.MACHINE_IMAGE),
    (re.compile(r"(host-image\.cuda|images\.[^.]+\.(cuda|tag|digest)|test-image\.(cuda-image|tag))"), Kind.IMAGE),
    (re.compile(r"runners\.[^.]+\.needs\.(cuda|torch|onnxruntime)"), Kind.IMAGE),
    (re.compile(r"images\.[^.]+\.runner|runners\.[^.]+\.(vm|start-stop\.machine)\.runner-version"), Kind.RUNNER),
)
"""The keys of the stack file that state a version."""
CUDA: Final = re.compile(r"(images\.[^.]+|runners\.[^.]+\.needs|host-image)\.cuda")
"""The keys that state a CUDA version."""


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """The place of one version."""

    kind: Kind
    name: str
    """The resource, the path in the stack file or the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One version that changes."""

    pin: Pin
    old: str
    new: str

    def __str__(self) -> str:
        """Return the name and both versions."""
        return f"{self.pin.name}: {self.old} -> {self.new}"

    def to_data(self) -> dict[str, str]:
        """Return the move as plain data."""
        return {"kind": self.pin.kind.name.lower(), "name": self.pin.name, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One resource of a state or of a plan."""

    type: str
    name: str
    inputs: Mapping[str, Any]


def moves(before: Mapping[Pin, str], after: Mapping[Pin, str]) -> tuple[Move, ...]:
    """Return the versions that differ, in the order of their kinds. What is new or removed does not move."""
    return tuple(
        Move(pin=pin, old=before[pin], new=after[pin])
        for pin in sorted(before.keys() & after.keys(), key=lambda one: (ORDER.index(one.kind), one.name))
        if before[pin] != after[pin]
    )


def of_resources(rows: Iterable[Row]) -> dict[Pin, str]:
    """Return the versions of resources."""
    return {pin: version for row in rows for pin, version in _of_resource(row) if version}


def _of_resource(row: Row) -> Iterator[tuple[Pin, str]]:
    inputs = row.inputs
    match row.type:
        case "aws:eks/cluster:Cluster":
            yield Pin(Kind.CONTROL_PLANE, row.name), _text(inputs, "version")
        case "aws:eks/addon:Addon":
            kind = Kind.NODE_ADD_ON if row.name.startswith(BEFORE_NODES) else Kind.ADD_ON
            yield Pin(kind, str(inputs.get("addonName", row.name))), _text(inputs, "addonVersion")
        case "aws:eks/nodeGroup:NodeGroup":
            release = _text(inputs, "releaseVersion")
            yield Pin(Kind.NODE, row.name), release
            if (driver := node_driver(_text(inputs, "amiType"), release)) is not None:
                yield Pin(Kind.NODE, f"{DRIVER}{row.name}"), driver.label
        case "aws:imagebuilder/imageRecipe:ImageRecipe":
            yield Pin(Kind.MACHINE_IMAGE, f"{row.name} parent"), _text(inputs, "parentImage").rpartition(":")[2]
        case "kubernetes:helm.sh/v3:Release":
            chart = _text(inputs, "chart").rstrip("/").rpartition("/")[2]
            kind = {_CONTROLLER: Kind.CONTROLLER, _SCALE_SET: Kind.SCALE_SET}.get(chart, Kind.CHART)
            yield Pin(kind, row.name if kind is Kind.SCALE_SET else chart), _text(inputs, "version")
            if chart == "cluster-autoscaler":
                yield Pin(Kind.CHART, AUTOSCALER_IMAGE), _text(inputs.get("values", {}).get("image", {}), "tag")
        case _:
            return


def node_driver(ami_type: str, release: str) -> Driver | None:
    """Return the driver that the images of an EKS release bring; None where it is not known."""
    try:
        return driver_of(f"{ami_type}:{release}")
    except UnknownName:
        return None


def of_stack_file(config: Mapping[str, str]) -> dict[Pin, str]:
    """Return the versions that a stack file states, by their path; also that of an existing cluster."""
    found: dict[Pin, str] = {}
    for path, value in leaves(config):
        for pattern, kind in _STATED:
            if pattern.fullmatch(path):
                found[Pin(kind, path)] = str(value)
    cluster = _section(config, "cluster")
    if isinstance(cluster.get("existing"), dict):
        found[Pin(Kind.CONTROL_PLANE, existing(config))] = str(cluster.get("version", ""))
    return found


def existing(config: Mapping[str, str]) -> str:
    """Return the name of the pin of an existing cluster, which another program upgrades; empty if there is none."""
    stated = _section(config, "cluster").get("existing")
    return f"existing cluster {stated.get('name', '')}" if isinstance(stated, dict) else ""


def leaves(config: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """Yield every text and number of a stack file with its path, without the name of the project."""
    for key, text in config.items():
        yield from _leaves(key.partition(":")[2], _decoded(text))


def of_locks(*locks: str) -> dict[Pin, str]:
    """Return the versions of the packages of Pulumi in lock files; the first file that has one counts."""
    found: dict[Pin, str] = {}
    for lock in locks:
        for name, version in _LOCKED.findall(lock):
            found.setdefault(Pin(Kind.PACKAGE, name), version)
    return found


def used_packages(pins: Mapping[Pin, str], rows: Iterable[Row]) -> dict[Pin, str]:
    """Return the packages that a stack uses: the SDK, the policy pack, and the providers of its resources."""
    types = {row.type.partition(":")[0] for row in rows} | {row.type.rpartition(":")[2] for row in rows}
    return {
        pin: version
        for pin, version in pins.items()
        if pin.name in {"pulumi", "pulumi-policy"} or pin.name.removeprefix("pulumi-") in types
    }


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}", item)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield path, value


def _section(config: Mapping[str, str], name: str) -> dict[str, Any]:
    value = _decoded(config.get(f"gpu-ci:{name}", "{}"))
    return value if isinstance(value, dict) else {}


def _decoded(text: str) -> object:
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _text(inputs: Any, key: str) -> str:
    """Return an input as text; empty where there is none."""
    value = inputs.get(key) if isinstance(inputs, dict) else None
    return str(value) if value is not None else ""
