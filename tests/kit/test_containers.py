"""The workflows that build container images: linters, the registry and its role, tags, caches and the test on a GPU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.aws.images.image_push import role_arn
from gpu_ci.repository.container_workflow import ContainerBuild, Ecr, Variant, container_files
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from ops.kit.containers import container_builds
from tests.artefacts.callers import run_step
from tests.stack_file import stacks

IDENTITY: Final = Identity(project="gpu-ci", stack="staging")
PUSHED: Final = {"repository": "example-org/gpu-images", "repository-id": 84632179, "owner-id": 9919, "branch": "trunk"}
ON_ECR: Final[Mapping[str, Any]] = {
    "ecr/runner-gpu/pushed-by": PUSHED,
    "ecr/runner-gpu/mutable-tags": ["cache-*", "*-uv-*"],
    "images/runner-gpu/build": {"target": "devel"},
}
TESTED: Final[Mapping[str, Any]] = {
    **ON_ECR,
    "images/runner-gpu/build": {"test-on": "gpu-t4-steady"},
    "runners/gpu-t4-steady/arc/container-mode": "kubernetes-novolume",
}
TORCH_ON_ECR: Final[Mapping[str, Any]] = {
    **ON_ECR,
    "pytorch-images": {"repository": "runner-gpu", "combinations": ["2.14.1-cuda13.0"], "targets": ["runtime"]},
}
TORCH_ON_GCP: Final[Mapping[str, Any]] = {
    "artifact-registry/gpu-tests/immutable-tags": False,
    "pytorch-images": {
        "repository": "gpu-tests",
        "combinations": ["2.15.0-cuda13.2", "2.14.1-cuda13.0"],
        "base": "cgr.dev/chainguard/wolfi-base:20261101",
        "packages": ["ffmpeg", "g++"],
    },
}
FORMS: Final = {
    "runner": ON_ECR,
    "tested": TESTED,
    "torch on ECR": TORCH_ON_ECR,
    "torch on Artifact Registry": TORCH_ON_GCP,
}
REGISTRY: Final = "123456789012.dkr.ecr.us-west-2.amazonaws.com/gpu-ci-staging/runner-gpu"
RUNNER_FILE: Final = ".github/workflows/image-runner-gpu.yml"
TORCH_FILE: Final = ".github/workflows/image-pytorch.yml"


def written(changes: Mapping[str, Any], repository: str | None = None) -> dict[str, str]:
    return kit.files(stacks.settings(changes=changes), IDENTITY, repository=repository)


def workflow(changes: Mapping[str, Any], path: str = RUNNER_FILE) -> Any:
    return yaml.load(written(changes)[path], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def step(document: Any, name: str) -> Any:
    return next(one for one in document["jobs"]["build"]["steps"] if one["name"] == name)


@pytest.fixture(params=FORMS)
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for path, text in written(FORMS[request.param]).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.artefacts
def test_the_recipes_are_complete(repository: Path) -> None:
    for dockerfile in (repository / "docker").glob("*/Dockerfile"):
        copied = re.findall(r"^COPY (?:--chmod=\d+ )?([\w-]+) /", dockerfile.read_text(), re.MULTILINE)

        assert [name for name in copied if not (dockerfile.parent / name).exists()] == []


@pytest.mark.artefacts
def test_the_summary_has_the_lines_of_the_stack_file(tmp_path: Path) -> None:
    document = workflow(ON_ECR)
    printing = step(document, "Print the lines for the stack file")
    summary = tmp_path / "summary"
    environment = {
        "PATH": "/usr/bin:/bin",
        "NAME": "devel",
        "IMAGE": REGISTRY,
        "DIGEST": f"sha256:{'a' * 64}",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    run = run_step("kit", printing, document["jobs"]["build"], world=tmp_path, environment=environment)
    assert (run.code, run.err) == (0, "")
    text = summary.read_text()
    stated = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])

    assert f"`{REGISTRY}@sha256:{'a' * 64}`" in text
    assert stated == {"gpu-ci:images": {"runner-gpu": {"digest": f"sha256:{'a' * 64}"}}}


@pytest.mark.pure
def test_a_stack_without_containers_builds_no_image() -> None:
    assert container_builds(stacks.settings(), IDENTITY) == ()


@pytest.mark.pure
@pytest.mark.parametrize(("name", "found"), [(None, True), ("gpu-images", True), ("vision", False)])
def test_only_the_repository_that_pushes_gets_the_workflow(name: str | None, *, found: bool) -> None:
    assert (RUNNER_FILE in written(ON_ECR, name)) is found


@pytest.mark.pure
def test_the_job_signs_in_to_ecr_with_its_role_on_the_stated_branch() -> None:
    document = workflow(ON_ECR)
    job = document["jobs"]["build"]

    assert document["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert job["if"] == "github.ref == 'refs/heads/trunk'"
    assert step(document, "Sign in to AWS")["with"] == {
        "role-to-assume": role_arn("123456789012", "gpu-ci-staging", "runner-gpu"),
        "aws-region": "us-west-2",
    }
    assert "secrets." not in written(ON_ECR)[RUNNER_FILE]


@pytest.mark.pure
def test_cuda_and_target_come_from_the_stack_file() -> None:
    (variant,) = workflow({**ON_ECR, "images/runner-gpu/cuda": "13.0"})["jobs"]["build"]["strategy"]["matrix"][
        "include"
    ]

    assert variant == {"name": "devel", "target": "devel", "arguments": "CUDA=13.0\n"}


@pytest.mark.pure
def test_every_build_has_a_tag_with_its_commit_and_its_run() -> None:
    build = step(workflow(ON_ECR), "Build and push")["with"]

    assert build["tags"].split("\n")[:-1] == [
        f"{REGISTRY}:${{{{ matrix.name }}}}-${{{{ github.sha }}}}-${{{{ github.run_id }}}}-${{{{ github.run_attempt }}}}"
    ]
    assert build["cache-from"] == f"type=registry,ref={REGISTRY}:cache-${{{{ matrix.name }}}}"
    assert build["cache-to"].startswith(f"{build['cache-from']},mode=max")
    assert build["no-cache"] == "${{ github.event_name == 'schedule' }}"
    assert build["provenance"] == "mode=max"


@pytest.mark.pure
def test_images_of_pytorch_have_the_tags_of_their_combination() -> None:
    document = workflow(TORCH_ON_GCP, TORCH_FILE)
    variants = document["jobs"]["build"]["strategy"]["matrix"]["include"]
    build = step(document, "Build and push")["with"]

    assert [variant["name"] for variant in variants] == [
        "2.15.0-cuda13.2-uv-development",
        "2.15.0-cuda13.2-uv-runtime",
        "2.14.1-cuda13.0-uv-development",
        "2.14.1-cuda13.0-uv-runtime",
    ]
    assert variants[0]["arguments"] == (
        "TORCH=2.15.0-cuda13.2\nBASE_IMAGE=cgr.dev/chainguard/wolfi-base:20261101\nPACKAGES=ffmpeg g++\n"
    )
    assert build["tags"].split("\n")[1:] == [
        "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/pytorch:${{ matrix.name }}",
        "",
    ]
    assert {path for path in written(TORCH_ON_GCP) if path.startswith("docker/pytorch/locks")} == {
        "docker/pytorch/locks/2.15.0-cuda13.2.txt",
        "docker/pytorch/locks/2.14.1-cuda13.0.txt",
    }


@pytest.mark.pure
def test_a_new_image_is_tested_on_a_gpu_by_its_digest() -> None:
    jobs = workflow(TESTED)["jobs"]

    assert jobs["build"]["outputs"] == {"digest": "${{ steps.build.outputs.digest }}"}
    assert jobs["test"]["needs"] == "build"
    assert jobs["test"]["runs-on"] == "gpu-t4-steady"
    assert jobs["test"]["permissions"] == {}
    assert jobs["test"]["container"] == {"image": f"{REGISTRY}@${{{{ needs.build.outputs.digest }}}}"}
    assert jobs["test"]["steps"][-1]["run"] == "check-image runtime 12.9 1"


@pytest.mark.pure
def test_a_runner_without_containers_for_jobs_cannot_test_an_image() -> None:
    changes = {**TESTED, "runners/gpu-t4-steady/arc/container-mode": "none"}

    with pytest.raises(FileError, match=r"container-mode: kubernetes-novolume"):
        written(changes)


@pytest.mark.pure
def test_a_combination_without_a_lock_is_refused_with_the_way_to_create_it() -> None:
    changes = {**TORCH_ON_GCP, "pytorch-images/combinations": ["2.14.1-cuda12.6"]}

    with pytest.raises(FileError, match=r"docker/pytorch/locks/2\.14\.1-cuda12\.6\.txt is missing"):
        written(changes)


@pytest.mark.pure
def test_images_of_pytorch_can_be_in_ecr() -> None:
    registry = next(build.registry for build in container_builds(stacks.settings(changes=TORCH_ON_ECR), IDENTITY))

    assert isinstance(registry, Ecr)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"repository": "runner:1"}, "repository"),
        ({"branch": "main' || true || '"}, "branch"),
        ({"variants": (Variant(name="a", target="a", arguments=(("CUDA", "12.9\nx: y"),)),)}, "arguments.CUDA"),
    ],
)
def test_a_value_that_breaks_the_workflow_is_refused(change: Mapping[str, Any], fault: str) -> None:
    values: dict[str, Any] = {
        "name": "runner-gpu", "recipe": "runner-gpu", "files": (), "repository": REGISTRY, "registry": None,
        "variants": (), "branch": "main", "schedule": "23 4 2 * *", "section": "", **change,
    }  # fmt: skip

    with pytest.raises(FileError, match=fault):
        container_files(ContainerBuild(**values))
