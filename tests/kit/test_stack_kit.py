"""From a stack file to a repository's files: what is written, and that all of it speaks of the same things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from config.identity import Identity
from kit import stack as kit
from kit.cirun import FILE, read
from kit.cirun_workflow import TESTS_FILE, TRIAGE_FILE, GpuTests, workflows
from kit.closed import FileError
from kit.image_workflow import FOLDER, IMAGE_FILE, PROVIDER, GpuTestsImage, image_files
from kit.migrate.migrate import migrate
from kit.run_script import RUN_FILE
from ops.cli import main as cli
from ops.cli.options import ROOT
from tests.config import stacks
from tests.config.stacks import OUT
from tests.kit.test_cirun_migrate import NESTED, OF_2022
from wiring import host_image
from wiring import outputs as exports

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.pure

GOOGLE = "examples/cirun-gcp.yaml"
AMAZON = "examples/cirun-aws.yaml"
ARC = "examples/eks-arc.yaml"
REFERENCE = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1"
IMAGE = GpuTestsImage(reference=REFERENCE, cuda_image="nvidia/cuda:13.0.3-base-ubuntu24.04")


def files(name: str = GOOGLE, changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    return kit.files(stacks.settings(name, changes), Identity(project="gpu-ci", stack="staging"))


def parsed(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def test_every_file_that_a_repository_needs_is_written() -> None:
    assert set(files()) == {
        ".cirun.yml",
        "organisation/.cirun.global.yml",
        TESTS_FILE,
        TRIAGE_FILE,
        IMAGE_FILE,
        RUN_FILE,
        *(
            f"{FOLDER}/{name}"
            for name in (
                ".dockerignore", "Dockerfile", "requirements.in", "requirements.txt", "run-gpu-tests",
                "tests/pytest.ini", "tests/test_gpu_smoke.py",
            )
        ),
    }  # fmt: skip


def test_without_a_test_image_there_are_cirun_and_the_workflows_alone() -> None:
    assert set(files(AMAZON)) == {".cirun.yml", "organisation/.cirun.global.yml", TESTS_FILE, TRIAGE_FILE}


def test_a_stack_that_cirun_does_not_serve_needs_no_file_here() -> None:
    assert files(ARC) == {}


def test_an_image_that_the_stack_builds_needs_no_workflow_and_is_run_all_the_same() -> None:
    found = files(changes={"test-image/built-by": "stack"})

    assert IMAGE_FILE not in found
    assert RUN_FILE in found
    assert f"bash {RUN_FILE}" in found[TESTS_FILE]


def test_the_workflows_follow_the_branches_that_may_push() -> None:
    found = files(changes={"github-federation/branches": ["trunk", "release/2"]})

    assert parsed(found[TESTS_FILE])["on"]["push"]["branches"] == ["trunk", "release/2"]
    assert parsed(found[IMAGE_FILE])["on"]["push"]["branches"] == ["trunk"]
    assert parsed(found[IMAGE_FILE])["jobs"]["build"]["if"] == "github.ref == 'refs/heads/trunk'"


def test_a_machine_on_aws_runs_the_tests_on_itself() -> None:
    """It has no account of Google's to pull as."""
    found = files(AMAZON)

    assert "docker" not in found[TESTS_FILE]
    assert "uv run pytest -m gpu" in found[TESTS_FILE]


@pytest.mark.parametrize("name", [GOOGLE, AMAZON, stacks.STAGING])
def test_the_label_of_the_workflow_is_one_of_cirun_s(name: str) -> None:
    found = files(name)
    labels = {label for runner in read(found[FILE]).runners for label in runner.labels}
    asked = parsed(found[TESTS_FILE])["jobs"]["test"]["runs-on"]

    assert asked.partition("--")[0] in labels
    assert all(label.startswith("cirun-") for label in labels)


@pytest.mark.parametrize("name", [GOOGLE, AMAZON, stacks.STAGING])
def test_what_is_written_reads_back_as_it_was_meant(name: str) -> None:
    identity = Identity(project="gpu-ci", stack="staging")
    settings = stacks.settings(name)
    (runner,) = kit.cirun_runners(settings, identity)
    (back,) = read(files(name)[FILE]).runners

    assert (back.name, back.cloud, back.labels) == (runner.name, runner.cloud, runner.labels)
    assert back.preemptible == tuple(spot for spot in runner.spot for _ in runner.places)
    assert back.region == runner.places * len(runner.spot)
    assert files(name)[FILE] == files(name)["organisation/.cirun.global.yml"]


def test_the_runner_boots_the_image_that_the_stack_builds_by_its_name() -> None:
    settings = stacks.settings(GOOGLE)
    assert settings.host_image is not None
    name = host_image.name(settings.host_image, "us-central1")
    (runner,) = read(files()[FILE]).runners

    assert runner.machine_image == f"gpu-test-runners:{name}"
    assert runner.model_dump(mode="json")["extra_config"]["serviceAccounts"][0]["email"] == (
        "gpu-ci-staging-runner@gpu-test-runners.iam.gserviceaccount.com"
    )


def test_a_machine_that_brings_its_gpu_is_given_none() -> None:
    l4 = {
        "runners/cirun-gcp-gpu/needs/gpu": "l4",
        "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["g2-standard-4"],
    }
    plain, own = read(files()[FILE]).runners[0], read(files(changes=l4)[FILE]).runners[0]

    assert (plain.gpu, own.gpu) == ("nvidia-tesla-t4", None)


@pytest.mark.parametrize("old", [NESTED, OF_2022])
def test_an_old_file_that_is_rewritten_reads_as_one_of_today(old: str) -> None:
    assert read(migrate(old).text).runners


def test_a_key_that_cirun_does_not_read_is_refused() -> None:
    text = files()[FILE].replace("  cloud: gcp\n", "  cloud: gcp\n  regions: us-central1\n")

    with pytest.raises(FileError, match=r"runners\[0\]\.regions.*unknown key"):
        read(text)


def test_the_workflow_pushes_what_the_tests_pull() -> None:
    found = files()
    job = parsed(found[IMAGE_FILE])["jobs"]["build"]
    build = next(step for step in job["steps"] if step["name"] == "Build and push")

    assert build["with"]["tags"] == job["env"]["IMAGE"] == REFERENCE
    assert f"GPU_TEST_IMAGE:-{REFERENCE}}}" in found[RUN_FILE]
    assert build["with"]["build-args"] == "CUDA_IMAGE=nvidia/cuda:13.0.3-base-ubuntu24.04"
    assert exports.gpu_test_image(stacks.settings(GOOGLE)) == REFERENCE


def test_the_image_lies_in_the_region_that_its_repository_states() -> None:
    settings = stacks.settings(GOOGLE, {"artifact-registry/gpu-tests/region": "europe-west4"})

    assert exports.gpu_test_image(settings) == REFERENCE.replace("us-central1", "europe-west4")
    assert exports.gpu_test_image(stacks.settings(GOOGLE, {"test-image": OUT})) is None


def test_the_image_is_pushed_without_a_key_and_from_the_main_branch_alone() -> None:
    text = image_files(IMAGE)[IMAGE_FILE]
    document = parsed(text)
    job = document["jobs"]["build"]
    (sign_in,) = (step for step in job["steps"] if "google-github-actions/auth" in step.get("uses", ""))

    assert document["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert sign_in["with"] == {"workload_identity_provider": f"${{{{ vars.{PROVIDER} }}}}"}
    assert job["if"] == "github.ref == 'refs/heads/main'"
    assert set(document["on"]) == {"push", "workflow_dispatch"}
    assert "secrets." not in text


def test_every_action_is_pinned_and_every_script_free_of_expressions() -> None:
    steps = parsed(image_files(IMAGE)[IMAGE_FILE])["jobs"]["build"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]

    assert len(used) == 5
    assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", name)] == []
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_a_tag_that_is_there_is_not_built_again() -> None:
    steps = parsed(image_files(IMAGE)[IMAGE_FILE])["jobs"]["build"]["steps"]
    looked = next(index for index, step in enumerate(steps) if step.get("id") == "there")

    assert [step["name"] for step in steps[looked + 1 :]] == ["Set up Buildx", "Build and push"]
    assert {step["if"] for step in steps[looked + 1 :]} == {"steps.there.outputs.found != 'true'"}


def test_layers_are_cached_outside_the_registry_whose_tags_do_not_move() -> None:
    build = parsed(image_files(IMAGE)[IMAGE_FILE])["jobs"]["build"]["steps"][-1]["with"]

    assert (build["cache-from"], build["cache-to"]) == ("type=gha", "type=gha,mode=max")


def test_everything_that_the_recipe_copies_is_written_with_it() -> None:
    found = image_files(IMAGE)
    sources = re.findall(r"^COPY (?:--chmod=\d+ )?([\w.-]+) /", found[f"{FOLDER}/Dockerfile"], re.MULTILINE)
    bound = re.findall(r"source=([\w.-]+)", found[f"{FOLDER}/Dockerfile"])

    assert sources == ["run-gpu-tests", "tests"]
    assert [name for name in [*sources, *bound] if not any(path.startswith(f"{FOLDER}/{name}") for path in found)] == []


def test_a_command_that_is_written_as_text_can_be_run_in_the_container() -> None:
    """Nothing that writes text files keeps a mode."""
    assert "COPY --chmod=0755 run-gpu-tests " in image_files(IMAGE)[f"{FOLDER}/Dockerfile"]


def test_in_a_container_the_commands_are_its_own() -> None:
    tests = GpuTests(runner="cirun-gpu", container=REFERENCE, install=("make sync",), tests=("make 'test gpu'",))
    steps = parsed(workflows(tests)[TESTS_FILE])["jobs"]["test"]["steps"]

    assert [step["name"] for step in steps] == ["Check the GPU", "Check out", "Let Docker at the registry", "Test"]
    assert steps[-1]["env"]["COMMANDS"] == "make sync\nmake 'test gpu'\n"
    assert steps[-1]["run"] == f'bash {RUN_FILE} bash -euo pipefail -c "$COMMANDS"'
    assert "--password-stdin https://us-central1-docker.pkg.dev" in steps[2]["run"]


@pytest.mark.parametrize(
    ("reference", "branch", "fault"),
    [
        ("gpu-tests:1", "main", "reference"),
        (REFERENCE.removesuffix(":2026.11.1"), "main", "reference"),
        (REFERENCE + '"\nx: y', "main", "reference"),
        (REFERENCE, "main' || true || '", "branch"),
    ],
)
def test_a_value_that_could_end_its_place_is_refused(reference: str, branch: str, fault: str) -> None:
    with pytest.raises(FileError, match=fault):
        image_files(GpuTestsImage(reference=reference, cuda_image=IMAGE.cuda_image, branch=branch))


def test_a_container_that_is_no_image_of_the_registry_is_refused() -> None:
    with pytest.raises(FileError, match="container"):
        workflows(GpuTests(runner="cirun-gpu", container="ubuntu; rm -rf /"))


def test_the_files_that_are_there_are_compared_and_not_written_twice(tmp_path: Path) -> None:
    words = ["kit", "--file", str(ROOT / GOOGLE), "--out", str(tmp_path)]
    before, written, after = cli.run([*words, "--check"]), cli.run(words), cli.run([*words, "--check"])
    (tmp_path / FILE).write_text("runners: []\n")
    spoilt = cli.run([*words, "--check"])

    assert (before, written, after, spoilt) == (1, 0, 0, 1)
    assert (tmp_path / IMAGE_FILE).is_file()


@pytest.mark.parametrize("blocked", ["out", "out/.cirun.yml/x"])
def test_a_place_that_cannot_be_written_ends_with_2_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], blocked: str
) -> None:
    place = tmp_path / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file, or in the way of one")

    assert cli.run(["kit", "--file", str(ROOT / GOOGLE), "--out", str(tmp_path / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_file_of_another_encoding_is_not_the_one_that_is_written(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff")

    assert cli.run(["kit", "--file", str(ROOT / GOOGLE), "--out", str(tmp_path), "--check"]) == 1
