"""What has to be on PATH where `pulumi up` runs, asked before anything is made.

Only who runs the program for real says how to look: a plan, and a rehearsal against stand-in clouds, must come out the
same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.settings import Settings


class ToolMissing(pulumi.RunError):
    """A program that the update would need half-way. Pulumi shows it as a message, without a traceback."""


def check(settings: Settings, on_path: Callable[[str], str | None]) -> None:
    """Stop an update, and warn in a preview, where a program is missing: what only previews needs none.

    Raises:
        ToolMissing: it is missing, and this is an update.

    """
    missing = [f"{tool} is not on PATH: {fix}" for tool, fix in _needed(settings) if on_path(tool) is None]
    if not missing:
        return
    if pulumi.runtime.is_dry_run():
        pulumi.log.warn(f"the update would stop at once: {'; '.join(missing)}")
        return
    raise ToolMissing(f"{'; '.join(missing)}. Nothing was started.")


def _needed(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each program with the way out."""
    image = settings.host_image
    if image is not None and image.mode == "controller":
        yield "gcloud", "install the Google Cloud CLI where this runs, or state host-image.mode: declared"
        yield "python3", "make it the interpreter of this program, which builds host-image"
