"""Property bags of Pulumi's protocols as plain data.

A bag marks secrets, unknown values and references to resources. One pass gives the plain values and the marked paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import struct_pb2

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""The key that marks a map as a special value."""
SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  # a mark of the protocol
RESOURCE_SIGNATURE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT_SIGNATURE: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
UNKNOWN_MARK: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The mark of an unknown value in the protocol."""


class Plain:
    """A property bag as plain data."""

    __slots__ = ("secret_paths", "unknown_paths", "values")

    def __init__(self, bag: struct_pb2.Struct, unknown: str) -> None:
        self.secret_paths: set[str] = set()
        """The dotted paths of secrets."""
        self.unknown_paths: set[str] = set()
        """The dotted paths of unknown values."""
        self.values: dict[str, Any] = {
            key: self._plain(value, key, unknown) for key, value in sorted(bag.fields.items())
        }
        """The values; an unknown one is `unknown`."""

    def _plain(self, value: struct_pb2.Value, path: str, unknown: str) -> Any:
        kind = value.WhichOneof("kind")
        if kind == "struct_value":
            return self._map(value.struct_value.fields, path, unknown)
        if kind == "list_value":
            items = enumerate(value.list_value.values)
            return [self._plain(item, f"{path}.{index}", unknown) for index, item in items]
        if kind == "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        if kind == "string_value" and value.string_value == UNKNOWN_MARK:
            self.unknown_paths.add(path)
            return unknown
        return None if kind == "null_value" else getattr(value, kind or "null_value")

    def _map(self, fields: Mapping[str, struct_pb2.Value], path: str, unknown: str) -> Any:
        if SIGNATURE in fields:
            return self._marked(fields, path, unknown)
        return {key: self._plain(item, f"{path}.{key}", unknown) for key, item in sorted(fields.items())}

    def _marked(self, fields: Mapping[str, struct_pb2.Value], path: str, unknown: str) -> Any:
        signature = fields[SIGNATURE].string_value
        if signature == SECRET_SIGNATURE:
            self.secret_paths.add(path)
            return self._plain(fields["value"], path, unknown)
        if signature == OUTPUT_SIGNATURE:
            if "secret" in fields and fields["secret"].bool_value:
                self.secret_paths.add(path)
            if "value" not in fields:
                self.unknown_paths.add(path)
                return unknown
            return self._plain(fields["value"], path, unknown)
        if signature == RESOURCE_SIGNATURE:
            return fields["id" if "id" in fields else "urn"].string_value
        # An asset or an archive is plain data.
        return {key: self._plain(item, f"{path}.{key}", unknown) for key, item in sorted(fields.items())}


def answer(inputs: struct_pb2.Struct, computed: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return the answer of a cloud: the inputs with their marks, and the computed outputs."""
    bag = struct_pb2.Struct()
    bag.CopyFrom(inputs)
    bag.update(computed)
    return bag
