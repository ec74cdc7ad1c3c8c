"""A stack with the offers of its back ends: what every check reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from back_ends.registry import BACK_ENDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from back_ends.offer import Offer
    from config.identity import Identity
    from config.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The settings of one stack, its identity, and what each runner is offered."""

    settings: Settings
    identity: Identity
    offers: Mapping[str, Offer]
    """Runner name to the offer of its back end."""

    @classmethod
    def of(cls, settings: Settings, identity: Identity) -> Stack:
        """Ask the back end of each runner for its offer."""
        offers = {
            name: BACK_ENDS[runner.back_end].offer(name, runner, settings) for name, runner in settings.runners.items()
        }
        return cls(settings=settings, identity=identity, offers=offers)
