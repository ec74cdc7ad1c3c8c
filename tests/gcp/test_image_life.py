"""The host image on the real engine: what a change of one byte touches, and what becomes of the builder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pulumi
import pytest

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack_file import load, settings_of
from gpu_ci.derived import host_image
from gpu_ci.derived.host_image import INSTALLER
from gpu_ci.program.gcp import gcp
from gpu_ci.repository.cirun import FILE, read
from gpu_ci.stack_file.identity import Identity
from ops.engine import rehearsal
from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.engine.pulumi_cli import Found
from ops.kit import stack as kit
from ops.plan.model import Planned
from ops.plan.stack_file import StackFile
from tests.gcp.fake import FakeGcloud
from tests.plan import stacks

pytestmark = pytest.mark.engine

EXAMPLE: Final = "examples/cirun-gcp.yaml"
COMMAND: Final = "command:local:Command"
IMAGE: Final = "gcp:compute/image:Image"
INSTANCE: Final = "gcp:compute/instance:Instance"
MEMBER: Final = "gcp:compute/imageIamMember:ImageIamMember"
DECLARED: Final = {"mode": "declared", "zones": ["us-central1-b"]}
SHARED: Final = {"share-with": {"research": "group:research@example.org"}}


def stated(**host_image: Any) -> StackFile:
    """The example's stack file with an image that is shared, and stated otherwise where a test says so."""
    more = {key.replace("_", "-"): value for key, value in host_image.items()}
    return stacks.changed(EXAMPLE, "host-image", lambda section: section.update({**SHARED, **more}))


def program(installer: Path) -> Callable[[], None]:
    """The Google half of the program, with an installer of the test's own."""

    def run() -> None:
        settings, secrets = load()
        assert settings.gcp is not None
        identity = Identity(project=pulumi.get_project(), stack=pulumi.get_stack())
        context = ProgramContext(stack=stack_of(settings, identity), secrets=secrets, repositories={})
        gcp(context=context, account=settings.gcp, installer=installer)

    return run


def touched(outcome: Outcome) -> set[tuple[str, str]]:
    """Return the operations by type, with the parts of a replacement as one."""
    assert outcome.fault == ""
    ops = {"create-replacement": "replace", "delete-replaced": "replace"}
    return {(ops.get(step.op, step.op), step.type) for step in outcome.changes}


def command(engine: Engine, verb: str = "update") -> Planned:
    """The command that builds; with `delete`, the one that takes down."""
    (found,) = (one for one in engine.state().resources.values() if one.type == COMMAND and verb in one.inputs)
    return found


def variables(engine: Engine) -> dict[str, str]:
    return dict(command(engine).inputs["environment"])


def proof(file: StackFile) -> str:
    """Return the output of the image builder of a stack file."""
    settings = settings_of(file.config, file.secret_keys, file.name, str(file.path))
    assert settings.host_image is not None
    assert settings.gcp is not None
    return host_image.content(settings.host_image, settings.gcp.region).hash


def cirun_yml(installer: Path) -> str:
    file = stated()
    settings = settings_of(file.config, file.secret_keys, file.name, file.path.name)
    return kit.files(settings, Identity(project="gpu-ci", stack=file.name), installer)[FILE]


@pytest.fixture(scope="module")
def installer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the installer; a test that changes it changes it back."""
    return shutil.copytree(INSTALLER, tmp_path_factory.mktemp("image") / "installer")


@pytest.fixture(scope="module")
def running(cli: Found, installer: Path) -> Iterator[Engine]:
    """An engine for the example's Google half."""
    with Engine(cli, stated(), program(installer)) as engine:
        yield engine


@pytest.fixture
def engine(running: Engine) -> Engine:
    """The example's Google half, up; a test leaves it as it was."""
    assert running.up().fault == ""
    return running


def test_a_changed_installer_changes_only_the_image_and_its_references(engine: Engine, installer: Path) -> None:
    assert engine.preview().changes == ()

    script = installer / "seal.sh"
    before, old, text_old = script.read_bytes(), variables(engine), cirun_yml(installer)
    script.write_bytes(before + b"\n")
    changed = engine.up()
    new, text_new = variables(engine), cirun_yml(installer)
    by_command = [step for step in changed.changes if step.type == COMMAND]

    assert touched(changed) == {("update", COMMAND), ("replace", MEMBER)}
    assert [dict(step.changed) for step in by_command] == [{"environment.GPU_IMAGE_NAME": "update"}]
    assert {key for key in old | new if old.get(key) != new.get(key)} == {"GPU_IMAGE_NAME"}
    assert engine.state().outputs["host_image"]["name"] == new["GPU_IMAGE_NAME"] != old["GPU_IMAGE_NAME"]
    assert text_new == text_old.replace(old["GPU_IMAGE_NAME"], new["GPU_IMAGE_NAME"]) != text_old
    assert read(text_new)[0]["machine_image"] == f"projects/gpu-test-runners/global/images/{new['GPU_IMAGE_NAME']}"
    assert engine.preview().changes == ()

    script.write_bytes(before)
    back = engine.up()

    assert touched(back) == {("update", COMMAND), ("replace", MEMBER)}
    assert (variables(engine), cirun_yml(installer)) == (old, text_old)


def test_a_reverted_installer_promotes_the_existing_image(engine: Engine, installer: Path, tmp_path: Path) -> None:
    """The command is what the state holds, and the same that Pulumi would run."""
    cloud = FakeGcloud(tmp_path / "google")
    script = installer / "seal.sh"
    before, old, build = script.read_bytes(), variables(engine), str(command(engine).inputs["update"])
    first = cloud.run(build, old)
    made = cloud.calls()
    script.write_bytes(before + b"\n")
    engine.up()
    new = variables(engine)
    second = cloud.run(build, new)
    cloud.calls()
    script.write_bytes(before)
    engine.up()
    third = cloud.run(build, variables(engine))

    assert [run.code for run in (first, second, third)] == [0, 0, 0], third.err
    assert (made.count("instances create"), made.count("images create")) == (2, 1)
    assert set(cloud.calls()) == {"images deprecate"}
    assert cloud.images[old["GPU_IMAGE_NAME"]]["deprecated"]["state"] == "ACTIVE"
    assert cloud.images[new["GPU_IMAGE_NAME"]]["deprecated"] == {
        "state": "DEPRECATED",
        "replacement": old["GPU_IMAGE_NAME"],
    }

    end = command(engine, "delete")
    destroyed = cloud.run(str(end.inputs["delete"]), end.inputs["environment"])

    assert (destroyed.code, cloud.images) == (0, {}), destroyed.err


def test_a_new_family_is_created_before_the_old_family_is_deleted(engine: Engine) -> None:
    runners = json.loads(stated().config["gpu-ci:runners"])
    runners["cirun-gcp-gpu"]["cirun-gcp"]["image-family"] = "ml-host"
    renamed = stated(family="ml-host")
    engine.configure(replace(renamed, config={**renamed.config, "gpu-ci:runners": json.dumps(runners)}))
    outcome = engine.up()
    engine.configure(stated())
    back = engine.up()
    order = [step.op for step in outcome.changes if step.type == COMMAND]

    assert touched(outcome) == touched(back) == {("replace", COMMAND), ("update", COMMAND), ("replace", MEMBER)}
    assert order[0] == "create-replacement"
    assert order.index("update") < order.index("delete-replaced")
    assert order[-1] == "delete-replaced"


def test_one_update_creates_a_declared_image_and_deletes_its_builder(cli: Found) -> None:
    building = stated(**DECLARED, phase="build", keep_on_destroy=True)
    with Engine(cli, building) as engine:
        assert ("create", INSTANCE) in touched(engine.up())
        assert [thing.type for thing in engine.cloud if thing.type in {INSTANCE, IMAGE}] == [INSTANCE]
        assert engine.preview().changes == ()
        (builder,) = engine.cloud.of(INSTANCE)

        engine.configure(stated(**DECLARED, phase="image", proved=proof(building), keep_on_destroy=True))
        second = engine.up()
        (image,) = engine.cloud.of(IMAGE)

        assert touched(second) == {("create", IMAGE), ("create", MEMBER), ("delete", INSTANCE)}
        assert image.inputs["sourceDisk"].endswith(f"/disks/{builder.inputs['bootDisk']['deviceName']}")
        assert list(engine.cloud.of(INSTANCE)) == []
        assert [step.op for step in second.changes][-1] == "delete"
        assert engine.preview().changes == ()

        assert engine.destroy().fault == ""
        assert [thing.type for thing in engine.cloud.remaining()] == [IMAGE]


def test_a_declared_image_passes_its_rehearsal(cli: Found) -> None:
    proved = proof(stated(**DECLARED))
    done = rehearsal.rehearse(cli, stated(**DECLARED, phase="image", proved=proved), faults=False)

    assert {phase.name: phase.findings for phase in done.phases if phase.findings} == {}
    assert done.phases[-1].name == "destroy"
