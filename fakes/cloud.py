"""The stand-in cloud: what there is, and what a cloud would refuse.

One for all the packages of a rehearsal, since Kubernetes stands on EKS. Owns the objects, their names and their
references, and applies the tables of `fakes.kinds`; what a create answers is `fakes.answers`. It knows nothing of
Pulumi's protocol: that is `fakes.provider`.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from fakes.answers import Place, computed
from fakes.kinds import RefusedError, values_at
from fakes.objects import Caller, Phase, Thing
from fakes.tables import kind_of
from fakes.wire import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fakes.kinds import Kind, Reference

Kinds: TypeAlias = "Callable[[str], Kind]"
"""Type token to what is known of it; raises `RefusedError` for a type that no table knows."""


class Answering(Protocol):
    """What tells what a cloud answers, as `fakes.answers.computed` does."""

    def __call__(
        self, type_: str, name: str, urn: str, inputs: Mapping[str, Any], *, place: Place
    ) -> tuple[str, dict[str, Any]]:
        """The id, and what the cloud computes beside the inputs."""
        ...


@dataclass(slots=True, kw_only=True)
class Cloud:
    """Everything there is, under one lock."""

    kinds: Kinds = kind_of
    answer: Answering = computed
    pace: float = 0.1
    """Seconds that slow things take to be made and to go."""
    _things: dict[tuple[str, str], Thing] = field(default_factory=dict)
    _names: set[tuple[str, ...]] = field(default_factory=set)
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

    def left(self) -> list[Thing]:
        """What is still there."""
        return sorted(self, key=str)

    def pointing_at(self, thing: Thing, type_: str) -> list[Thing]:
        """Which things of a type refer to this one."""
        return [holder for holder, _ in self._pointing_at(thing) if holder.type == type_]

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

    def create(
        self, type_: str, name: str, urn: str, inputs: Mapping[str, Any], caller: Caller
    ) -> tuple[str, dict[str, Any]]:
        """Make a thing; returns its id and what the cloud computed.

        Raises:
            RefusedError: in the cloud's words.

        """
        kind = self.kinds(type_)
        with self._lock:
            made = self._made.get(urn, 0)
            # A replacement is another thing with another id, while the URN stays.
            seed = f"{urn}#{made + 1}" if made else urn
            thing, extra = self._answered(kind, name, seed, inputs, caller)
            thing.urn = urn
            self._refuse_unless_creatable(thing)
            self._keep(thing)
            self._made[urn] = made + 1
        if kind.slow:
            time.sleep(self.pace)
        with self._lock:
            thing.phase = Phase.READY
            for effect in kind.after_create:
                effect(self, thing)
        return thing.id, extra

    def put(self, type_: str, name: str, inputs: Mapping[str, Any], caller: Caller) -> Thing:
        """Make a thing that nobody asked for: what a cloud does of its own accord."""
        with self._lock:
            thing, _ = self._answered(self.kinds(type_), name, "", inputs, caller)
            thing.phase = Phase.READY
            self._keep(thing)
        return thing

    def restore(
        self,
        type_: str,
        id_: str,
        urn: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        caller: Caller,
    ) -> None:
        """Add an object that an earlier update made."""
        name = urn.rpartition("::")[2]
        kind = self.kinds(type_)
        thing = Thing(kind=kind, id=id_, urn=urn, name=name, inputs=inputs, outputs=outputs, caller=caller, seed=urn)
        thing.phase = Phase.READY
        with self._lock:
            self._keep(thing)
            self._made[urn] = 1

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
            for check in thing.kind.before_update:
                _raise(check(self, thing, inputs))
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

    def forget_inside(self, cluster: str, which: Callable[[Thing], bool] = lambda _thing: True) -> None:
        """What is inside a cluster goes with it, and some of it with less."""
        with self._lock:
            for thing in [thing for thing in self if thing.caller.cluster == cluster and which(thing)]:
                self._things.pop((thing.type, thing.id), None)
                self._names.difference_update(thing.names)

    def _answered(
        self, kind: Kind, name: str, seed: str, inputs: Mapping[str, Any], caller: Caller
    ) -> tuple[Thing, dict[str, Any]]:
        id_, extra = self.answer(kind.type, name, seed, inputs, place=caller.place)
        outputs = {**inputs, **extra}
        thing = Thing(kind=kind, id=id_, urn="", name=name, inputs=inputs, outputs=outputs, caller=caller, seed=seed)
        return thing, extra

    def _recomputed(self, thing: Thing, inputs: Mapping[str, Any]) -> dict[str, Any]:
        _, extra = self._answered(thing.kind, thing.name, thing.seed, inputs, thing.caller)
        return extra

    def _keep(self, thing: Thing) -> None:
        self._things[thing.type, thing.id] = thing
        self._names.update(thing.names)

    def _there(self, type_: str, id_: str) -> Thing:
        thing = self._things.get((type_, id_))
        if thing is None:
            raise RefusedError(f"NotFound: {type_} {id_} does not exist")
        return thing

    def _refuse_unless_creatable(self, thing: Thing) -> None:
        for property_, reason in self.check(thing.type, thing.inputs):
            raise RefusedError(f"InvalidParameterValue: {property_}: {reason}")
        self._refuse_missing(thing, thing.inputs)
        for check in thing.kind.before_create:
            _raise(check(self, thing))
        if self._names.intersection(thing.names) or (thing.type, thing.id) in self._things:
            words = thing.kind.taken or "AlreadyExists: {0} already exists"
            raise RefusedError(words.format(*[thing.at(path) for path in thing.kind.identity] or [thing.id]))

    def _refuse_missing(self, thing: Thing, inputs: Mapping[str, Any]) -> None:
        for reference in thing.kind.references:
            if not reference.missing:
                continue
            there = [one for one in self.of(reference.to) if one.phase is Phase.READY]
            for _, value in values_at(reference.path, inputs):
                if reference.foreign and re.search(reference.foreign, str(value)):
                    continue
                if not any(one.at(reference.by) == value for one in there):
                    raise RefusedError(reference.missing.format(value=value))

    def _pointing_at(self, thing: Thing) -> Iterator[tuple[Thing, Reference]]:
        for other in list(self._things.values()):
            for reference in other.kind.references:
                if reference.to == thing.type and thing.at(reference.by) in self._named(other, reference):
                    yield other, reference

    def _named(self, thing: Thing, reference: Reference) -> list[Any]:
        """The values by which a thing names others, through a third where the reference says so."""
        values = [value for _, value in values_at(reference.path, thing.inputs)]
        if not reference.through:
            return values
        thirds = [self.find(reference.through, str(value)) for value in values]
        return [third.at(reference.by) for third in thirds if third is not None]

    def _forget(self, thing: Thing) -> None:
        if self._things.pop((thing.type, thing.id), None) is None:
            return
        if not thing.kind.keeps_name:
            self._names.difference_update(thing.names)
        for follower, reference in list(self._pointing_at(thing)):
            if reference.follows:
                self._forget(follower)
        for effect in thing.kind.after_delete:
            effect(self, thing)


def _raise(words: str | None) -> None:
    if words:
        raise RefusedError(words)
