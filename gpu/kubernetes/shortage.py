"""What is said where jobs find no room on their pools: how many, of whom, where to look, and what would be enough.

Owns the words. The reckoning is `gpu.kubernetes.room`'s.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from gpu.kubernetes.quantities import describe
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpu.kubernetes.room import Nodes, Shortage

CHECK = "counts"


class Key(StrEnum):
    """Which number of a runner is reckoned with."""

    MIN = "min"
    MAX = "max"


_WHAT: Final = {Key.MIN: "idle runners are kept", Key.MAX: "jobs are taken"}
_SHOWN: Final = 4
"""So many of a list are named, and the rest counted."""


def told_of(short: Shortage, pools: Mapping[str, Nodes], level: Level, key: Key) -> Verdict:
    """The verdict on a shortage, at the runner that asks for too much by itself, else at a pool that is shared."""
    count, missing = sum(one.count for one in short.jobs), sum(short.missing.values())
    room = count - missing
    several, together = len(short.jobs) > 1, " together" if len(short.pools) > 1 else ""
    where = f"{_listed(short.pools)} {'have' if together else 'has'}"
    wanted, got = (describe(short.resource, amount) for amount in (short.wanted, short.got))
    waiting = f"the other {missing} wait as pending pods" if missing > 1 else "one waits as a pending pod"
    lacking = (
        f"and {where} room for {room}{together}: {waiting}"
        if short.alike
        else f"which ask for {wanted}, and {where} {got} for them{together}: some wait as pending pods"
    )
    names = _listed([f"{one.path.removeprefix('runners.')} {one.count}" for one in short.jobs])
    more = _listed([f"{path}.max to {pools[path].count + nodes}" for path, nodes in short.nodes.items()])
    lower = f"lower the {key} of these runners{f' to {room} in all' if short.alike else ''}"
    chain = [
        f"{copies} jobs of {one.path} find room on one node of {path}, {copies * pools[path].count} on all of them"
        for one in short.jobs
        for path, copies in one.copies.items()
    ]
    greedy = [one.path for one in short.jobs if one.count > one.alone(pools)]
    return Verdict(
        check=CHECK,
        level=level,
        subject=greedy[0] if len(greedy) == 1 else f"{next(iter(short.nodes))}.max",
        reason=f"{count} {_WHAT[key]}{f' ({names})' if several else ''}, {lacking}, and no other pool can take "
        + ("it" if short.alike and missing == 1 else "them"),
        fix=f"{lower}, or raise {more}" if several else f"set its {key} to {room}, or {more}",
        chain=tuple(chain[:_SHOWN]),
    )


def _listed(names: Sequence[str]) -> str:
    """As in `a, b, c, d and 11 more`."""
    more = f"{len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown, last = names[:_SHOWN], more or names[-1]
    return f"{', '.join(shown if more else shown[:-1])} and {last}" if len(names) > 1 else last
