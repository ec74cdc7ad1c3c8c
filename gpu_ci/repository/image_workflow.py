"""The workflow that builds the container of a repository's GPU tests, and the files that it is built from.

The files are a copy of `docker/gpu-tests`. The job signs in with Workload Identity Federation, without a key. The name
of the identity provider contains a project number, which the stack file does not have, so it is a repository variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from gpu_ci.repository.actions import AUTH, BUILD_PUSH, CHECKOUT, SETUP_BUILDX, SETUP_GCLOUD
from gpu_ci.repository.documents import BRANCH, check_values
from gpu_ci.repository.render import render
from gpu_ci.repository.run_script import IMAGE, RUN_FILE

IMAGE_FILE: Final = ".github/workflows/gpu-test-image.yml"
FOLDER: Final = str(PurePosixPath(RUN_FILE).parent)
"""Where the recipe lies in a repository: pytest does not look into folders that begin with a dot."""
PROVIDER: Final = "GPU_CI_WORKLOAD_IDENTITY_PROVIDER"
"""The repository variable that names the identity provider."""

_RECIPE: Final = Path(__file__).resolve().parents[2] / "docker" / "gpu-tests"
_FILES: Final = (
    ".dockerignore",
    "Dockerfile",
    "check-image",
    "requirements.in",
    "requirements.txt",
    "run-gpu-tests",
    "tests/pytest.ini",
    "tests/test_gpu_smoke.py",
)
_CUDA_IMAGE: Final = r"[a-z0-9][a-z0-9.-]*(:\d+)?(/[a-z0-9._-]+)+:[A-Za-z0-9._-]+(@sha256:[0-9a-f]{64})?"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTestsImage:
    """The container of the GPU tests of a repository."""

    reference: str
    """`REGION-docker.pkg.dev/PROJECT/REPOSITORY/gpu-tests:TAG`."""
    cuda_image: str
    """The base image with its tag, and optionally its digest."""
    branch: str = "main"
    """The branch that builds it."""
    arguments: tuple[tuple[str, str], ...] = ()
    """More arguments of the build."""

    @property
    def hosts(self) -> str:
        """Return the registries of Google Cloud for the image and its base."""
        return google_hosts(self.reference, self.cuda_image)


def google_hosts(*images: str) -> str:
    """Return the registries of Google Cloud for these images, as `gcloud auth configure-docker` takes them."""
    hosts = dict.fromkeys(image.partition("/")[0] for image in images)
    return ",".join(host for host in hosts if host.endswith("-docker.pkg.dev"))


def image_files(image: GpuTestsImage) -> dict[str, str]:
    """Return the workflow and the files of the container, by path.

    Raises:
        FileError: a value is not safe in a workflow.

    """
    check_values(
        IMAGE_FILE,
        [
            ("reference", image.reference, IMAGE.pattern, "REGION-docker.pkg.dev/PROJECT/REPOSITORY/NAME:TAG"),
            ("cuda_image", image.cuda_image, _CUDA_IMAGE, "an image with its tag"),
            ("branch", image.branch, BRANCH, "a branch"),
        ],
    )
    pins = {
        "checkout": CHECKOUT,
        "auth": AUTH,
        "setup_gcloud": SETUP_GCLOUD,
        "setup_buildx": SETUP_BUILDX,
        "build_push": BUILD_PUSH,
    }
    workflow = render("gpu-test-image.yml.j2", image=image, folder=FOLDER, file=IMAGE_FILE, provider=PROVIDER, **pins)
    recipe = {f"{FOLDER}/{name}": (_RECIPE / name).read_text(encoding="utf-8") for name in _FILES}
    return {IMAGE_FILE: workflow, **recipe}
