"""All verdicts on a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import checks
from back_ends.stack import Stack

if TYPE_CHECKING:
    from config.identity import Identity
    from config.settings import Settings
    from gpu.verdict import Verdict


def verdicts(settings: Settings, identity: Identity) -> list[Verdict]:
    """Return the verdicts of every check."""
    return checks.verdicts(Stack.of(settings, identity))
