"""A stand-in provider: Pulumi's protocol in front of the stand-in cloud.

Owns the translation: property bags with their marks on one side, plain data on the other. What exists and what is
refused is `fakes.cloud`; what goes wrong on demand is `fakes.faults`. A preview answers as the recorder of
plans does: what was put in comes back, and nothing else is known yet.
"""

# The protocol names the methods of a provider and their parameters, whether one needs them or not.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import importlib.metadata
import json
import threading
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from fakes import answers, messages
from fakes.faults import Fault, Faults, Ill
from fakes.kinds import Kind, RefusedError
from fakes.objects import Caller
from fakes.tables import PROVIDERS_REPLACED_BY, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.cloud import Cloud

Answer = TypeVar("Answer")


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
        return messages.difference(kind, messages.plain(request.old_inputs), messages.plain(request.news))

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Learn which account, project or cluster is spoken to."""
        self._callers[context.peer()] = Caller.of(request.type, messages.plain(request.args))
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Answer a look-up, if there is an answer to it."""

        def look_up() -> provider_pb2.InvokeResponse:
            response = provider_pb2.InvokeResponse()
            found = answers.looked_up(request.tok, messages.plain(request.args))
            # `return` is a word of Python's own.
            getattr(response, "return").CopyFrom(messages.struct(found))
            return response

        return self._do("invoke", request.tok, context, look_up)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Refuse what can be seen to be wrong before anything is made; leave the inputs as they are."""

        def check() -> provider_pb2.CheckResponse:
            wrong = self._cloud.check(request.type, messages.plain(request.news))
            failures = [provider_pb2.CheckFailure(property=path, reason=reason) for path, reason in wrong]
            return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

        return self._do("check", request.type, context, check)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Say what changed, and whether that makes a new thing of the old."""

        def diff() -> provider_pb2.DiffResponse:
            return messages.difference(
                kind_of(request.type), messages.plain(request.old_inputs), messages.plain(request.news)
            )

        return self._do("diff", request.type, context, diff)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Make a thing, or say what is known of it before it is made."""
        if request.preview:
            return provider_pb2.CreateResponse(properties=request.properties)

        def create() -> provider_pb2.CreateResponse:
            inputs = messages.plain(request.properties)
            caller = self._callers.get(context.peer(), Caller())
            id_, computed = self._cloud.create(request.type, request.name, request.urn, inputs, caller)
            return provider_pb2.CreateResponse(id=id_, properties=messages.answer(request.properties, computed))

        return self._do("create", request.type, context, create)

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Change a thing, or say what is known of it before it is changed."""
        inputs = messages.plain(request.news)
        if request.preview:
            computed = self._cloud.expected(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=messages.answer(request.news, computed))

        def update() -> provider_pb2.UpdateResponse:
            computed = self._cloud.update(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=messages.answer(request.news, computed))

        return self._do("update", request.type, context, update)

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Say how a thing is now; no id where it is gone."""

        def read() -> provider_pb2.ReadResponse:
            thing = self._cloud.find(request.type, request.id)
            if thing is None:
                return provider_pb2.ReadResponse()
            if messages.plain(request.inputs) == thing.inputs:
                # As the engine knows it, with the marks that plain data has lost.
                return provider_pb2.ReadResponse(id=thing.id, inputs=request.inputs, properties=request.properties)
            return provider_pb2.ReadResponse(
                id=thing.id, inputs=messages.struct(thing.inputs), properties=messages.struct(thing.outputs)
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
            messages.abort(context, grpc.StatusCode.UNKNOWN, str(refusal))
        except LookupError as unanswered:
            messages.abort(context, grpc.StatusCode.UNKNOWN, str(unanswered))
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
