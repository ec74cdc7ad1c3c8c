"""The back ends by the name of their package, and the stack with their offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.back_ends import NAMES
from gpu_ci.back_ends.parts import part
from gpu_ci.back_ends.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu_ci.back_ends.protocol import BackEnd
    from gpu_ci.stack_file.identity import Identity
    from gpu_ci.stack_file.sections.settings import Settings

BACK_ENDS: Final[Mapping[str, BackEnd]] = {name: part(name, "back_end", "BACK_END") for name in NAMES}
"""Every back end that `back_ends.NAMES` lists, in its order."""


def stack_of(settings: Settings, identity: Identity) -> Stack:
    """Ask the back end of each runner for its offer."""
    offers = {
        name: BACK_ENDS[runner.back_end].offer(name, runner, settings) for name, runner in settings.runners.items()
    }
    return Stack(settings=settings, identity=identity, offers=offers)
