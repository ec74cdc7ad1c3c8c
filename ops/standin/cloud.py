"""The stand-in cloud: what there is, and what a cloud would refuse.

One for all the packages of a rehearsal, since Kubernetes stands on EKS. Owns the objects, their names and their
references, and applies the tables of `ops.standin.kinds`; what a create answers is `ops.answers`. It knows nothing of
Pulumi's protocol: that is `ops.standin.provider`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from ops.answers import Place, computed
from ops.plan import UNKNOWN
from ops.standin.kinds import Kind, Reference, RefusedError, value_at, values_at
from ops.standin.tables import kind_of


class Phase(StrEnum):
    """How far a thing is."""

    CREATING = "creating"
    READY = "ready"
    DELETING = "deleting"


@dataclass(slots=True, kw_only=True)
class Thing:
    """One object in the cloud."""

    kind: Kind
    id: str
    urn: str
    """By which URN it was made; empty where the cloud made it of its own accord."""
    name: str
    """The last part of that URN."""
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    home: str = ""
    """The ARN of the cluster it is inside; empty where it is in none."""
    phase: Phase = Phase.CREATING

    @property
    def type(self) -> str:
        """Its type token."""
        return self.kind.type

    def at(self, path: str) -> Any:
        """The value at `path` of its outputs; `id` is its id."""
        return self.id if path == "id" else value_at(path, self.outputs)

    def __str__(self) -> str:
        """How it is called in a list of what was left."""
        return f"{self.type} {self.id}"


Kinds: TypeAlias = Callable[[str], Kind]
"""Type token to what is known of it; raises `RefusedError` for a type that no table knows."""


class Answering(Protocol):
    """What tells what a cloud answers, as `ops.answers.computed` does."""

    def __call__(
        self, type_: str, name: str, urn: str, inputs: Mapping[str, Any], *, place: Place
    ) -> tuple[str, dict[str, Any]]:
        """The id, and what the cloud computes beside the inputs."""


@dataclass(slots=True, kw_only=True)
class Cloud:
    """Everything there is, under one lock."""

    kinds: Kinds = kind_of
    answer: Answering = computed
    pace: float = 0.1
    """Seconds that slow things take to be made."""
    place: Place = field(default_factory=Place)
    """The accounts that the providers were configured for."""
    home: str = ""
    """The cluster that the Kubernetes provider was last configured for, by its ARN."""
    _things: dict[tuple[str, str], Thing] = field(default_factory=dict)
    _names: dict[tuple[str, ...], str] = field(default_factory=dict)
    _made: dict[str, int] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __iter__(self) -> Iterator[Thing]:
        """Everything, whatever its phase."""
        with self._lock:
            return iter(list(self._things.values()))

    def __len__(self) -> int:
        return len(self._things)

    def of(self, type_: str) -> list[Thing]:
        """What is ready or going, of one type."""
        return [thing for thing in self if thing.type == type_ and thing.phase is not Phase.CREATING]

    def find(self, type_: str, id_: str) -> Thing | None:
        """The thing of this type and id."""
        return self._things.get((type_, id_))

    def check(self, type_: str, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What can be seen to be wrong before anything is made: property and reason."""
        kind = self.kinds(type_)
        wrong = []
        for path, words in kind.words.items():
            listed = " ".join(f'"{word}"' for word in words)
            wrong += [
                (exact, f"expected {exact} to be one of [{listed}], got {value}")
                for exact, value in values_at(path, inputs)
                if value not in words
            ]
        for path, most in kind.lengths.items():
            wrong += [
                (exact, f"expected length of {exact} to be in the range (1 - {most}), got {value}")
                for exact, value in values_at(path, inputs)
                if len(str(value)) > most
            ]
        return wrong

    def create(self, type_: str, name: str, urn: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Make a thing; returns its id and what the cloud computed.

        Raises:
            RefusedError: in the cloud's words.

        """
        kind = self.kinds(type_)
        with self._lock:
            made = self._made.get(urn, 0)
            # A replacement is another thing with another id, while the URN stays.
            id_, extra = self.answer(type_, name, urn if not made else f"{urn}#{made + 1}", inputs, place=self.place)
            thing = Thing(kind=kind, id=id_, urn=urn, name=name, inputs=inputs, outputs={**inputs, **extra})
            thing.home = self.home if type_.startswith("kubernetes:") else ""
            self._refuse_unless_creatable(thing)
            self._names.update(dict.fromkeys(_names(thing), id_))
            self._things[type_, id_] = thing
            self._made[urn] = made + 1
        if kind.slow:
            time.sleep(self.pace)
        with self._lock:
            thing.phase = Phase.READY
            for effect in kind.after_create:
                effect(self, thing)
        return id_, extra

    def put(self, type_: str, name: str, inputs: Mapping[str, Any]) -> Thing:
        """Make a thing that nobody asked for: what a cloud does of its own accord."""
        id_, extra = self.answer(type_, name, "", inputs, place=self.place)
        thing = Thing(kind=self.kinds(type_), id=id_, urn="", name=name, inputs=inputs, outputs={**inputs, **extra})
        thing.phase = Phase.READY
        with self._lock:
            self._things[type_, id_] = thing
            self._names.update(dict.fromkeys(_names(thing), id_))
        return thing

    def expected(self, type_: str, id_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """What the cloud will compute after an update, as far as that is known before it."""
        with self._lock:
            thing = self._there(type_, id_)
            return {**self._recomputed(thing, inputs), **dict.fromkeys(thing.kind.bumped, UNKNOWN)}

    def update(self, type_: str, id_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Change a thing in place; returns what the cloud computes for it now."""
        with self._lock:
            thing = self._there(type_, id_)
            self._refuse_missing(thing, inputs)
            extra = self._recomputed(thing, inputs)
            extra |= {key: int(thing.outputs.get(key, 0)) + 1 for key in thing.kind.bumped}
            thing.inputs, thing.outputs = inputs, {**inputs, **extra}
            return extra

    def delete(self, type_: str, id_: str) -> None:
        """Take a thing away; one that is not there is no fault, as with the real providers.

        Raises:
            RefusedError: in the cloud's words, where something holds it.

        """
        with self._lock:
            thing = self._things.get((type_, id_))
            if thing is None:
                return
            for check in thing.kind.before_delete:
                _raise(check(self, thing))
            for holder, reference in self._pointing_at(thing):
                if reference.holds and thing.kind.in_use:
                    raise RefusedError(thing.kind.in_use.format(id=thing.id, holder=holder.id))
            thing.phase = Phase.DELETING
        if thing.kind.slow:
            time.sleep(self.pace)
        with self._lock:
            self._forget(thing)

    def left(self) -> list[Thing]:
        """What is still there."""
        return sorted(self, key=str)

    def pointing_at(self, thing: Thing, type_: str) -> list[Thing]:
        """Which things of a type refer to this one."""
        return [holder for holder, _ in self._pointing_at(thing) if holder.type == type_]

    def _there(self, type_: str, id_: str) -> Thing:
        thing = self._things.get((type_, id_))
        if thing is None:
            raise RefusedError(f"NotFound: {type_} {id_} does not exist")
        return thing

    def _recomputed(self, thing: Thing, inputs: Mapping[str, Any]) -> dict[str, Any]:
        made = self._made.get(thing.urn, 1)
        urn = thing.urn if made == 1 else f"{thing.urn}#{made}"
        _, extra = self.answer(thing.type, thing.name, urn, inputs, place=self.place)
        return extra

    def _refuse_unless_creatable(self, thing: Thing) -> None:
        for property_, reason in self.check(thing.type, thing.inputs):
            raise RefusedError(f"InvalidParameterValue: {property_}: {reason}")
        for check in thing.kind.before_create:
            _raise(check(self, thing))
        self._refuse_missing(thing, thing.inputs)
        taken = any(name in self._names for name in _names(thing)) or (thing.type, thing.id) in self._things
        if taken:
            words = thing.kind.taken or "EntityAlreadyExists: {0} already exists"
            raise RefusedError(words.format(*[thing.at(path) for path in thing.kind.identity] or [thing.id]))

    def _refuse_missing(self, thing: Thing, inputs: Mapping[str, Any]) -> None:
        for reference in thing.kind.references:
            if not reference.missing:
                continue
            to = reference.through or reference.to
            by = "id" if reference.through else reference.by
            for _, value in values_at(reference.path, inputs):
                if reference.foreign and re.search(reference.foreign, str(value)):
                    continue
                if not any(other.at(by) == value for other in self.of(to) if other.phase is Phase.READY):
                    raise RefusedError(reference.missing.format(value=value))

    def _pointing_at(self, thing: Thing) -> Iterator[tuple[Thing, Reference]]:
        for other in list(self._things.values()):
            for reference in other.kind.references:
                if reference.to == thing.type and any(
                    value == thing.at(reference.by) for value in self._named(other, reference)
                ):
                    yield other, reference

    def _named(self, thing: Thing, reference: Reference) -> Iterator[Any]:
        """The values by which a thing names others, through a third where the reference says so."""
        for _, value in values_at(reference.path, thing.inputs):
            if not reference.through:
                yield value
            elif (third := self.find(reference.through, str(value))) is not None:
                yield third.at(reference.by)

    def _forget(self, thing: Thing) -> None:
        if self._things.pop((thing.type, thing.id), None) is None:
            return
        if not thing.kind.keeps_name:
            for name in _names(thing):
                self._names.pop(name, None)
        for follower, reference in list(self._pointing_at(thing)):
            if reference.follows:
                self._forget(follower)
        for effect in thing.kind.after_delete:
            effect(self, thing)

    def forget_inside(self, home: str, which: Callable[[Thing], bool] = lambda _thing: True) -> None:
        """What is inside a cluster goes with it, and some of it with less."""
        with self._lock:
            for thing in [thing for thing in self if thing.home == home and which(thing)]:
                self._things.pop((thing.type, thing.id), None)
                for name in _names(thing):
                    self._names.pop(name, None)


def _names(thing: Thing) -> list[tuple[str, ...]]:
    """The physical name that no second thing may have, if it has one."""
    if not thing.kind.identity:
        return []
    return [(thing.type, thing.home, *(str(thing.at(path)) for path in thing.kind.identity))]


def _raise(words: str | None) -> None:
    if words:
        raise RefusedError(words)
