"""Rules about versions: the same tree always creates the same machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.inputs import Inputs, leaves, part

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHARTS: Final = (
    "kubernetes:helm.sh/v2:Chart",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:helm.sh/v3:Chart",
)
_EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_MOVING: Final = ("dev", "edge", "latest", "main", "master", "nightly", "stable")
"""Tags that are moved to each new image."""
_LATEST: Final = re.compile(r"[\w.\-/:]+:latest(@.*)?")
_MOVED: Final = re.compile(rf".+:({'|'.join(_MOVING)})")
_CONTAINERS: Final = re.compile(r"(^|\.)(\w*[cC]ontainers)\.")
_IMAGE_KEYS: Final = frozenset({"image", "baseImage", "imageUri"})
_TAG_KEYS: Final = frozenset({"tag", "imageTag", "image_tag"})
_REFERENCE: Final = re.compile(r".+(:[^/:]+|@sha256:[0-9a-f]{64})")


def charts_are_pinned(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Every chart has an exact version."""
    if type_ not in _CHARTS:
        return
    version = part(inputs, "version")
    if not isinstance(version, str):
        yield "version is not set, so every run installs the newest; pin it"
    elif not _EXACT.fullmatch(version):
        yield f"version {version} is a range; pin one version"
    for place in (part(inputs, "chart"), part(inputs, "repositoryOpts", "repo")):
        if str(place).startswith("http://"):
            yield f"{place} is not encrypted, so anyone on the way can change the chart; use https"


def nothing_is_latest(_type: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No image and no launch template refers to the newest version."""
    for path, value in leaves(inputs):
        key = path.rpartition(".")[2]
        if not isinstance(value, str):
            continue
        moves = (key in _TAG_KEYS and value in _MOVING) or (key in _IMAGE_KEYS and _MOVED.fullmatch(value))
        if moves or _LATEST.fullmatch(value):
            yield f"{path} is {value}; name a version or a digest"
        elif value.startswith("resolve:ssm:") and value.endswith("latest/image_id"):
            yield f"{path} is {value}, which changes between runs; name the image"
        elif value in {"$Latest", "$Default"}:
            yield f"{path} is {value}, which changes between runs; name the version"
        elif key == "image" and _CONTAINERS.search(path) and not _REFERENCE.fullmatch(value):
            yield f"{path} is {value}, which means latest; name a version or a digest"
