"""The tables of all fake clouds in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ops.fakes import aws, gcp, github, local
from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.request import Created, Place, Request
from ops.fakes.kubernetes import resources as kubernetes

_TABLES: Final = (aws, gcp, github, kubernetes, local)
TABLE: Final[Mapping[str, Kind]] = {kind.type: kind for table in _TABLES for kind in table.TABLE}
"""Every type with a row of its own."""


def kind_of(type_: str) -> Kind:
    """Return the row of a type.

    Raises:
        LookupError: no table has the type.

    """
    if type_ in TABLE:
        return TABLE[type_]
    if type_.startswith("kubernetes:"):
        return kubernetes.kind_of(type_)
    raise LookupError(f"the fake clouds have no row for the type {type_}; add one to a table under ops/fakes/")


def computed(type_: str, name: str, urn: str, inputs: Mapping[str, Any], *, place: Place | None = None) -> Created:
    """Return the id of a new resource and the outputs that the cloud adds to its inputs.

    Raises:
        LookupError: no table has the type.

    """
    request = Request(type=type_, name=name, urn=urn, inputs=inputs, place=place or Place())
    return kind_of(type_).answer(request)


def unanswered(query: str) -> LookupError:
    """Return the error for a program that queries a cloud while it declares resources."""
    return LookupError(
        f"the program queries a cloud for {query}; state the value in the stack file or pin it, "
        "so that a plan does not depend on the day"
    )
