"""The scripts that run before and after every job, and their paths in a runner. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HERE = Path(__file__).parent / "hooks"

MOUNT: Final = "/opt/gpu-ci/hooks"
SCRIPTS: Final = {
    "job-started.sh": (_HERE / "job-started.sh").read_text(encoding="utf-8"),
    "job-completed.sh": (_HERE / "job-completed.sh").read_text(encoding="utf-8"),
}
ENVIRONMENT: Final = {
    "ACTIONS_RUNNER_HOOK_JOB_STARTED": f"{MOUNT}/job-started.sh",
    "ACTIONS_RUNNER_HOOK_JOB_COMPLETED": f"{MOUNT}/job-completed.sh",
}
"""The runner requires absolute paths in its container (actions/runner, 2026)."""
