"""Check the scale sets of a cluster: `python3 -m components.kubernetes.arc_check listening NAME`, or `removed`.

`listening` ends when the listener of a scale set has a session at GitHub, and `removed` when no scale set is left. Both
fail with the fix. The kubeconfig is in `GPU_CI_KUBECONFIG`. It needs only `kubectl` and Python 3.9: the command is in
the state, and a destroy runs it with the `python3` of any machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from components.kubernetes.arc_links import (
    CONTROLLER_LOG,
    LISTED,
    UNPROTECTED,
    Objects,
    Problem,
    broken,
    errors,
    leftovers,
    remaining,
)
from components.kubernetes.namespaces import RUNNERS, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Kubectl: TypeAlias = Callable[[Sequence[str]], str]

COMMAND: Final = "python3 -m components.kubernetes.arc_check"
SHELL: Final = ["/bin/sh", "-c"]
KUBECONFIG: Final = "GPU_CI_KUBECONFIG"
RELEASE: Final = "GPU_CI_RELEASE"
"""The URN of a scale set's release."""
UNREACHABLE: Final = "PULUMI_K8S_DELETE_UNREACHABLE"
"""The variable by which Pulumi regards the objects in an unreachable cluster as deleted."""
LISTENING_SECONDS: Final = 300
"""The longest start of a listener: its pod may wait for a system node."""
REMOVED_SECONDS: Final = 120
"""The longest removal of a scale set without a job."""
CALL_SECONDS: Final = 30
"""The longest call of `kubectl`. `--request-timeout` limits one attempt, and not the plug-in that gets a token."""
_PAUSE: Final = 5


class Failed(Exception):
    """The check failed. The message has the fix."""


class KubectlFailed(Failed):
    """`kubectl` failed."""


def listening(name: str, kubectl: Kubectl, *, seconds: float = LISTENING_SECONDS) -> None:
    """Wait until the listener of a scale set has a session.

    Raises:
        Failed: it has none after some time, or waiting does not help.

    """
    release, end = os.environ.get(RELEASE, ""), time.monotonic() + seconds
    while True:
        problem = _problem(name, kubectl, release)
        if problem is None:
            return
        if problem.lasts or time.monotonic() >= end:
            raise Failed(f"{name}: {problem.problem}. {_controller_error(name, kubectl)}Fix: {problem.fix}.")
        time.sleep(min(_PAUSE, seconds))


def _problem(name: str, kubectl: Kubectl, release: str) -> Problem | None:
    try:
        objects = _objects(kubectl)
    except KubectlFailed as error:
        return Problem(problem=str(error), fix="see docs/how-to/unreachable-cluster.md")
    return broken(name, objects, log=_log(name, objects, kubectl), now=_now(), release=release)


def removed(kubectl: Kubectl, *, seconds: float = REMOVED_SECONDS) -> None:
    """Wait until no scale set is left, and remove the finalizers of the accounts that scale sets left.

    Raises:
        Failed: one is left after some time.

    """
    end = time.monotonic() + seconds
    try:
        while left := remaining(objects := _objects(kubectl)):
            if time.monotonic() >= end:
                raise Failed(
                    f"scale sets are still terminating: {'; '.join(left)}. The key of the GitHub App and the controller"
                    f" must exist until they are deleted. Wait until `{LISTED}` lists none, or cancel the jobs at"
                    " GitHub, and run the command again."
                )
            time.sleep(min(_PAUSE, seconds))
        for name in leftovers(objects):
            kubectl(["--namespace", RUNNERS, "patch", name, "--type", "merge", "--patch", UNPROTECTED])
    except KubectlFailed:
        if os.environ.get(UNREACHABLE) != "true":
            raise


def _objects(kubectl: Kubectl) -> Objects:
    """Return the objects of both namespaces; none if the controller was never installed."""
    runners = "autoscalingrunnersets,ephemeralrunnersets,ephemeralrunners,roles,rolebindings,serviceaccounts"
    systems = "autoscalinglisteners,pods"
    items = []
    for namespace, kinds in ((RUNNERS, runners), (SYSTEMS, systems)):
        try:
            printed = kubectl(["--namespace", namespace, "get", kinds, "--output", "json"])
        except KubectlFailed as error:
            if "doesn't have a resource type" in str(error):
                continue
            raise
        items += json.loads(printed)["items"]
    return Objects(items=items)


def _log(name: str, objects: Objects, kubectl: Kubectl) -> str:
    listener = objects.listener(name)
    if listener is None:
        return ""
    try:
        return kubectl(["--namespace", SYSTEMS, "logs", listener["metadata"]["name"], "--tail", "200"])
    except KubectlFailed:
        # The container has not started.
        return ""


def _controller_error(name: str, kubectl: Kubectl) -> str:
    """Return a sentence with the controller's last error about a scale set; empty if it logged none."""
    try:
        lines = kubectl(CONTROLLER_LOG.split()[1:]).splitlines()
    except KubectlFailed:
        return ""
    found = errors("\n".join(line for line in lines if name in line))
    return f"The controller logged: {found[-1][:500]}. " if found else ""


def _now() -> datetime:
    return datetime.now(timezone.utc)  # noqa: UP017 - Python 3.9 has no `UTC`


def kubectl_with(kubeconfig: str) -> Kubectl:
    """Return a function that runs `kubectl` with the kubeconfig in a file, and returns what it prints."""

    def run(words: Sequence[str]) -> str:
        command = ["kubectl", "--kubeconfig", kubeconfig, "--request-timeout", "5s", *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise KubectlFailed(f"`kubectl {' '.join(words)}` did not end within {CALL_SECONDS} seconds") from None
        except FileNotFoundError:
            raise Failed("kubectl is not on PATH: install it where Pulumi runs, and run the command again.") from None
        if done.returncode:
            # The lines before the last one are repeated attempts.
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise KubectlFailed(f"`kubectl {' '.join(words)}` failed: {reason}")
        return done.stdout

    return run


def main(words: Sequence[str]) -> int:
    """Run a check; return the exit code."""
    with tempfile.NamedTemporaryFile("w", suffix=".kubeconfig", encoding="utf-8") as file:
        file.write(os.environ[KUBECONFIG])
        file.flush()
        kubectl = kubectl_with(file.name)
        try:
            if words[0] == "listening":
                listening(words[1], kubectl)
            else:
                removed(kubectl)
        except Failed as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
