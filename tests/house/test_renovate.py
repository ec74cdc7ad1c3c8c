"""Tests of the Renovate configuration: it finds every pin below a marker and reads it correctly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sources import python_files

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
PINS = (ROOT / "gpu_ci" / "knowledge" / "pins.py").read_text()
FILES = [name for path in python_files() if not (name := path.relative_to(ROOT).as_posix()).startswith("tests/")]
MARKED = sorted(name for name in FILES if "# renovate: " in (ROOT / name).read_text())


def settings() -> dict[str, Any]:
    """Parse `.github/renovate.json5`; without comments it is a flow mapping of YAML."""
    lines = (ROOT / ".github/renovate.json5").read_text().splitlines()
    parsed: dict[str, Any] = yaml.safe_load("\n".join(line for line in lines if not line.lstrip().startswith("//")))
    return parsed


def manager() -> dict[str, Any]:
    """Return the only custom manager."""
    (found,) = settings()["customManagers"]
    assert isinstance(found, dict)
    return found


def found_pins(text: str) -> list[dict[str, str | None]]:
    """Return the matches of the manager in a text. JavaScript writes a named group without the P."""
    patterns = [pattern.replace("(?<", "(?P<") for pattern in manager()["matchStrings"]]
    return [match.groupdict() for pattern in patterns for match in re.finditer(pattern, text)]


@pytest.mark.parametrize("name", MARKED)
def test_every_marked_pin_is_found_once(name: str) -> None:
    text = (ROOT / name).read_text()
    marked = re.findall(r"# renovate: .*depName=(\S+)", text)

    assert marked
    assert sorted(str(pin["depName"]) for pin in found_pins(text)) == sorted(marked)


def test_a_pin_is_read_with_all_its_fields() -> None:
    text = (
        "# renovate: datasource=helm depName=nvidia-device-plugin registryUrl=https://nvidia.github.io/k8s-device-plugin\n"
        'DEVICE_PLUGIN_CHART: Final = "0.20.0"\n'
    )

    assert found_pins(text) == [
        {
            "datasource": "helm",
            "depName": "nvidia-device-plugin",
            "versioning": None,
            "registryUrl": "https://nvidia.github.io/k8s-device-plugin",
            "extractVersion": None,
            "currentValue": "0.20.0",
        }
    ]


def test_an_action_is_read_with_the_commit_of_its_release() -> None:
    commit = "3d3c42e5aac5ba805825da76410c181273ba90b1"
    text = (
        "# renovate: datasource=github-tags depName=actions/checkout\n"
        f'CHECKOUT: Final = "actions/checkout@{commit} # v7.0.1"\n'
    )

    assert found_pins(text) == [
        {
            "datasource": "github-tags",
            "depName": "actions/checkout",
            "currentDigest": commit,
            "currentValue": "v7.0.1",
        }
    ]


def test_a_helm_chart_names_its_registry() -> None:
    charts = [pin for pin in found_pins(PINS) if pin["datasource"] == "helm"]

    assert charts
    assert [pin["depName"] for pin in charts if pin["registryUrl"] is None] == []


@pytest.mark.parametrize("name", MARKED)
def test_the_manager_reads_every_file_with_a_marker(name: str) -> None:
    assert [pattern for pattern in manager()["managerFilePatterns"] if re.fullmatch(pattern.strip("/"), name)] != []


def test_every_pattern_of_a_manager_matches_a_file() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    patterns = [*manager()["managerFilePatterns"], *settings()["pip-compile"]["managerFilePatterns"]]

    assert [one for one in patterns if not any(re.fullmatch(one.strip("/"), name) for name in listed)] == []


def test_renovate_updates_every_lock_of_the_project() -> None:
    locks = ["requirements.txt", *(f"requirements/{path.name}" for path in (ROOT / "requirements").glob("*.txt"))]
    patterns = [pattern.strip("/") for pattern in settings()["pip-compile"]["managerFilePatterns"]]

    assert len(locks) == 4
    assert [lock for lock in locks if not any(re.fullmatch(pattern, lock) for pattern in patterns)] == []
