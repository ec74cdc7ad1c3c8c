"""Check that machines of a runner's own have an alternative when one kind of spot machine is not available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu.verdict import warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from back_ends.stack import Stack
    from gpu.verdict import Verdict

CHECK: Final = "counts"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the machine types and zones of runners that only request spot machines."""
    for offer in stack.offers.values():
        own = offer.own
        if own is None or not all(placement.spot for placement in own.placements):
            continue
        # No zones are stated where the cloud chooses one.
        zones = {zone for placement in own.placements for zone in placement.zones}
        single = [what for what, several in (("type", set(own.types)), ("zone", zones)) if len(several) == 1]
        if single:
            more = " and ".join(f"{what}s" for what in single)
            yield warning(
                CHECK,
                own.spot_key,
                f"spot with one {' and one '.join(single)} and no fallback: without spot capacity jobs get no machine",
                f"add more {more}, or state [true, false] to fall back to on-demand",
            )
