"""The container images that a stack asks workflows to build: those of runners, and those of PyTorch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from components.aws.images.image_push import role_arn
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.repository.container_workflow import RECIPES, ContainerBuild, Ecr, GpuTest, Variant
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.images import ImageBuildSettings, WorkflowSettings
from gpu_ci.stack_file.sections.settings import Settings
from ops.kit.gpu_tests import branches

_TESTS: Final = re.compile(r"^name: GPU tests( on .+)?$", re.MULTILINE)
"""The name of a workflow that tests every push to the main branch on a GPU."""
_Build = tuple[ContainerBuild, str | None, str | None]
"""Images with a workflow, the name of the repository that pushes them, and the key by which they wait for GPU tests."""
_FILES: Final = (".dockerignore", "Dockerfile", "README.md", "check-image")


def container_builds(
    settings: Settings, identity: Identity, *, repository: str | None = None, written: Mapping[str, str] | None = None
) -> tuple[ContainerBuild, ...]:
    """Return the images that workflows of `repository` build; of every repository if it is None.

    Builds can wait for the GPU tests in `written`, the other files of the repository.
    """
    found = [*_runner_images(settings, identity), *_pytorch(settings, identity)]
    return tuple(
        replace(build, tested_by=_tests(waits, written or {})) if waits else build
        for build, pusher, waits in found
        if repository is None or pusher in {None, repository}
    )


def _runner_images(settings: Settings, identity: Identity) -> Iterator[_Build]:
    """Yield each image of runners with a workflow."""
    for name, image in settings.images.items():
        stated = image.build
        if stated is None:
            continue
        pushed = _pushed(settings, identity, stated, image.repository, image.reference)
        if pushed is None:
            continue
        address, registry, pusher, branch = pushed
        yield (
            ContainerBuild(
                name=name,
                recipe="runner-gpu",
                files=_FILES,
                repository=address,
                registry=registry,
                variants=(Variant(name=stated.target, target=stated.target, arguments=(("CUDA", image.cuda),)),),
                branch=branch,
                schedule=stated.schedule,
                section=f"gpu-ci:images:\n  {name}:",
                test=_test(settings, name, stated, image.cuda),
            ),
            pusher,
            f"images.{name}.build.after-gpu-tests" if stated.after_gpu_tests else None,
        )


def _pytorch(settings: Settings, identity: Identity) -> Iterator[_Build]:
    """Yield the images of PyTorch. Every repository of `github-federation` can push to Artifact Registry."""
    stated = settings.pytorch_images
    if stated is None:
        return
    locks = [f"locks/{one}.txt" for one in stated.combinations]
    missing = [lock for lock in locks if not (RECIPES / "pytorch" / lock).is_file()]
    if missing:
        fix = "create it as docker/pytorch/README.md describes"
        path = "pytorch-images.combinations"
        raise FileError(path, [Fault(path, f"docker/pytorch/{lock} is missing", fix) for lock in missing])
    pushed = _pushed(settings, identity, stated, stated.repository, stated.reference)
    if pushed is None:
        return
    address, registry, pusher, branch = pushed
    packages = (("PACKAGES", " ".join(stated.packages)),) if stated.packages else ()
    yield (
        ContainerBuild(
            name="pytorch",
            recipe="pytorch",
            files=(*_FILES, "install-packages", *locks),
            repository=address,
            registry=registry,
            variants=tuple(
                Variant(
                    name=f"{combination}-uv-{target}",
                    target=target,
                    arguments=(("TORCH", combination), ("BASE_IMAGE", stated.base), *packages),
                )
                for combination in stated.combinations
                for target in stated.targets
            ),
            branch=branch,
            schedule=stated.schedule,
            section="",
            moving=True,
        ),
        pusher,
        "pytorch-images.after-gpu-tests" if stated.after_gpu_tests else None,
    )


def _pushed(
    settings: Settings, identity: Identity, build: WorkflowSettings, repository: str | None, reference: str | None
) -> tuple[str, Ecr | None, str | None, str] | None:
    """Return the address of the images, its role on AWS, and the repository at GitHub and the branch that push."""
    if repository is None:
        owner = build.pushed_by
        return (reference, None, owner.partition("/")[2], branches(settings)[0]) if reference and owner else None
    if repository not in settings.ecr and settings.gcp is not None:
        region = settings.artifact_registry[repository].region or settings.gcp.region
        address = f"{region}-docker.pkg.dev/{settings.gcp.project}/{repository}/pytorch"
        return address, None, None, branches(settings)[0]
    pusher = settings.ecr[repository].pushed_by
    if settings.aws is None or pusher is None:
        return None
    account, region, prefix = settings.aws.account, settings.aws.region, identity.prefix
    address = f"{account}.dkr.ecr.{region}.amazonaws.com/{prefix}/{repository}"
    registry = Ecr(role=role_arn(account, prefix, repository), region=region)
    return address, registry, pusher.repository.partition("/")[2], pusher.branch


def _tests(path: str, written: Mapping[str, str]) -> tuple[str, ...]:
    """Return the workflows of GPU tests that a build waits for.

    Raises:
        FileError: no workflow tests every commit.

    """
    found = {PurePosixPath(file).name: text for file, text in written.items() if _TESTS.search(text)}
    if found and not any("\n    paths:\n" in text for text in found.values()):
        return tuple(found)
    problem = "its GPU tests skip commits by their paths" if found else "the repository has no GPU tests"
    raise FileError(path, [Fault(path, problem, "remove it, or the key paths" if found else "remove it")])


def _test(settings: Settings, name: str, stated: ImageBuildSettings, cuda: str) -> GpuTest | None:
    """Return the job that tests the image on a GPU.

    Raises:
        FileError: jobs of the runner cannot state a container.

    """
    if stated.test_on is None:
        return None
    runner = settings.runners[stated.test_on]
    asked = BACK_ENDS[runner.back_end].runs_on(stated.test_on, runner)
    if asked.job_container is not True:
        path = f"images.{name}.build.test-on"
        problem = f"jobs of {stated.test_on} do not run in the container that they state"
        if asked.job_container is None:
            problem = f"the machine of {stated.test_on} cannot pull from the private repository of the image"
        raise FileError(path, [Fault(path, problem, asked.container_fix or "name another runner, or remove it")])
    return GpuTest(runner=asked.label, command=f"check-image {stated.target} {cuda} {runner.needs.gpus}")
