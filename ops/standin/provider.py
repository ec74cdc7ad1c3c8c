"""A stand-in provider: Pulumi's protocol in front of the stand-in cloud.

Owns the translation: property bags with their marks on one side, plain data on the other. What exists and what is
refused is `ops.standin.cloud`; what goes wrong on demand is `ops.standin.faults`. A preview answers as the recorder of
plans does: what was put in comes back, and nothing else is known yet.
"""

# The protocol names the methods of a provider and their parameters, whether one needs them or not.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import importlib.metadata
import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from ops import answers, wire
from ops.plan import UNKNOWN
from ops.standin.difference import Change, Turn, changes, deletes_first
from ops.standin.faults import Fault, Faults, Ill
from ops.standin.kinds import Kind, RefusedError
from ops.standin.tables import PROVIDERS_REPLACED_BY, kind_of
from ops.standin.things import Caller

if TYPE_CHECKING:
    from ops.standin.cloud import Cloud

Answer = TypeVar("Answer")

_KINDS_OF_DIFF: Final = {
    (Turn.ADD, False): provider_pb2.PropertyDiff.ADD,
    (Turn.ADD, True): provider_pb2.PropertyDiff.ADD_REPLACE,
    (Turn.DELETE, False): provider_pb2.PropertyDiff.DELETE,
    (Turn.DELETE, True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    (Turn.UPDATE, False): provider_pb2.PropertyDiff.UPDATE,
    (Turn.UPDATE, True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


class StandInProvider(provider_pb2_grpc.ResourceProviderServicer):
    """One package's provider."""

    def __init__(self, package: str, cloud: Cloud, faults: Faults, die: Callable[[], None]) -> None:
        self._package = package
        self._cloud = cloud
        self._faults = faults
        self._die = die
        self._cancelled = threading.Event()
        # The engine opens a connection for each provider of a program, and says over it alone how it is configured.
        self._callers: dict[str, Caller] = {}

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Say what is understood: secrets with their marks."""
        self._cancelled.clear()
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Nothing: the stand-ins never call the engine."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """The version of the package's SDK, so that the engine finds nothing older than it asks for."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version(f"pulumi-{self._package}"))

    def GetSchema(
        self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext
    ) -> provider_pb2.GetSchemaResponse:
        """An empty schema: the engine needs none for what a Python program declares."""
        version = importlib.metadata.version(f"pulumi-{self._package}")
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": self._package, "version": version}))

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Let go of what hangs."""
        self._cancelled.set()
        return empty_pb2.Empty()

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Take any settings."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Say which changed settings mean another account, project or cluster."""
        kind = Kind(type=request.type, replaced_by=PROVIDERS_REPLACED_BY.get(self._package, frozenset()))
        return _difference(kind, _plain(request.old_inputs), _plain(request.news))

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Learn which account, project or cluster is spoken to."""
        settings = _plain(request.args)
        cluster = str(settings.get("clusterIdentifier") or "") if self._package == "kubernetes" else ""
        place = answers.Place().with_provider(request.type, settings)
        self._callers[context.peer()] = Caller(place=place, cluster=cluster)
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Answer a look-up, if there is an answer to it."""

        def look_up() -> provider_pb2.InvokeResponse:
            response = provider_pb2.InvokeResponse()
            found = answers.looked_up(request.tok, _plain(request.args))
            # `return` is a word of Python's own.
            getattr(response, "return").CopyFrom(_struct(found))
            return response

        return self._do("invoke", request.tok, context, look_up)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Refuse what can be seen to be wrong before anything is made; leave the inputs as they are."""

        def check() -> provider_pb2.CheckResponse:
            wrong = self._cloud.check(request.type, _plain(request.news))
            failures = [provider_pb2.CheckFailure(property=path, reason=reason) for path, reason in wrong]
            return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

        return self._do("check", request.type, context, check)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Say what changed, and whether that makes a new thing of the old."""

        def diff() -> provider_pb2.DiffResponse:
            return _difference(kind_of(request.type), _plain(request.old_inputs), _plain(request.news))

        return self._do("diff", request.type, context, diff)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Make a thing, or say what is known of it before it is made."""
        if request.preview:
            return provider_pb2.CreateResponse(properties=request.properties)

        def create() -> provider_pb2.CreateResponse:
            inputs = _plain(request.properties)
            caller = self._callers.get(context.peer(), Caller())
            id_, computed = self._cloud.create(request.type, request.name, request.urn, inputs, caller)
            return provider_pb2.CreateResponse(id=id_, properties=_answer(request.properties, computed))

        return self._do("create", request.type, context, create)

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Change a thing, or say what is known of it before it is changed."""
        inputs = _plain(request.news)
        if request.preview:
            computed = self._cloud.expected(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=_answer(request.news, computed))

        def update() -> provider_pb2.UpdateResponse:
            computed = self._cloud.update(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=_answer(request.news, computed))

        return self._do("update", request.type, context, update)

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Say how a thing is now; no id where it is gone."""

        def read() -> provider_pb2.ReadResponse:
            thing = self._cloud.find(request.type, request.id)
            if thing is None:
                return provider_pb2.ReadResponse()
            if _plain(request.inputs) == thing.inputs:
                # As the engine knows it, with the marks that plain data has lost.
                return provider_pb2.ReadResponse(id=thing.id, inputs=request.inputs, properties=request.properties)
            return provider_pb2.ReadResponse(
                id=thing.id, inputs=_struct(thing.inputs), properties=_struct(thing.outputs)
            )

        return self._do("read", request.type, context, read)

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Take a thing away."""

        def delete() -> empty_pb2.Empty:
            self._cloud.delete(request.type, request.id)
            return empty_pb2.Empty()

        return self._do("delete", request.type, context, delete)

    def _do(self, operation: str, type_: str, context: grpc.ServicerContext, work: Callable[[], Answer]) -> Answer:
        """Do `work` unless a fault is due; a refusal goes to the engine in the cloud's words."""
        fault = self._faults.due(operation, type_)
        try:
            if fault:
                self._befall(fault, context)
            answer = work()
        except RefusedError as refusal:
            _abort(context, grpc.StatusCode.UNKNOWN, str(refusal))
        except LookupError as unanswered:
            _abort(context, grpc.StatusCode.UNKNOWN, str(unanswered))
        if fault and fault.ill is Ill.DIE_AFTER:
            self._die()
        return answer

    def _befall(self, fault: Fault, context: grpc.ServicerContext) -> None:
        """What goes wrong before the cloud hears of the call."""
        if fault.ill is Ill.FAIL:
            raise RefusedError(fault.message)
        if fault.ill is Ill.DIE:
            self._die()
            raise RefusedError("the provider is dead")
        if fault.ill is Ill.HANG:
            while context.is_active() and not self._cancelled.wait(0.05):
                pass
            raise RefusedError("context canceled")


def _difference(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> provider_pb2.DiffResponse:
    found = changes(kind, old, new)
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=_tops(change for change in found if change.replaces),
        diffs=_tops(found),
        deleteBeforeReplace=deletes_first(kind, found, new),
        hasDetailedDiff=True,
        detailedDiff={
            change.path: provider_pb2.PropertyDiff(kind=_KINDS_OF_DIFF[change.turn, change.replaces], inputDiff=True)
            for change in found
        },
    )


def _tops(found: Any) -> list[str]:
    """The top-level properties of some changes, each once."""
    tops: dict[str, None] = dict.fromkeys(_top(change) for change in found)
    return list(tops)


def _top(change: Change) -> str:
    return change.names[0] if change.names else change.path


def _plain(bag: struct_pb2.Struct) -> dict[str, Any]:
    return wire.Plain(bag, UNKNOWN).values


def _struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    bag = struct_pb2.Struct()
    bag.update(dict(values))
    return bag


def _answer(inputs: struct_pb2.Struct, computed: Mapping[str, Any]) -> struct_pb2.Struct:
    """The inputs with their marks and what was computed; what is not known goes as the wire writes it."""
    return wire.answer(inputs, {key: _marked(value) for key, value in computed.items()})


def _marked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return wire.UNKNOWN_MARK if value == UNKNOWN else value


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, words: str) -> NoReturn:
    context.abort(code, words)
    raise AssertionError("abort returned")
