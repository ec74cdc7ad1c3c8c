"""Programs and the token that `pulumi up` needs, checked before the first resource.

Only the real program looks at PATH and at the environment. The result of a plan or a rehearsal must not depend on the
machine. The programs run by their names, because the text of a command is in the state: a path of one machine would be
a change on every other one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pulumi

from gpu_ci.stack_file.sections.settings import Settings

TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105 - the variable's name
SECONDS: Final = 60
"""The longest answer of a program to the question for its version."""


class ToolMissing(pulumi.RunError):
    """A program or the token that the update needs is missing. Pulumi prints the message without a traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that commands of the stack run."""

    name: str
    fix: str
    version: tuple[str, ...] = ("--version",)
    """The arguments by which it prints its version."""
    least: tuple[int, ...] = ()
    """The oldest version that works; empty if any does."""


def fault(tool: Tool) -> str | None:
    """Return why a program cannot be used on this machine, as the end of a sentence; None if it can."""
    path = shutil.which(tool.name, path=_search_path())
    if path is None:
        return "is not on PATH"
    try:
        command = [path, *tool.version]
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({error})"
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        return f"does not run ({path}: {reason.strip()})"
    found = re.search(r"\d+(?:\.\d+)+", done.stdout + done.stderr)
    if tool.least and (found is None or tuple(map(int, found[0].split("."))) < tool.least):
        version = found[0] if found else "of an unknown version"
        return f"is {version} ({path}), and {'.'.join(map(str, tool.least))} or newer is needed"
    return None


def _search_path() -> str:
    """Return the PATH of the commands. Pulumi puts the virtual environment first on that of the program alone."""
    path = os.environ.get("PATH", os.defpath)
    first, _, others = path.partition(os.pathsep)
    return others if first == f"{os.environ.get('VIRTUAL_ENV')}{os.sep}bin" else path


def check(settings: Settings, fault_of: Callable[[Tool], str | None]) -> None:
    """Stop an update if a program or the token is missing; warn in a preview, which does not need it.

    Raises:
        ToolMissing: one is missing, and this is an update.

    """
    missing = [f"{tool.name} {wrong}: {tool.fix}" for tool in _needed(settings) if (wrong := fault_of(tool))]
    at_github = settings.github
    if at_github is not None and (at_github.set_variables or at_github.repositories) and not os.environ.get(TOKEN):
        key = "github.repositories" if at_github.repositories else "github.set-variables"
        fix = f"export a token that may write the settings of the repository, or remove {key}"
        missing.append(f"{TOKEN} is not set: {fix}")
    if not missing:
        return
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(f"the update will fail: {'; '.join(missing)}")
        return
    raise ToolMissing(f"{'; '.join(missing)}. Nothing was started.")


_AWS_CLI: Final = (1, 27, 160)
"""The oldest release that AWS accepts for EKS: https://docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html."""


def _needed(settings: Settings) -> Iterator[Tool]:
    """Yield each program that the stack needs."""
    aws = "install version 2 of the AWS CLI where this runs; it "
    if settings.cluster is not None:
        yield Tool(name="aws", fix=f"{aws}authenticates at the cluster", least=_AWS_CLI)
    elif settings.eks_image is not None or settings.ec2_image is not None:
        yield Tool(name="aws", fix=f"{aws}reads whether the tests of an image passed", least=_AWS_CLI)
    image = settings.host_image
    builds = image is not None and image.mode == "controller"
    if settings.arc is not None:
        fix = "install it where this runs; it checks the listeners of the runners"
        yield Tool(name="kubectl", version=("version", "--client"), fix=fix)
    if settings.arc is not None and not builds:
        fix = "put the interpreter of this program first on PATH; it runs the checks of the listeners"
        yield Tool(name="python3", least=(3, 9), fix=fix)
    if builds:
        fix = "install the Google Cloud CLI where this runs, or state host-image.mode: declared"
        yield Tool(name="gcloud", fix=fix)
        fix = "put the interpreter of this program first on PATH; it builds host-image"
        yield Tool(name="python3", least=(3, 11), fix=fix)
