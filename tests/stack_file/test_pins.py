"""Pins are exact, agree with each other, and each Kubernetes version has all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import pytest

from gpu_ci.knowledge import pins
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS, AddOn
from ops.cli.options import ROOT
from tests.sources import python_files

pytestmark = pytest.mark.pure

EXACT = re.compile(r"v?\d+\.\d+\.\d+([-+.][0-9A-Za-z.-]+)?")
PINS = {name: value for name, value in vars(pins).items() if name.isupper()}


def texts(value: object) -> Iterator[str]:
    """Every version among pins."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)


def minor(version: str) -> str:
    """The Kubernetes minor version of a version that follows it."""
    return ".".join(version.removeprefix("v").split(".")[:2])


@pytest.mark.parametrize("name", PINS)
def test_a_pin_is_an_exact_version(name: str) -> None:
    """Nothing follows a moving target: no range, no `latest`, no bare minor version."""
    assert [text for text in texts(PINS[name]) if not EXACT.fullmatch(text)] == []


def test_every_kubernetes_version_has_every_pin() -> None:
    by_version: tuple[Mapping[str, object], ...] = (
        pins.EKS_AMI_RELEASES,
        pins.CLUSTER_AUTOSCALER_IMAGES,
        *(add_on.versions for add_on in ADD_ONS),
    )

    assert len({frozenset(table) for table in by_version}) == 1


@pytest.mark.parametrize("add_on", ADD_ONS, ids=lambda add_on: add_on.name)
def test_an_add_on_has_exact_versions(add_on: AddOn) -> None:
    assert [version for version in add_on.versions.values() if not EXACT.fullmatch(version)] == []


@pytest.mark.parametrize("version", pins.EKS_AMI_RELEASES)
def test_images_and_add_ons_have_the_minor_version_of_kubernetes(version: str) -> None:
    """An autoscaler, a proxy or a node image of another version may not understand the cluster."""
    following = {
        "image": pins.EKS_AMI_RELEASES[version],
        "autoscaler": pins.CLUSTER_AUTOSCALER_IMAGES[version],
        "kube-proxy": next(add_on.versions[version] for add_on in ADD_ONS if add_on.name == "kube-proxy"),
    }

    assert {name: minor(text) for name, text in following.items()} == dict.fromkeys(following, version)


def test_no_version_is_outside_the_pins() -> None:
    """In the code that declares the system; figures of facts, in `gpu_ci/knowledge/`, are no pins."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for folder in ("components", "gpu_ci/derived")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and EXACT.fullmatch(node.value)
    ]

    assert found == []


@pytest.mark.parametrize("name", PINS)
def test_a_pin_is_used(name: str) -> None:
    users = [
        path
        for path in python_files()
        if path.parts[len(ROOT.parts)] in {"components", "gpu_ci", "ops"}
        and path.name != "pins.py"
        and re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))
    ]

    assert users
