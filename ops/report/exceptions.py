"""The exceptions of a stack, compared with those of the base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_ci.policy.exceptions import ALLOWING

if TYPE_CHECKING:
    from ops.plan.exceptions import ListedException


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """An exception of the stack, or one of the base that the stack does not have any more."""

    name: str
    check: str
    subject: str
    reason: str
    until: str
    change: str
    """The difference from the base: `new`, `changed`, `removed`, or empty."""
    state: str
    """`valid`, `ends soon`, `expired`, `too long`, `unused`, or empty for a removed one."""

    @property
    def status(self) -> str:
        """The difference and the state in words."""
        return ", ".join(filter(None, (self.change, self.state)))


def noted(now: Iterable[ListedException], before: Iterable[Mapping[str, Any]]) -> tuple[Noted, ...]:
    """Return the exceptions of the stack and the removed ones; `before` are those of the base as plain data."""
    return tuple(_noted([one.to_data() for one in now], {one["name"]: one for one in before}))


_STATED = ("check", "subject", "reason", "until")


def _noted(now: list[dict[str, Any]], before: dict[str, Mapping[str, Any]]) -> Iterator[Noted]:
    for one in now:
        old = before.pop(one["name"], None)
        same = old is not None and all(old[key] == one[key] for key in _STATED)
        unused = one["state"] in ALLOWING and not one["allows"]
        yield Noted(
            name=one["name"],
            **{key: one[key] for key in _STATED},
            change="new" if old is None else "" if same else "changed",
            state="unused" if unused else one["state"],
        )
    for name, old in before.items():
        yield Noted(name=name, **{key: old[key] for key in _STATED}, change="removed", state="")
