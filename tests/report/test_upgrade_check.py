"""The check of an edit of versions: exactly the lines of a golden file for each kind of pin.

The engine reports no change here, except in the last part. With `WRITE_GOLDEN=1` in the environment, the tests write
the files. Read their difference like the difference of code.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gpu_ci.knowledge import pins
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.knowledge.software import machine_images
from ops.cli import terminal
from ops.cli.commands import upgrade_check
from ops.cli.options import ROOT
from ops.engine import upgrade
from ops.engine.pulumi_cli import Found
from ops.outcome import Exit, Stop
from ops.plan import planning
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, read
from ops.report.base import Base
from ops.report.comparison import Comparison, compare
from ops.upgrades import check as module
from ops.upgrades import text
from ops.upgrades.check import Check, check
from tests.report.conftest import STAGING

GOLDEN = Path(__file__).parent / "golden" / "upgrades"
RELEASE = "1.35.9-20991231"


@pytest.fixture(scope="module")
def base() -> Base:
    """Staging as this checkout plans it."""
    return of_stack(read(STAGING))


def of_stack(stack_file: StackFile) -> Base:
    """A base with the resources that a stack file plans."""
    plan = record(stack_file)
    rows = tuple({"type": one.type, "urn": one.urn, "inputs": one.inputs} for one in plan)
    state = upgrade.Recorded(release="base", stack_file=stack_file, resources=rows)
    return Base(name="origin/main", commit="0123456789", state=state)


@pytest.fixture(autouse=True)
def _packages_of_this_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the base have the packages of this checkout."""
    monkeypatch.setattr(module, "file_at", lambda root, _commit, name: (root / name).read_text())


def checked(base: Base, stack_file: StackFile) -> Check:
    """The check without a preview by the engine."""
    return check(planning.attempt(stack_file), unchanged(base, stack_file), stack_file, ROOT)


def unchanged(base: Base, stack_file: StackFile) -> Comparison:
    """A comparison by the engine without a change."""
    return Comparison(base=base, stack=stack_file.name, changes=(), unchanged=168)


def edited(folder: Path, *edits: tuple[str, str]) -> StackFile:
    """Staging with some texts replaced."""
    content = STAGING.read_text()
    for old, new in edits:
        assert old in content
        content = content.replace(old, new)
    path = folder / STAGING.name
    path.write_text(content)
    return read(path)


def shown(found: Check) -> str:
    """The text of the terminal, without colours."""
    out = io.StringIO()
    text.show(Console(file=out, width=160, theme=terminal._THEME, highlight=False), found)
    assert json.dumps(found.to_data())
    return out.getvalue()


def golden(name: str, found: Check) -> None:
    """Compare with a golden file, or write it."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown(found))
    assert shown(found) == path.read_text()


def new_kubernetes(patch: pytest.MonkeyPatch) -> None:
    """Pin Kubernetes 1.37."""
    patch.setitem(pins.EKS_AMI_RELEASES, "1.37", "1.37.1-20260714")
    patch.setitem(pins.CLUSTER_AUTOSCALER_IMAGES, "1.37", "v1.37.0")
    for one in ADD_ONS:
        patch.setitem(one.versions, "1.37", "v1.37.0-eksbuild.1")


def new_node_image(patch: pytest.MonkeyPatch) -> None:
    """Pin an image release with another driver."""
    row = machine_images.MachineImage(name="AL2023_x86_64_NVIDIA:20991231", driver="595.91.07")
    patch.setattr(machine_images, "MACHINE_IMAGES", {**machine_images.MACHINE_IMAGES, row.name: row})
    patch.setitem(pins.EKS_AMI_RELEASES, "1.35", RELEASE)


def wrong_autoscaler(patch: pytest.MonkeyPatch) -> None:
    """Pin the autoscaler of another minor version."""
    patch.setitem(pins.CLUSTER_AUTOSCALER_IMAGES, "1.36", "v1.35.2")


def packages(before: str, after: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Change the version of a package since the base."""

    def change(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(
            module,
            "file_at",
            lambda root, _commit, name: (root / name).read_text().replace(f"\n{after} \\", f"\n{before} \\"),
        )

    return change


def pin(name: str, version: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Change a pin of a chart."""
    return lambda patch: patch.setattr(pins, name, version)


def nothing(_patch: pytest.MonkeyPatch) -> None:
    """Change no pin."""


KUBERNETES = ('version: "1.35"', 'version: "1.36"')
MAJOR = packages("pulumi-aws==6.83.0", "pulumi-aws==7.51.1")
CASES: dict[str, tuple[Sequence[tuple[str, str]], Callable[[pytest.MonkeyPatch], None]]] = {
    "nothing": ([], nothing),
    "kubernetes": ([KUBERNETES], nothing),
    "kubernetes-by-two": ([('version: "1.35"', 'version: "1.37"')], new_kubernetes),
    "kubernetes-with-another-autoscaler": ([KUBERNETES], wrong_autoscaler),
    "node-image": ([], new_node_image),
    "unknown-node-image": ([], lambda patch: patch.setitem(pins.EKS_AMI_RELEASES, "1.35", "1.35.9-20991130")),
    "arc-patch": ([], pin("ARC_CHARTS", "0.14.3")),
    "arc-minor": ([], pin("ARC_CHARTS", "0.15.0")),
    "device-plugin": ([], pin("DEVICE_PLUGIN_CHART", "0.21.0")),
    "host-image-driver": ([('driver: "580"\n    cuda: "13.0"', 'driver: "570"\n    cuda: "12.8"')], nothing),
    "driver-older-than-cuda": ([('driver: "580"', 'driver: "550"')], nothing),
    "image-cuda": ([('cuda: "12.9"\n    ', 'cuda: "13.3"\n    ')], nothing),
    "old-runner": ([('runner: "2.337.0"', 'runner: "2.300.0"')], nothing),
    "package": ([], packages("pulumi==3.250.0", "pulumi==3.258.0")),
    "package-major": ([], MAJOR),
    "package-major-and-kubernetes": ([KUBERNETES], MAJOR),
}


@pytest.mark.plan
@pytest.mark.parametrize("name", CASES)
def test_an_edit_of_a_version_has_exactly_these_updates(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    edits, change = CASES[name]
    change(monkeypatch)

    golden(name, checked(base, edited(tmp_path, *edits)))


@pytest.mark.pure
def test_every_golden_file_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.plan
def test_an_update_does_not_downgrade_kubernetes(tmp_path: Path) -> None:
    found = checked(of_stack(edited(tmp_path, KUBERNETES)), read(STAGING))

    assert not found.ok
    assert str(found.refused[0]).startswith("cluster.version: an update cannot take Kubernetes back from 1.36 to 1.35")


@pytest.mark.plan
def test_a_stack_that_the_base_does_not_have_gets_no_other_version(base: Base) -> None:
    found = checked(replace(base, state=None), read(STAGING))

    assert (found.ok, found.moves) == (True, ())
    assert "does not exist there" in shown(found)


@pytest.mark.plan
def test_only_the_packages_of_a_base_that_does_not_run_are_compared(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages("pulumi==3.250.0", "pulumi==3.258.0")(monkeypatch)
    found = checked(replace(base, state=None, faults=("gpu-ci:aws: unknown key",)), read(STAGING))

    assert not found.ok
    assert [str(move) for move in found.moves] == ["pulumi: 3.250.0 -> 3.258.0"]
    assert "Only the packages are compared: at origin/main the stack does not run:\n  gpu-ci:aws: unknown key" in shown(
        found
    )


@pytest.mark.engine
def test_the_engine_agrees_with_the_refusals_and_the_order_of_the_check(
    cli: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = next(one for one in upgrade.recorded() if one.stack_file.name == "eks-arc")
    before = Base(name="0.1.0", commit="0123456789", state=state)
    file = tmp_path / "eks-arc.yaml"
    content = (ROOT / "examples/eks-arc.yaml").read_text()
    sizes = ("min: 0\n      max: 4", "min: 0\n      max: 5")
    assert sizes[0] in content
    file.write_text(content.replace('version: "1.35"', 'version: "1.36"').replace(*sizes))

    stack_file = read(file)
    found = check(planning.attempt(stack_file), compare(cli, before, stack_file), stack_file, ROOT)
    assert [str(fault) for fault in found.refused] == []
    assert [update.title for update in found.updates] == ["Kubernetes 1.36"]
    assert found.comparison.loud
    assert [line.partition(". ")[0] for line in found.warnings] == ["pool-l4-spot also gets other sizes"]

    monkeypatch.setattr(pins, "ARC_CHARTS", "0.15.0")
    stack_file = read(ROOT / "examples/eks-arc.yaml")
    found = check(planning.attempt(stack_file), compare(cli, before, stack_file), stack_file, ROOT)
    assert [fault.path for fault in found.refused] == ["ARC_CHARTS"]
    assert "cannot be updated from 0.14.2 to 0.15.0" in " ".join(found.comparison.refusals)


@pytest.mark.plan
@pytest.mark.parametrize(("name", "code"), [("nothing", Exit.GOOD), ("arc-minor", Exit.FINDING)])
def test_the_command_ends_with_the_exit_code_of_the_check(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: Exit
) -> None:
    CASES[name][1](monkeypatch)
    monkeypatch.setattr(
        upgrade_check,
        "since",
        lambda _base, stack_file: (planning.attempt(stack_file), unchanged(base, stack_file)),
    )
    out = tmp_path / "check.json"

    assert upgrade_check.main(file=STAGING, base="origin/main", json=out) == code
    assert json.loads(out.read_text())["ok"] is (code is Exit.GOOD)


@pytest.mark.pure
def test_a_stack_needs_a_base() -> None:
    with pytest.raises(Stop) as stop:
        upgrade_check.main(stack="staging")

    assert stop.value.code is Exit.WRONG
