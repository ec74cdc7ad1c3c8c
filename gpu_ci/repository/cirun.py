"""The format of `.cirun.yml` and `.cirun.global.yml`: names of files, labels and keys.

The keys are those of cirun's reference (AktechLabs/cirun-docs, `docs/reference/yaml.md`, 18 May 2026).
`gpu_ci.repository.cirun_runners` writes the file of a stack, `gpu_ci.repository.cirun_checks` checks a file, and
`ops.kit.migrate` updates an old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpu_ci.repository.documents import dump_yaml, load_yaml

FILE: Final = ".cirun.yml"
GLOBAL_FILE: Final = ".cirun.global.yml"
"""The file in the repository `.cirun` of an organisation: runners for all its repositories."""
ADDED_BY_CIRUN: Final = frozenset({"self-hosted", "linux", "x64", "cirun", "cirun.io", "cpu", "aws", "gcp", "azure"})
"""Labels that cirun adds to every runner."""
GCP_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
"""The scope of a machine, so that only IAM limits its access."""

KEYS: Final = (
    "name", "cloud", "gpu", "instance_type", "machine_image", "region", "preemptible", "labels", "extra_config", "idle",
)  # fmt: skip
"""The keys of a runner, in the order of the reference."""
EXTRA_KEYS: Final = (
    "BlockDeviceMappings", "additionalDisk", "baseDisk", "cache", "env_vars", "existingDisk", "networkInterfaces",
    "project_id", "provision_via", "run_as", "runner_path", "runner_user", "serviceAccounts", "storageProfile",
)  # fmt: skip
"""The keys of `extra_config` on all clouds."""
TRIED_IN_STEP: Final = ("instance_type", "machine_image", "region", "preemptible")
"""Keys that may be lists. cirun tries the first entry of every list, then the second; a single value never changes."""


def read(text: str) -> list[dict[str, Any]]:
    """Return the runners of a file that `render` wrote."""
    document: Any = load_yaml(text, FILE)
    runners: list[dict[str, Any]] = document["runners"]
    return runners


def render(document: Mapping[str, Any], header: Sequence[str] = ()) -> str:
    """Return the text of a file, with the keys of each runner in the order of cirun's reference."""
    return dump_yaml({**document, "runners": [_ordered(runner) for runner in document["runners"]]}, header)


def _ordered(runner: Mapping[str, Any]) -> dict[str, Any]:
    return {key: runner[key] for key in (*KEYS, *(key for key in runner if key not in KEYS)) if key in runner}
