"""The files for a repository agree with the stack file and with each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.derived import host_image
from gpu_ci.derived import outputs as exports
from gpu_ci.repository.cirun import FILE, read
from gpu_ci.repository.documents import FileError
from gpu_ci.repository.gpu_workflow import TESTS_FILE, TRIAGE_FILE, GpuTests, workflows
from gpu_ci.repository.image_workflow import FOLDER, IMAGE_FILE, PROVIDER, GpuTestsImage, image_files
from gpu_ci.repository.run_script import RUN_FILE
from gpu_ci.stack_file.identity import Identity
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.kit import stack as kit
from ops.kit.scripts import scripts
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

GCP = "examples/cirun-gcp.yaml"
AWS = "examples/cirun-aws.yaml"
ARC = "examples/eks-arc.yaml"
REFERENCE = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1"
IMAGE = GpuTestsImage(reference=REFERENCE, cuda_image="nvidia/cuda:13.0.3-base-ubuntu24.04")


def files(name: str = GCP, changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    settings = stacks.settings(name, changes)
    found = kit.files(settings, Identity(project="gpu-ci", stack="staging"))
    return {path: text for path, text in found.items() if path not in scripts(settings)}


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
                ".dockerignore", "Dockerfile", "check-image", "requirements.in", "requirements.txt", "run-gpu-tests",
                "tests/pytest.ini", "tests/test_gpu_smoke.py",
            )
        ),
    }  # fmt: skip


def test_without_a_test_image_only_cirun_files_workflows_and_the_script_are_written() -> None:
    assert set(files(AWS)) == {".cirun.yml", "organisation/.cirun.global.yml", TESTS_FILE, TRIAGE_FILE, RUN_FILE}


def test_an_image_that_the_stack_builds_is_run_but_has_no_build_workflow() -> None:
    found = files(changes={"test-image/built-by": "stack"})

    assert IMAGE_FILE not in found
    assert RUN_FILE in found
    assert f"bash {RUN_FILE}" in found[TESTS_FILE]


def test_the_workflows_run_on_the_branches_of_github_federation() -> None:
    found = files(changes={"github-federation/branches": ["trunk", "release/2"]})

    assert parsed(found[TESTS_FILE])["on"]["push"]["branches"] == ["trunk", "release/2"]
    assert parsed(found[IMAGE_FILE])["on"]["push"]["branches"] == ["trunk"]
    assert parsed(found[IMAGE_FILE])["jobs"]["build"]["if"] == "github.ref == 'refs/heads/trunk'"


@pytest.mark.parametrize("name", [GCP, AWS, stacks.STAGING])
def test_the_workflow_uses_a_label_of_the_cirun_file(name: str) -> None:
    found = files(name)
    labels = {label for runner in read(found[FILE]) for label in runner["labels"]}
    asked = parsed(found[TESTS_FILE])["jobs"]["test"]["runs-on"]

    assert asked.partition("--")[0] in labels
    assert all(label.startswith("cirun-") for label in labels)


@pytest.mark.parametrize("name", [GCP, AWS, stacks.STAGING])
def test_the_cirun_file_lists_the_offered_machines(name: str) -> None:
    identity = Identity(project="gpu-ci", stack="staging")
    settings = stacks.settings(name)
    runner, own = next((key, offer.own) for key, offer in stack_of(settings, identity).offers.items() if offer.own)
    back = read(files(name)[FILE])[0]

    assert back["name"].startswith(runner)
    assert back["cloud"] == own.cloud
    assert back["instance_type"] == own.types[0]
    assert files(name)[FILE] == files(name)["organisation/.cirun.global.yml"]


def test_the_runner_boots_the_host_image_by_its_path() -> None:
    settings = stacks.settings(GCP)
    assert settings.host_image is not None
    name = host_image.name(settings.host_image, "us-central1")
    (runner,) = read(files()[FILE])

    assert runner["machine_image"] == f"projects/gpu-test-runners/global/images/{name}"
    assert runner["extra_config"]["serviceAccounts"][0]["email"] == (
        "gpu-ci-staging-runner@gpu-test-runners.iam.gserviceaccount.com"
    )


def test_no_accelerator_is_attached_to_a_machine_with_a_gpu() -> None:
    l4 = {
        "runners/cirun-gcp-gpu/needs/gpu": "l4",
        "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["g2-standard-4"],
    }
    plain, own = read(files()[FILE])[0], read(files(changes=l4)[FILE])[0]

    assert (plain.get("gpu"), own.get("gpu")) == ("nvidia-tesla-t4", None)


def test_the_workflow_pushes_what_the_tests_pull() -> None:
    found = files()
    job = parsed(found[IMAGE_FILE])["jobs"]["build"]
    build = next(step for step in job["steps"] if step["name"] == "Build and push")

    assert build["with"]["tags"] == job["env"]["IMAGE"] == REFERENCE
    assert f"GPU_TEST_IMAGE:-{REFERENCE}}}" in found[RUN_FILE]
    assert build["with"]["build-args"] == "CUDA_IMAGE=nvidia/cuda:13.0.3-base-ubuntu24.04"
    assert exports.gpu_test_image(stacks.settings(GCP)) == REFERENCE


def test_the_image_is_in_the_region_of_its_repository() -> None:
    settings = stacks.settings(GCP, {"artifact-registry/gpu-tests/region": "europe-west4"})

    assert exports.gpu_test_image(settings) == REFERENCE.replace("us-central1", "europe-west4")
    assert exports.gpu_test_image(stacks.settings(GCP, {"test-image": OUT})) is None


def test_the_image_is_pushed_without_a_key_and_only_from_the_main_branch() -> None:
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


def test_every_file_that_the_dockerfile_copies_is_written() -> None:
    found = image_files(IMAGE)
    copied = re.findall(r"^COPY (?!--from)(.+) /", found[f"{FOLDER}/Dockerfile"], re.MULTILINE)
    bound = re.findall(r"source=([\w.-]+)", found[f"{FOLDER}/Dockerfile"])

    # The files are written as text, without a mode.
    assert copied == ["--chmod=0755 check-image run-gpu-tests", "tests"]
    assert [
        name
        for name in ["check-image", "run-gpu-tests", "tests", *bound]
        if not any(path.startswith(f"{FOLDER}/{name}") for path in found)
    ] == []


def test_the_commands_run_in_the_container() -> None:
    tests = GpuTests(
        runner="gpu", runs_on="runs-on: gpu", container=REFERENCE, install=("make sync",), tests=("make 'test gpu'",)
    )
    written = workflows(tests)
    steps = parsed(written[TESTS_FILE])["jobs"]["test"]["steps"]

    assert [step["name"] for step in steps] == [
        "Check the GPU",
        "Check out",
        "Check that this is the commit that got the label",
        "Configure Docker for the registry",
        "Test",
    ]
    assert steps[-1]["run"] == f"bash {RUN_FILE}"
    assert "\nmake sync\nmake 'test gpu'\nCOMMANDS\n" in written[RUN_FILE]
    assert "--password-stdin https://us-central1-docker.pkg.dev" in steps[3]["run"]


@pytest.mark.parametrize(
    ("reference", "branch", "fault"),
    [
        ("gpu-tests:1", "main", "reference"),
        (REFERENCE.removesuffix(":2026.11.1"), "main", "reference"),
        (REFERENCE + '"\nx: y', "main", "reference"),
        (REFERENCE, "main' || true || '", "branch"),
    ],
)
def test_a_value_that_breaks_the_workflow_is_refused(reference: str, branch: str, fault: str) -> None:
    with pytest.raises(FileError, match=fault):
        image_files(GpuTestsImage(reference=reference, cuda_image=IMAGE.cuda_image, branch=branch))


def test_a_container_outside_artifact_registry_is_refused() -> None:
    with pytest.raises(FileError, match="container"):
        workflows(GpuTests(runner="gpu", runs_on="runs-on: gpu", container="ubuntu; rm -rf /"))


def test_check_compares_the_files_and_writes_nothing(tmp_path: Path) -> None:
    words = ["kit", "--file", str(ROOT / GCP), "--out", str(tmp_path)]
    before, written, after = cli.run([*words, "--check"]), cli.run(words), cli.run([*words, "--check"])
    (tmp_path / FILE).write_text("runners: []\n")
    spoilt = cli.run([*words, "--check"])

    assert (before, written, after, spoilt) == (1, 0, 0, 1)
    assert (tmp_path / IMAGE_FILE).is_file()


@pytest.mark.parametrize("blocked", ["out", "out/.cirun.yml/x"])
def test_a_folder_that_cannot_be_written_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], blocked: str
) -> None:
    place = tmp_path / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file in place of a folder")

    assert cli.run(["kit", "--file", str(ROOT / GCP), "--out", str(tmp_path / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_file_in_another_encoding_differs(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff")

    assert cli.run(["kit", "--file", str(ROOT / GCP), "--out", str(tmp_path), "--check"]) == 1
