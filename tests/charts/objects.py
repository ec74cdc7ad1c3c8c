"""Check plain data against the types of Kubernetes objects in the SDK."""

from __future__ import annotations

import collections.abc
import functools
import types
import typing
from collections.abc import Iterator
from typing import Any

import pulumi
from pulumi import _types as sdk


def faults(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """Every key that the object does not have, and every value of another kind."""
    kind = _plain(kind)
    origin = typing.get_origin(kind)
    if origin is collections.abc.Mapping:
        if not isinstance(value, dict):
            yield f"{path} is no map"
            return
        for key, inner in value.items():
            yield from faults(inner, typing.get_args(kind)[1], f"{path}.{key}")
    elif origin is collections.abc.Sequence:
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        for index, inner in enumerate(value):
            yield from faults(inner, typing.get_args(kind)[0], f"{path}[{index}]")
    elif sdk.is_input_type(kind):
        yield from _object(value, kind, path)
    elif not any(type(value) is taken for taken in (typing.get_args(kind) or (kind,))) and kind is not Any:
        yield f"{path} is {type(value).__name__}, not {getattr(kind, '__name__', kind)}"


def _object(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} is no map"
        return
    fields = _fields(kind)
    for key, inner in value.items():
        if key in fields:
            yield from faults(inner, fields[key], f"{path}.{key}")
        else:
            yield f"{path}.{key} is no key of {kind.__name__.removesuffix('Args')}"


@functools.cache
def _fields(kind: Any) -> dict[str, Any]:
    return dict(sdk.input_type_types(kind))


def _plain(kind: Any) -> Any:
    """Return a type without the wrappers for unknown values."""
    if typing.get_origin(kind) in {typing.Union, types.UnionType}:
        kinds = [
            inner
            for inner in typing.get_args(kind)
            if inner is not type(None) and typing.get_origin(inner) not in {collections.abc.Awaitable, pulumi.Output}
        ]
        return kinds[0] if len(kinds) == 1 else typing.Union[tuple(kinds)]  # noqa: UP007  # made of a list
    return kind
