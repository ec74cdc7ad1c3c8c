"""A program's surroundings with the machine taken out of them.

The provider packages fill inputs that a program leaves open from environment variables: a region, a kubeconfig, a
project. A plan made on a laptop with `AWS_REGION` set would differ from the same plan in a pipeline. What a plan
says comes from the stack file alone, so these variables are out of sight while the program runs.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

_PREFIXES: Final = (
    *("AWS_", "CLOUDSDK_", "GCLOUD_", "GCP_", "GOOGLE_"),
    *("BUILDKIT_", "BUILDX_", "DOCKER_"),
    *("PULUMI_CONFIG", "PULUMI_K8S_"),
)
_NAMES: Final = frozenset({"KUBECONFIG", "PULUMI_DISABLE_RESOURCE_REFERENCES", "PULUMI_ENABLE_LEGACY_APPLY"})
_STRICT: Final = {"PULUMI_ERROR_OUTPUT_STRING": "1"}
"""An Output in an f-string raises, where by default a warning's sentence would end up in a resource."""


@contextlib.contextmanager
def surroundings() -> Generator[None]:
    """Hide what the provider packages would read from the environment; put everything back afterwards."""
    hidden = {name: value for name, value in os.environ.items() if name.startswith(_PREFIXES) or name in _NAMES}
    replaced = {name: os.environ.get(name) for name in _STRICT}
    for name in hidden:
        del os.environ[name]
    os.environ.update(_STRICT)
    try:
        yield
    finally:
        os.environ.update(hidden)
        for name, value in replaced.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
