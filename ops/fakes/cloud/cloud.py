"""The fake cloud: the objects that exist, and the refusals of the rows that it is given.

All packages share one cloud, since the fake Kubernetes needs the fake EKS. It does not know Pulumi's protocol.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ops.fakes.cloud.kinds import Kind, Reference, RefusedError, UnfinishedError
from ops.fakes.cloud.objects import Caller, CloudObject, Phase
from ops.fakes.cloud.paths import UNKNOWN, values_at
from ops.fakes.cloud.request import Request


@dataclass(slots=True, kw_only=True)
class Cloud:
    """All objects, under one lock."""

    kinds: Callable[[str], Kind]
    """The row of a type token."""
    pace: float = 0.1
    """Seconds that creating or deleting a slow object takes."""
    gpus_work: bool = True
    """Whether the tests of a machine image find a GPU that works."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """Objects that no stack created: the id or the name to the zone, which is empty for objects without one."""
    drained: list[str] = field(default_factory=list)
    """Running nodes that updates have ended, in one line for each update."""
    _objects: dict[tuple[str, str], CloudObject] = field(default_factory=dict)
    _names: set[tuple[str, ...]] = field(default_factory=set)
    _created: dict[str, int] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __iter__(self) -> Iterator[CloudObject]:
        """Iterate over all objects in any phase."""
        with self._lock:
            return iter(list(self._objects.values()))

    def __len__(self) -> int:
        return len(self._objects)

    def of(self, type_: str) -> list[CloudObject]:
        """Return the objects of one type that are ready or being deleted."""
        return [obj for obj in self if obj.type == type_ and obj.phase is not Phase.CREATING]

    def find(self, type_: str, id_: str) -> CloudObject | None:
        """Return the object of this type and id."""
        return self._objects.get((type_, id_))

    def remaining(self) -> list[CloudObject]:
        """Return all objects, sorted."""
        return sorted(self, key=str)

    def pointing_at(self, obj: CloudObject, type_: str) -> list[CloudObject]:
        """Return the objects of a type that refer to this one."""
        return [holder for holder, _ in self._pointing_at(obj) if holder.type == type_]

    def check(self, type_: str, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the invalid inputs: path and reason."""
        kind = self.kinds(type_)
        failed = []
        for path, choices in kind.choices.items():
            listed = " ".join(f'"{word}"' for word in choices)
            failed += [
                (exact, f"expected {exact} to be one of [{listed}], got {value}")
                for exact, value in values_at(path, inputs)
                if value not in choices
            ]
        for path, most in kind.max_lengths.items():
            failed += [
                (exact, f"expected length of {exact} to be in the range (1 - {most}), got {value}")
                for exact, value in values_at(path, inputs)
                if len(str(value)) > most
            ]
        return failed

    def create(
        self, type_: str, name: str, urn: str, inputs: Mapping[str, Any], caller: Caller
    ) -> tuple[str, dict[str, Any]]:
        """Create an object; return its id and the computed outputs.

        Raises:
            RefusedError: the cloud's error.
            UnfinishedError: the object exists, and its creation failed.

        """
        kind = self.kinds(type_)
        with self._lock:
            count = self._created.get(urn, 0)
            # A replacement has the same URN and another id.
            seed = f"{urn}#{count + 1}" if count else urn
            obj, extra = self._build(kind, name, seed, inputs, caller)
            obj.urn = urn
            self._refuse_unless_creatable(obj)
            self._keep(obj)
            self._created[urn] = count + 1
        if kind.slow:
            time.sleep(self.pace)
        with self._lock:
            obj.phase = Phase.READY
            for check in kind.ends:
                if words := check(self, obj):
                    raise UnfinishedError(words, obj.id, {key: obj.outputs[key] for key in extra})
            for effect in kind.after_create:
                effect(self, obj)
        return obj.id, extra

    def put(self, type_: str, name: str, inputs: Mapping[str, Any], caller: Caller) -> CloudObject:
        """Create an object as a side effect of the cloud."""
        with self._lock:
            obj, _ = self._build(self.kinds(type_), name, "", inputs, caller)
            obj.phase = Phase.READY
            self._keep(obj)
        return obj

    def restore(
        self,
        type_: str,
        id_: str,
        urn: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        caller: Caller,
    ) -> None:
        """Add an object that an earlier update created."""
        name = urn.rpartition("::")[2]
        obj = CloudObject(
            type=type_, id=id_, urn=urn, name=name, inputs=inputs, outputs=outputs, caller=caller, seed=urn
        )
        obj.phase = Phase.READY
        with self._lock:
            self._keep(obj)
            self._created[urn] = 1

    def expected(self, type_: str, id_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs that an update computes, as far as a preview knows them."""
        with self._lock:
            obj = self._existing(type_, id_)
            return {**self._recomputed(obj, inputs), **dict.fromkeys(self.kinds(type_).counters, UNKNOWN)}

    def update(self, type_: str, id_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Update an object in place; return the computed outputs."""
        kind = self.kinds(type_)
        with self._lock:
            obj = self._existing(type_, id_)
            self._refuse_missing(obj, inputs)
            for check in kind.before_update:
                _raise(check(self, obj, inputs))
            for effect in kind.on_update:
                effect(self, obj, inputs)
            extra = self._recomputed(obj, inputs)
            extra |= {key: int(obj.outputs.get(key, 0)) + 1 for key in kind.counters}
            obj.inputs, obj.outputs = inputs, {**inputs, **extra}
            return extra

    def delete(self, type_: str, id_: str) -> None:
        """Delete an object. A missing one is no error, as with most real providers.

        Raises:
            RefusedError: the cloud's error, for example if another object blocks the delete.

        """
        kind = self.kinds(type_)
        with self._lock:
            obj = self._objects.get((type_, id_))
            if obj is None:
                _raise(kind.missing.format(name=id_.rpartition("/")[2]))
                return
            for check in kind.before_delete:
                _raise(check(self, obj))
            for holder, reference in self._pointing_at(obj):
                if reference.blocks and kind.in_use:
                    raise RefusedError(kind.in_use.format(id=obj.id, holder=holder.id))
            obj.phase = Phase.DELETING
        if kind.slow:
            time.sleep(self.pace)
        with self._lock:
            self._forget(obj)

    def forget_inside(self, cluster: str, which: Callable[[CloudObject], bool] = lambda _obj: True) -> None:
        """Delete the objects inside a cluster that `which` selects."""
        with self._lock:
            for obj in [obj for obj in self if obj.caller.cluster == cluster and which(obj)]:
                self._objects.pop((obj.type, obj.id), None)
                self._names.difference_update(self._names_of(obj))

    def _build(
        self, kind: Kind, name: str, seed: str, inputs: Mapping[str, Any], caller: Caller
    ) -> tuple[CloudObject, dict[str, Any]]:
        id_, extra = kind.answer(Request(type=kind.type, name=name, urn=seed, inputs=inputs, place=caller.place))
        outputs = {**inputs, **extra}
        obj = CloudObject(
            type=kind.type, id=id_, urn="", name=name, inputs=inputs, outputs=outputs, caller=caller, seed=seed
        )
        return obj, extra

    def _recomputed(self, obj: CloudObject, inputs: Mapping[str, Any]) -> dict[str, Any]:
        _, extra = self._build(self.kinds(obj.type), obj.name, obj.seed, inputs, obj.caller)
        return extra

    def _names_of(self, obj: CloudObject) -> list[tuple[str, ...]]:
        """Return the physical name that is unique, if the type has one."""
        identity = self.kinds(obj.type).identity
        return [(obj.type, obj.caller.cluster, *(str(obj.at(path)) for path in identity))] if identity else []

    def _keep(self, obj: CloudObject) -> None:
        self._objects[obj.type, obj.id] = obj
        self._names.update(self._names_of(obj))

    def _existing(self, type_: str, id_: str) -> CloudObject:
        obj = self._objects.get((type_, id_))
        if obj is None:
            raise RefusedError(f"NotFound: {type_} {id_} does not exist")
        return obj

    def _refuse_unless_creatable(self, obj: CloudObject) -> None:
        for property_, reason in self.check(obj.type, obj.inputs):
            raise RefusedError(f"InvalidParameterValue: {property_}: {reason}")
        self._refuse_missing(obj, obj.inputs)
        kind = self.kinds(obj.type)
        for check in kind.before_create:
            _raise(check(self, obj))
        if self._names.intersection(self._names_of(obj)) or (obj.type, obj.id) in self._objects:
            error = kind.taken or "AlreadyExists: {0} already exists"
            raise RefusedError(error.format(*[obj.at(path) for path in kind.identity] or [obj.id]))

    def _refuse_missing(self, obj: CloudObject, inputs: Mapping[str, Any]) -> None:
        for reference in self.kinds(obj.type).references:
            if not reference.missing:
                continue
            ready = [one for one in self.of(reference.to) if one.phase is Phase.READY]
            for _, value in values_at(reference.path, inputs):
                if reference.foreign and re.search(reference.foreign, str(value)):
                    continue
                if value not in self.outside and not any(one.at(reference.by) == value for one in ready):
                    raise RefusedError(reference.missing.format(value=value))

    def _pointing_at(self, obj: CloudObject) -> Iterator[tuple[CloudObject, Reference]]:
        for other in list(self._objects.values()):
            for reference in self.kinds(other.type).references:
                if reference.to == obj.type and obj.at(reference.by) in self._named(other, reference):
                    yield other, reference

    def _named(self, obj: CloudObject, reference: Reference) -> list[Any]:
        """Return the values by which an object names others."""
        values = [value for _, value in values_at(reference.path, obj.inputs)]
        if not reference.through:
            return values
        thirds = [self.find(reference.through, str(value)) for value in values]
        return [third.at(reference.by) for third in thirds if third is not None]

    def _forget(self, obj: CloudObject) -> None:
        if self._objects.pop((obj.type, obj.id), None) is None:
            return
        kind = self.kinds(obj.type)
        if not kind.keeps_name:
            self._names.difference_update(self._names_of(obj))
        for dependent, reference in list(self._pointing_at(obj)):
            if reference.cascades:
                self._forget(dependent)
        for effect in kind.after_delete:
            effect(self, obj)


def _raise(error: str | None) -> None:
    if error:
        raise RefusedError(error)
