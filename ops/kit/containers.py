"""The container images that a stack asks workflows to build: those of runners, and those of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from components.aws.images.image_push import role_arn
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.repository.container_workflow import RECIPES, ContainerBuild, Ecr, GpuTest, Variant
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.images import ImageBuildSettings
from gpu_ci.stack_file.sections.settings import Settings
from ops.kit.gpu_tests import branches

_RUNNER_FILES: Final = (".dockerignore", "Dockerfile", "README.md", "check-image")


def container_builds(
    settings: Settings, identity: Identity, *, repository: str | None = None, tested: tuple[str, ...] = ()
) -> tuple[ContainerBuild, ...]:
    """Return the images that workflows of `repository` build; of every repository if it is None.

    Args:
        settings: the stack.
        identity: its names.
        repository: the repository.
        tested: the workflows in it that test a commit on a GPU.

    """
    found = [*_runner_images(settings, identity), *_pytorch(settings, identity, tested)]
    return tuple(build for build, pusher in found if repository is None or pusher in {None, repository})


def _runner_images(settings: Settings, identity: Identity) -> Iterator[tuple[ContainerBuild, str | None]]:
    """Yield each image of runners with a workflow, and the name of the repository that pushes it."""
    for name, image in settings.images.items():
        if image.build is None or image.repository is None:
            continue
        pushed = _ecr(settings, identity, image.repository)
        if pushed is None:
            continue
        address, registry, pusher, branch = pushed
        stated = image.build
        yield (
            ContainerBuild(
                name=name,
                recipe="runner-gpu",
                files=_RUNNER_FILES,
                repository=address,
                registry=registry,
                variants=(Variant(name=stated.target, target=stated.target, arguments=(("CUDA", image.cuda),)),),
                branch=branch,
                schedule=stated.schedule,
                section=f"gpu-ci:images:\n  {name}:",
                test=_test(settings, name, stated, image.cuda),
            ),
            pusher,
        )


def _pytorch(
    settings: Settings, identity: Identity, tested: tuple[str, ...]
) -> Iterator[tuple[ContainerBuild, str | None]]:
    """Yield the images of PyTorch. Every repository of `github-federation` can push to Artifact Registry."""
    stated = settings.pytorch_images
    if stated is None:
        return
    path = "pytorch-images.after-tests"
    if stated.after_tests and not tested:
        problem = "no workflow of the repository tests each commit on a GPU"
        raise FileError(path, [Fault(path, problem, "state a runner with a GPU, or remove it")])
    locks = [f"locks/{one}.txt" for one in stated.combinations]
    missing = [lock for lock in locks if not (RECIPES / "pytorch" / lock).is_file()]
    if missing:
        fix = "create it as docker/pytorch/README.md describes"
        path = "pytorch-images.combinations"
        raise FileError(path, [Fault(path, f"docker/pytorch/{lock} is missing", fix) for lock in missing])
    if stated.repository in settings.ecr:
        pushed = _ecr(settings, identity, stated.repository)
        if pushed is None:
            return
        address, registry, pusher, branch = pushed
    elif settings.gcp is not None and stated.repository in settings.artifact_registry:
        region = settings.artifact_registry[stated.repository].region or settings.gcp.region
        address = f"{region}-docker.pkg.dev/{settings.gcp.project}/{stated.repository}/pytorch"
        registry, pusher, branch = None, None, branches(settings)[0]
    else:
        return
    packages = (("PACKAGES", " ".join(stated.packages)),) if stated.packages else ()
    yield (
        ContainerBuild(
            name="pytorch",
            recipe="pytorch",
            files=(".dockerignore", "Dockerfile", "README.md", "install-packages", *locks),
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
            after=tested if stated.after_tests else (),
        ),
        pusher,
    )


def _ecr(settings: Settings, identity: Identity, repository: str) -> tuple[str, Ecr, str, str] | None:
    """Return the address of an ECR repository, its role, and the repository at GitHub and the branch that push."""
    pusher = settings.ecr[repository].pushed_by
    if settings.aws is None or pusher is None:
        return None
    account, region, prefix = settings.aws.account, settings.aws.region, identity.prefix
    address = f"{account}.dkr.ecr.{region}.amazonaws.com/{prefix}/{repository}"
    registry = Ecr(role=role_arn(account, prefix, repository), region=region)
    return address, registry, pusher.repository.partition("/")[2], pusher.branch


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
