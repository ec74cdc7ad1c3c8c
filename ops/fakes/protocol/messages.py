"""Messages of the provider protocol, from and to plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

import grpc
from google.protobuf import any_pb2, struct_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.paths import UNKNOWN
from ops.fakes.protocol import wire
from ops.fakes.protocol.difference import Change, ChangeKind, changes, deletes_first

_KINDS_OF_DIFF: Final = {
    (ChangeKind.ADD, False): provider_pb2.PropertyDiff.ADD,
    (ChangeKind.ADD, True): provider_pb2.PropertyDiff.ADD_REPLACE,
    (ChangeKind.DELETE, False): provider_pb2.PropertyDiff.DELETE,
    (ChangeKind.DELETE, True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    (ChangeKind.UPDATE, False): provider_pb2.PropertyDiff.UPDATE,
    (ChangeKind.UPDATE, True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


def difference(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> provider_pb2.DiffResponse:
    """Return the changes, and whether they replace the object."""
    found = changes(kind, old, new)
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=_tops(change for change in found if change.replaces),
        diffs=_tops(found),
        deleteBeforeReplace=deletes_first(kind, found, new),
        hasDetailedDiff=True,
        detailedDiff={
            change.path: provider_pb2.PropertyDiff(kind=_KINDS_OF_DIFF[change.kind, change.replaces], inputDiff=True)
            for change in found
        },
    )


def _tops(found: Iterable[Change]) -> list[str]:
    """Return the top-level properties of some changes, each once."""
    return list(dict.fromkeys(change.names[0] for change in found))


def plain(bag: struct_pb2.Struct) -> dict[str, Any]:
    """Return a property bag without its marks."""
    return wire.Plain(bag, UNKNOWN).values


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return plain data as a property bag."""
    bag = struct_pb2.Struct()
    bag.update(dict(values))
    return bag


def answer(inputs: struct_pb2.Struct, computed: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return the inputs with their marks, and the computed outputs."""
    return wire.answer(inputs, {key: _marked(value) for key, value in computed.items()})


def _marked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return wire.UNKNOWN_MARK if value == UNKNOWN else value


def abort(context: grpc.ServicerContext, code: grpc.StatusCode, words: str) -> NoReturn:
    """End a call with an error, which gRPC does by raising."""
    context.abort(code, words)
    raise AssertionError("abort returned")


def abort_unfinished(
    context: grpc.ServicerContext, words: str, id_: str, inputs: struct_pb2.Struct, properties: struct_pb2.Struct
) -> NoReturn:
    """End a creation with an error after which the engine keeps the object in its state."""
    failure = provider_pb2.ErrorResourceInitFailed(id=id_, inputs=inputs, properties=properties, reasons=[words])
    detail = any_pb2.Any()
    detail.Pack(failure)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=words, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    abort(context, grpc.StatusCode.UNKNOWN, words)
