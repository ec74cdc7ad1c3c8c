"""The workflows that build container images: linters, the registry and its role, tags, caches and the test on a GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.aws.images.image_push import role_arn
from gpu_ci.repository.container_workflow import ContainerBuild, Variant, container_files
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from ops.kit.containers import container_builds
from tests.artefacts.callers import run_step
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter
from tests.stack_file import stacks
from tests.tables import OUT

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
ON_GITHUB: Final[Mapping[str, Any]] = {
    "images/runner-gpu/repository": OUT,
    "images/runner-gpu/reference": "ghcr.io/example-org/runner-gpu",
    "images/runner-gpu/build": {
        "pushed-by": "example-org/gpu-images",
        "test-on": "gpu-t4-steady",
        "after-gpu-tests": True,
    },
    "runners/gpu-t4-steady/arc/container-mode": "kubernetes-novolume",
    "github-federation/branches": ["trunk"],
}
TORCH_ON_DOCKER_HUB: Final[Mapping[str, Any]] = {
    "pytorch-images/reference": "docker.io/example/pytorch",
    "pytorch-images/pushed-by": "example-org/vision",
    "pytorch-images/combinations": ["2.14.1-cuda13.0"],
}
VALUES: Final = {"WORKFLOWS": "w", "COMMIT": "c0ffee", "BRANCH": "trunk"}
NO_CLOUD: Final = "examples/jarvis.yaml"
FORMS: Final = {
    "runner": ON_ECR,
    "runner on ghcr.io": ON_GITHUB,
    "tested": TESTED,
    "torch on Docker Hub": {**TORCH_ON_DOCKER_HUB},
    "torch on ECR": TORCH_ON_ECR,
    "torch on Artifact Registry": TORCH_ON_GCP,
}
REGISTRY: Final = "123456789012.dkr.ecr.us-west-2.amazonaws.com/gpu-ci-staging/runner-gpu"
RUNNER_FILE: Final = ".github/workflows/image-runner-gpu.yml"
TORCH_FILE: Final = ".github/workflows/image-pytorch.yml"


def written(changes: Mapping[str, Any], repository: str | None = None) -> dict[str, str]:
    name = NO_CLOUD if changes is TORCH_ON_DOCKER_HUB else stacks.STAGING
    return kit.files(stacks.settings(name, changes), IDENTITY, repository=repository)


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
def test_every_context_has_the_files_that_it_allows(repository: Path) -> None:
    for context in (repository / "docker").glob("*"):
        allowed = re.findall(r"^!(\S+)$", (context / ".dockerignore").read_text(), re.MULTILINE)
        assert [name for name in allowed if not list(context.glob(name))] == []


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
        "RUNNER": "2.338.0",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    run = run_step("kit", printing, document["jobs"]["build"], world=tmp_path, environment=environment)
    assert (run.code, run.err) == (0, "")
    text = summary.read_text()
    stated = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])

    assert f"`{REGISTRY}@sha256:{'a' * 64}`" in text
    assert stated == {"gpu-ci:images": {"runner-gpu": {"digest": f"sha256:{'a' * 64}", "runner": "2.338.0"}}}


@pytest.mark.artefacts
@pytest.mark.parametrize(("digest", "code"), [(f"sha256:{'b' * 64}", 0), ("null", 1)])
def test_a_build_gets_the_newest_runner_by_digest(tmp_path: Path, digest: str, code: int) -> None:
    commands = FakeCommands(tmp_path)
    commands.add("gh", "echo v2.338.0")
    commands.add("docker", f'echo \'{{"mediaType": "index", "digest": "{digest}"}}\'')
    commands.add("jq", f'exec {linter("jq")} "$@"')
    script = step(workflow(ON_ECR), "Find the newest runner")
    environment = {"RUNNER": script["env"]["RUNNER"], "GITHUB_OUTPUT": str(tmp_path / "output")}
    run = commands.run_step("kit", script, workflow(ON_ECR)["jobs"]["build"], environment=environment)
    arguments = step(workflow(ON_ECR), "Build and push")["with"]["build-args"]

    assert (run.code, "has no digest" in run.out) == (code, code == 1)
    assert any("imagetools inspect ghcr.io/actions/actions-runner:2.338.0 " in call for call in commands.calls())
    assert arguments.split("\n")[1] == "RUNNER_IMAGE=${{ steps.runner.outputs.image }}"
    if code == 0:
        outputs = (tmp_path / "output").read_text()
        assert outputs == f"version=2.338.0\nimage=ghcr.io/actions/actions-runner:2.338.0@{digest}\n"


def runs(*states: tuple[int, str, str | None, str]) -> str:
    """Return an answer of GitHub: runs with their number, status, conclusion and event."""
    keys = ("run_number", "status", "conclusion", "event")
    return json.dumps({"workflow_runs": [dict(zip(keys, state, strict=True)) for state in states]})


@pytest.mark.artefacts
@pytest.mark.parametrize(
    ("answers", "result", "pauses"),
    [
        ([runs((4, "completed", "success", "push"))], "success", 0),
        ([runs(), runs((4, "queued", None, "push")), "502", runs((4, "completed", "success", "push"))], "success", 3),
        ([runs((3, "completed", "success", "push"), (5, "completed", "failure", "push"))], "failure", 0),
        ([runs((4, "completed", "success", "pull_request"))], "missing", 20),
    ],
)
def test_an_image_is_built_after_the_gpu_tests_of_its_commit(
    tmp_path: Path, answers: list[str], result: str, pauses: int
) -> None:
    """Give the answers one after another, the last one again and again. The filter of the workflow reads them."""
    commands = FakeCommands(tmp_path)
    commands.add("sleep")
    for number, answer in enumerate(answers):
        (tmp_path / str(number)).write_text(answer)
    last = f'n=$(($(grep -c ^sleep "{commands.log}") < {len(answers)} ? $(grep -c ^sleep "{commands.log}") : {len(answers) - 1}))'
    commands.add("gh", f'{last}; {linter("jq")} --raw-output "${{@: -1}}" "{tmp_path}/$n"')
    jobs = workflow(ON_GITHUB)["jobs"]
    (wait,) = jobs["tests"]["steps"]
    run = commands.run_step("kit", wait, jobs["tests"], environment={**wait["env"], **VALUES})

    assert (run.code, commands.calls().count("sleep 30")) == (int(result != "success"), pauses)
    assert (f"gpu-tests.yml of c0ffee ended with {result}" in run.out) is (result != "success")
    assert (jobs["build"]["needs"], jobs["test"]["needs"]) == ("tests", "build")
    assert {call.split()[4] for call in commands.calls() if call.startswith("gh")} == {"w/gpu-tests.yml/runs"}


@pytest.mark.pure
def test_a_build_waits_for_the_tests_that_a_repository_has() -> None:
    stated = {**TORCH_ON_DOCKER_HUB, "pytorch-images/after-gpu-tests": True}
    found = kit.files(stacks.settings(NO_CLOUD, stated), IDENTITY, repository="vision")
    assert "\n          TESTS: gpu-start-stop-jarvis-l4.yml\n" in found[TORCH_FILE]

    paths = {**stated, "gpu-tests/vision": {"paths": ["src/**"]}}
    for settings, problem in (
        (stacks.settings(changes=paths), "its GPU tests skip commits by their paths"),
        (stacks.settings(NO_CLOUD, {**stated, "runners": OUT}), "the repository has no GPU tests"),
    ):
        with pytest.raises(FileError, match=rf"pytorch-images\.after-gpu-tests: {problem}"):
            kit.files(settings, IDENTITY, repository="vision")


@pytest.mark.pure
def test_images_are_pushed_to_github_and_docker_hub_without_a_cloud() -> None:
    github, hub = workflow(ON_GITHUB), workflow(TORCH_ON_DOCKER_HUB, TORCH_FILE)
    login = [step(document, "Sign in to the registry") for document in (github, hub)]

    assert [job["permissions"] for job in (github["jobs"]["build"], github["jobs"]["test"])] == [
        {"contents": "read", "packages": "write"},
        {"packages": "read"},
    ]
    assert hub["jobs"]["build"]["permissions"] == {"contents": "read"}
    assert [one["env"] for one in login] == [
        {"REGISTRY": "ghcr.io", "USERNAME": "${{ github.actor }}", "PASSWORD": "${{ github.token }}"},
        {
            "REGISTRY": "docker.io",
            "USERNAME": "${{ secrets.DOCKERHUB_USERNAME }}",
            "PASSWORD": "${{ secrets.DOCKERHUB_TOKEN }}",
        },
    ]
    assert github["jobs"]["build"]["if"] == "github.ref == 'refs/heads/trunk'"
    assert step(hub, "Build and push")["with"]["tags"].split("\n")[1] == "docker.io/example/pytorch:${{ matrix.name }}"
    assert [one["name"] for one in hub["jobs"]["build"]["strategy"]["matrix"]["include"]] == [
        "2.14.1-cuda13.0-uv-development",
        "2.14.1-cuda13.0-uv-runtime",
    ]
    assert TORCH_FILE not in written(TORCH_ON_DOCKER_HUB, "audio")


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
    assert step(document, "Sign in to the registry")["run"].endswith(
        "configure-docker us-central1-docker.pkg.dev --quiet"
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
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"runners/gpu-t4-steady/arc/container-mode": "none"}, "state container-mode: kubernetes-novolume"),
        ({"images/runner-gpu/build/test-on": "cirun-gcp-gpu"}, "cannot pull from the private repository"),
    ],
)
def test_a_runner_without_containers_for_jobs_cannot_test_an_image(changes: dict[str, str], reason: str) -> None:
    with pytest.raises(FileError, match=reason):
        written({**TESTED, **changes})


@pytest.mark.pure
def test_a_combination_without_a_lock_is_refused_with_the_way_to_create_it() -> None:
    changes = {**TORCH_ON_GCP, "pytorch-images/combinations": ["2.14.1-cuda12.6"]}

    with pytest.raises(FileError, match=r"docker/pytorch/locks/2\.14\.1-cuda12\.6\.txt is missing"):
        written(changes)


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
