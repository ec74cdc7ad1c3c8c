"""Programs and the token that `pulumi up` needs, checked before the first resource.

Only the real program looks at PATH and at the environment. The result of a plan or a rehearsal must not depend on the
machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final

import pulumi

from gpu_ci.stack_file.sections.settings import Settings

TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105 - the variable's name


class ToolMissing(pulumi.RunError):
    """A program or the token that the update needs is missing. Pulumi prints the message without a traceback."""


def check(settings: Settings, on_path: Callable[[str], str | None]) -> None:
    """Stop an update if a program or the token is missing; warn in a preview, which does not need it.

    Raises:
        ToolMissing: one is missing, and this is an update.

    """
    missing = [f"{tool} is not on PATH: {fix}" for tool, fix in _needed(settings) if on_path(tool) is None]
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


def _needed(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each program that the stack needs, with the fix."""
    if settings.cluster is not None:
        yield "aws", "install version 2 of the AWS CLI where this runs; it authenticates at the cluster"
    elif settings.eks_image is not None or settings.ec2_image is not None:
        yield "aws", "install version 2 of the AWS CLI where this runs; it reads whether the tests of an image passed"
    if settings.arc is not None:
        yield "kubectl", "install it where this runs; it checks the listeners of the runners"
        yield "python3", "make it the interpreter of this program, which runs the checks"
    image = settings.host_image
    if image is not None and image.mode == "controller":
        yield "gcloud", "install the Google Cloud CLI where this runs, or state host-image.mode: declared"
        yield "python3", "make it the interpreter of this program, which builds host-image"
