"""Check that each container image exists in its registry, and that the registry accepts the sign-in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_ci.derived.outputs import gpu_test_image
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.world.source import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.images import ImageSettings
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "image-digest"
NEEDS: Final = ()
ARTIFACTS: Final = "https://artifactregistry.googleapis.com/v1"
_HUB: Final = "registry-1.docker.io"
_ECR: Final = re.compile(r"\d{12}\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/(.+)")
_GOOGLE: Final = re.compile(r"([a-z0-9-]+)-docker\.pkg\.dev/([^/]+)/([^/]+)/(.+)")


def applies(settings: Settings) -> bool:
    """Return whether a runner or its tests use a container image."""
    return bool(settings.images) or settings.test_image is not None


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each image of the stack file."""
    for name, image in world.settings.images.items():
        yield _verdict(world, f"images.{name}", _reference(image), image.digest or image.tag or "")
    container = gpu_test_image(world.settings)
    if container is not None:
        reference, _, tag = container.rpartition(":")
        yield _verdict(world, "test-image", reference, tag)


def _reference(image: ImageSettings) -> str:
    """Return the registry and the repository; only the repository for one of this stack in ECR."""
    return image.reference if image.reference is not None else str(image.repository)


def _verdict(world: World, path: str, reference: str, version: str) -> Verdict:
    pinned = f"{reference}{'@' if version.startswith('sha256:') else ':'}{version}"
    try:
        found = _found(world, path, reference, version)
    except Unanswered as fault:
        return doubtful(
            CHECK,
            path,
            seen=f"the registry does not show {pinned}: {fault.reason}",
            means="these credentials cannot read it; the machines have credentials of their own",
            fix=fault.fix or "sign in to the registry, and run the doctor again",
        )
    if found is None:
        return broken(
            CHECK,
            path,
            seen=f"the registry has no {pinned}",
            means="pods stay in ImagePullBackOff: the image was not pushed, or a clean-up deleted it",
            fix=f"push the image, or state a version that exists in {path}",
        )
    return works(CHECK, path, f"{pinned} exists")


def _found(world: World, path: str, reference: str, version: str) -> Any:
    on_ecr, on_google = _ECR.fullmatch(reference), _GOOGLE.fullmatch(reference)
    is_digest = version.startswith("sha256:")
    if on_ecr is not None or _is_own(world, path):
        wanted = {"imageDigest": version} if is_digest else {"imageTag": version}
        more = {"region": on_ecr[1]} if on_ecr is not None else {}
        repository = on_ecr[2] if on_ecr is not None else reference
        return world.aws.ask("ecr.describe_images", repositoryName=repository, imageIds=[wanted], **more)
    if on_google is not None:
        location, project, repository, image = on_google.groups()
        place = f"{ARTIFACTS}/projects/{project}/locations/{location}/repositories/{repository}"
        encoded = image.replace("/", "%2F")
        if is_digest:
            return world.google.ask(f"{place}/dockerImages/{encoded}@{version}")
        return world.google.ask(f"{place}/packages/{encoded}/tags/{version}")
    host, _, repository = reference.removeprefix("docker.io/").partition("/")
    if "." not in host and ":" not in host:
        host, repository = _HUB, f"{host}/{repository}" if repository else f"library/{host}"
    return world.registry.ask("manifest", host=host, repository=repository, reference=version)


def _is_own(world: World, path: str) -> bool:
    """Return whether an image is in a repository of this stack in ECR."""
    image = world.settings.images.get(path.removeprefix("images."))
    return image is not None and image.repository is not None
