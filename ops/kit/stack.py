"""The files of a repository that uses the runners of a stack: those of the back ends, workflows, and the container."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from gpu_ci.back_ends.protocol import Repository
from gpu_ci.back_ends.registry import BACK_ENDS, stack_of
from gpu_ci.derived import host_image
from gpu_ci.derived.outputs import gpu_test_image
from gpu_ci.knowledge.software.image_tags import cuda_base
from gpu_ci.repository.container_workflow import container_files
from gpu_ci.repository.docs_workflow import docs_workflow
from gpu_ci.repository.gpu_workflow import PYTHON, workflows
from gpu_ci.repository.image_workflow import GpuTestsImage, image_files
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.settings import Settings
from ops.kit.containers import container_builds
from ops.kit.gpu_tests import branches, entry_files, gpu_tests
from ops.kit.scripts import scripts
from ops.kit.smoke_workflow import smoke_files


def files(
    settings: Settings, identity: Identity, installer: Path = host_image.INSTALLER, *, repository: str | None = None
) -> dict[str, str]:
    """Return every file for a repository, by path. `repository` is an entry of `gpu-tests`."""
    container = gpu_test_image(settings)
    machine_image = None
    if settings.gcp is not None and settings.host_image is not None:
        machine_image = host_image.name(settings.host_image, settings.gcp.region, installer)
    used = {name: BACK_ENDS[runner.back_end] for name, runner in settings.runners.items()}
    wanted = Repository(
        stack=stack_of(settings, identity), back_ends=used, name=repository, machine_image=machine_image
    )
    found: dict[str, str] = {}
    for back_end in used.values():
        found |= back_end.files(wanted)
    found |= scripts(settings)
    tests = gpu_tests(settings, identity, repository, container)
    if tests is not None:
        found |= workflows(tests)
    found |= entry_files(settings, repository)
    found |= smoke_files(settings, repository)
    image = settings.test_image
    if container is not None and image is not None and image.built_by == "workflow":
        found |= image_files(
            GpuTestsImage(
                reference=container,
                cuda_image=cuda_base(image.cuda_image),
                branch=branches(settings)[0],
                arguments=tuple(image.arguments.items()),
            )
        )
    entry = settings.gpu_tests.get(repository) if repository is not None else None
    if entry is not None and entry.docs:
        found |= docs_workflow(entry.docs, branch=branches(settings)[0], python=entry.python or PYTHON)
    tested = tuple(
        PurePosixPath(path).name
        for path, text in found.items()
        # Where `paths` limits the tests, a commit may have none.
        if "- name: Check the GPU" in text and "\n  push:" in text and "\n    paths:" not in text
    )
    for build in container_builds(settings, identity, repository=repository, tested=tested):
        found |= container_files(build)
    return found
