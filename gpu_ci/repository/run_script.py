"""The script that runs a repository's GPU tests in their container, in a workflow or by hand.

The container's command is `docker/gpu-tests/run-gpu-tests`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gpu_ci.repository.render import render

RUN_FILE: Final = ".github/gpu-tests/run_gpu_tests.sh"
IMAGE: Final = re.compile(
    r"(?P<host>[a-z0-9-]+-docker\.pkg\.dev)/[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+(:[A-Za-z0-9_][A-Za-z0-9._-]*|@sha256:[0-9a-f]{64})"
)
"""An image in Artifact Registry, by a tag or a digest."""
CACHES: Final = (
    ("uv", "UV_CACHE_DIR"),
    ("huggingface", "HF_HOME"),
    ("torch", "TORCH_HOME"),
)
"""The caches in ~/.cache, and the variable that names each one in the container."""


def run_script(image: str | None, gpus: int, commands: Sequence[str], variables: Sequence[str] = ()) -> str:
    """Return the script that runs `commands` in `image` on a machine with `gpus` GPUs; without an image, directly.

    `variables` are environment variables that the container gets from the caller, if it sets them.
    """
    return render(
        "run_gpu_tests.sh.j2",
        image=image,
        gpus=gpus,
        commands=commands,
        variables=variables,
        caches=CACHES,
        file=RUN_FILE,
    )
