"""The names that the stack and the files of a repository agree on."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from gpu_ci.stack_file.identity import Identity

KIND: Final = "start"
"""The start of the names of its resources; Google Cloud has room for six characters."""
ENVIRONMENT: Final = "gpu-ci"
"""The environment of the repository's jobs that start and stop a machine. It has the secrets of Jarvis Labs."""
FOLDER: Final = ".github/gpu-ci"
"""The folder of the command in a repository."""
_ROLE_LIMIT: Final = 64
"""Characters of the name of an IAM role."""


def role_name(identity: Identity, runner: str) -> str:
    """Return the name of the IAM role that starts and stops the machine of a runner."""
    name = f"{identity.prefix}-{KIND}-{runner}"
    if len(name) <= _ROLE_LIMIT:
        return name
    return f"{name[: _ROLE_LIMIT - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def role_arn(identity: Identity, account: str, runner: str) -> str:
    """Return the ARN of that role, which the workflow assumes."""
    return f"arn:aws:iam::{account}:role/{role_name(identity, runner)}"


def workflow_file(runner: str) -> str:
    """Return the path of the workflow of a runner."""
    return f".github/workflows/gpu-start-stop-{runner}.yml"


def start_job(runner: str) -> str:
    """Return the name of the job that starts the machine."""
    return f"Start {runner}"


def testing_job(runner: str) -> str:
    """Return the name of the job that runs on the machine."""
    return f"Test on {runner}"
