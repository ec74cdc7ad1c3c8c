"""What a stand-in cloud knows of a type of thing: how it is named, what it points at, what it refuses.

Owns the shapes of the tables; the tables themselves stand one file a cloud beside this one, each with its source and
date. `fakes.cloud` reads them; nothing in them computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fakes.wire import UNKNOWN

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import Thing


class RefusedError(Exception):
    """What a cloud says when it does not do what it was asked."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A property whose value names another thing."""

    path: str
    """Where it stands in the inputs: `subnetIds.*` is each element, `vpcConfig.subnetIds.*` each of a nested list."""
    to: str
    """The type of the thing it names."""
    by: str = "id"
    """Which of that thing's outputs it repeats."""
    missing: str = ""
    """What the cloud says where there is no such thing; empty where it does not look. `{value}` is what was named."""
    foreign: str = ""
    """A regular expression of values that name what is not the stack's own, such as a policy that AWS keeps."""
    holds: bool = True
    """Whether the other thing cannot go while this one is there."""
    follows: bool = False
    """Whether this one goes by itself when the other goes."""
    through: str = ""
    """Where set, `path` names a thing of this type, and it is that thing's property `by` that is shared."""


Check: TypeAlias = Callable[["Cloud", "Thing"], str | None]
"""What no table can say: the cloud's words for a refusal, or nothing."""
ChangeCheck: TypeAlias = Callable[["Cloud", "Thing", Mapping[str, Any]], str | None]
"""The same for a thing that is there, and for the inputs that it is to have."""
Effect: TypeAlias = Callable[["Cloud", "Thing"], None]
"""What a cloud does of its own accord after something was made or has gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One type of thing."""

    type: str
    """Its type token."""
    identity: Sequence[str] = ()
    """The outputs that together no second thing of this type may have; none where only the id counts."""
    taken: str = ""
    """What the cloud says to a second one; `{0}`, `{1}` are the values of `identity`."""
    keeps_name: bool = False
    """Whether the name stays taken after a delete, as where a delete is only a mark for a time."""
    references: Sequence[Reference] = ()
    in_use: str = ""
    """What the cloud says to a delete while something holds it; `{id}` is its id, `{holder}` the holder's."""
    replaced_by: frozenset[str] = frozenset()
    """The input paths, without list positions, whose change makes a new one."""
    delete_first: str = ""
    """The input that, where stated, lets the provider delete before it replaces: it generates the name otherwise."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Input paths and the only words they may hold."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Input paths and how many characters they may have."""
    bumped: Sequence[str] = ()
    """Outputs that count one up with every update."""
    slow: bool = False
    """Whether making it takes minutes: whoever does not wait for it comes too early."""
    before_create: Sequence[Check] = ()
    before_update: Sequence[ChangeCheck] = ()
    before_delete: Sequence[Check] = ()
    after_create: Sequence[Effect] = ()
    after_delete: Sequence[Effect] = ()


def values_at(path: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Every value at `path` with its exact path; what is not there, is null or unknown is passed over."""
    yield from _walk(path.split("."), data, "")


def _walk(parts: Sequence[str], data: Any, walked: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        if data is not None and data != UNKNOWN:
            yield walked, data
        return
    head, rest = parts[0], parts[1:]
    if head == "*" and isinstance(data, list):
        for index, item in enumerate(data):
            yield from _walk(rest, item, f"{walked}[{index}]")
    elif head.isdigit() and isinstance(data, list) and int(head) < len(data):
        yield from _walk(rest, data[int(head)], f"{walked}[{head}]")
    elif isinstance(data, Mapping) and head in data:
        yield from _walk(rest, data[head], f"{walked}.{head}" if walked else head)


def value_at(path: str, data: Any) -> Any:
    """The one value at `path`, or None."""
    return next((value for _, value in values_at(path, data)), None)
