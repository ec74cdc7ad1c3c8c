"""The shape of a row in the tables of the fake clouds: one resource type, what it answers and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import Answer


class RefusedError(Exception):
    """An error of a cloud's API, in its words."""


class UnfinishedError(RefusedError):
    """The error of an object that exists, and whose creation failed afterwards."""

    def __init__(self, words: str, id_: str, computed: Mapping[str, Any]) -> None:
        super().__init__(words)
        self.id = id_
        self.computed = computed


@dataclass(frozen=True, slots=True)
class Reference:
    """An input whose value names another object."""

    path: str
    """The path of the input; `*` is every element of a list, as in `vpcConfig.subnetIds.*`."""
    to: str
    """The type of the other object."""
    by: str = "id"
    """The output of the other object that the input repeats."""
    missing: str = ""
    """The error if there is no such object; empty if the cloud does not check. `{value}` is the input's value."""
    foreign: str = ""
    """A regular expression of values that name objects outside the stack, such as AWS managed policies."""
    blocks: bool = True
    """Whether the other object cannot be deleted while this one exists."""
    cascades: bool = False
    """Whether deleting the other object deletes this one."""
    through: str = ""
    """If set, `path` names an object of this type, and its output `by` equals that of the other object."""


Check: TypeAlias = Callable[["Objects", "CloudObject"], str | None]
"""A rule that no field expresses: the cloud's error, or None."""
ChangeCheck: TypeAlias = Callable[["Objects", "CloudObject", Mapping[str, Any]], str | None]
"""The same for an existing object and its new inputs."""
Effect: TypeAlias = Callable[["Objects", "CloudObject"], None]
"""A side effect of the cloud after an object is created or deleted."""
ChangeEffect: TypeAlias = Callable[["Objects", "CloudObject", Mapping[str, Any]], None]
"""A side effect of the cloud before an object gets its new inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One resource type."""

    type: str
    """The type token."""
    answer: Answer
    """The id and the outputs of a new object."""
    identity: Sequence[str] = ()
    """The outputs that are unique together; empty if only the id is unique."""
    taken: str = ""
    """The error for a second object of the same identity; `{0}`, `{1}` are the values of `identity`."""
    keeps_name: bool = False
    """Whether the name stays taken after a delete, as with soft deletes."""
    references: Sequence[Reference] = ()
    in_use: str = ""
    """The error for a delete while another object blocks it; `{id}` is the object's id, `{holder}` the other's."""
    missing: str = ""
    """The error for a delete of a missing object; empty if that is no error. `{name}` is the last part of the id."""
    delete_first: str = ""
    """The name input. If it is stated, a replacement deletes first; otherwise the provider generates a new name."""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Input paths and the values they accept."""
    max_lengths: Mapping[str, int] = field(default_factory=dict)
    """Input paths and the largest number of characters."""
    counters: Sequence[str] = ()
    """Outputs that every update increases by one."""
    slow: bool = False
    """Whether creating takes minutes in the real cloud. The fake waits a moment, so that a missing dependency shows."""
    minutes: int = 0
    """The time that creating takes in the real cloud. A provider waits 60 minutes, or for a stated time."""
    before_create: Sequence[Check] = ()
    ends: Sequence[Check] = ()
    """Rules that fail the creation of an object that already exists. They may change its outputs."""
    before_update: Sequence[ChangeCheck] = ()
    before_delete: Sequence[Check] = ()
    after_create: Sequence[Effect] = ()
    on_update: Sequence[ChangeEffect] = ()
    after_delete: Sequence[Effect] = ()
