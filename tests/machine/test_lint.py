"""Tests of the program, the units and the user data of a machine with their linters."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_ci.back_ends.shared.machine.user_data import FOLDER, BootArgs, parts, units, user_data
from tests.artefacts.linters import linter
from tests.machine.boots import GOLDEN, boot_args, every_boot, golden

pytestmark = pytest.mark.artefacts

PROGRAMS = (
    boot_args("aws", "ephemeral", docker=True, spot=True),
    boot_args("gcp", "persistent", spot=True),
    boot_args("aws", "persistent", driver=None, docker=True),
    boot_args("gcp", "ephemeral", driver=None),
)
"""Machines that together have every part."""


@pytest.mark.parametrize("args", PROGRAMS, ids=str)
def test_shellcheck_has_no_finding_in_a_program(args: BootArgs, tmp_path: Path) -> None:
    file = tmp_path / "gpu-ci.sh"
    source = "\n".join((FOLDER / f"{name}.sh").read_text(encoding="utf-8") for name in parts(args))
    file.write_text(f"#!/bin/bash\n{source}", encoding="utf-8")
    found = subprocess.run([linter("shellcheck"), str(file)], capture_output=True, check=False, text=True)

    assert (found.returncode, found.stdout) == (0, "")


def test_every_script_part_belongs_to_a_program() -> None:
    assert {path.stem for path in FOLDER.glob("*.sh")} == {name for args in PROGRAMS for name in parts(args)}


@pytest.mark.parametrize("name", sorted(units(boot_args(spot=True))))
def test_a_unit_passes_systemd_analyze_verify(name: str, tmp_path: Path) -> None:
    for unit, text in units(boot_args(spot=True)).items():
        # Programs of the machine are not here.
        local = text.replace("/usr/local/sbin/gpu-ci", "/bin/true").replace("/opt/actions-runner/run.sh", "/bin/true")
        (tmp_path / unit).write_text(local, encoding="utf-8")
    found = subprocess.run(
        [linter("systemd-analyze"), "verify", "--man=no", str(tmp_path / name)],
        capture_output=True, check=False, text=True,
    )  # fmt: skip

    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("args", list(every_boot()), ids=str)
def test_cloud_init_accepts_the_user_data(args: BootArgs, tmp_path: Path) -> None:
    file = tmp_path / "user-data"
    file.write_text(user_data(args), encoding="utf-8")
    found = subprocess.run(
        [linter("cloud-init"), "schema", "--config-file", str(file)], capture_output=True, check=False, text=True
    )

    assert (found.returncode, found.stdout.splitlines()) == (0, [f"Valid cloud-config: {file}"])


def test_cloud_init_refuses_a_wrong_key(tmp_path: Path) -> None:
    file = tmp_path / "user-data"
    file.write_text(user_data(boot_args()).replace("- path:", "- paht:"), encoding="utf-8")
    found = subprocess.run(
        [linter("cloud-init"), "schema", "--config-file", str(file)], capture_output=True, check=False, text=True
    )

    assert found.returncode == 1


@pytest.mark.parametrize("name", sorted(golden()))
def test_the_golden_copy_of_the_user_data_is_current(name: str) -> None:
    """To update: `.venv/bin/python -m tests.machine.boots`."""
    assert (GOLDEN / name).read_text(encoding="utf-8") == golden()[name]
