"""A fake provider: Pulumi's provider protocol in front of the fake cloud.

It translates property bags with marks to plain data and back. In a preview it answers as the recorder of plans does:
the inputs are returned, and all other outputs are unknown.
"""

# The protocol decides the names and the parameters of the methods.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import importlib.metadata
import json
import threading
from collections.abc import Callable
from typing import Final, TypeVar

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.kinds import Kind, RefusedError, UnfinishedError
from ops.fakes.cloud.objects import Caller
from ops.fakes.protocol import messages
from ops.fakes.protocol.faults import Fault, FaultKind, Faults
from ops.fakes.tables import unanswered

Answer = TypeVar("Answer")
_TIMEOUT: Final = "timeout while waiting for the resource to be ready (an injected fault)"
"""The error of a provider that gave up waiting (Terraform plugin SDK, `retry.StateChangeConf`)."""
_PATIENCE: Final = 60 * 60
"""Seconds that a provider waits for a creation without a stated limit."""


class FakeProvider(provider_pb2_grpc.ResourceProviderServicer):
    """The provider of one package."""

    def __init__(
        self, package: str, cloud: Cloud, faults: Faults, *, die: Callable[[], None], kill_engine: Callable[[], None]
    ) -> None:
        self._package = package
        self._cloud = cloud
        self._faults = faults
        self._before = {FaultKind.DIE: die, FaultKind.KILL: kill_engine}
        self._after = {FaultKind.DIE_AFTER: die, FaultKind.KILL_AFTER: kill_engine}
        self._cancelled = threading.Event()
        # The engine opens one connection for each provider of a program and configures the provider on it.
        self._callers: dict[str, Caller] = {}

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Accept marked secrets."""
        self._cancelled.clear()
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Do nothing: the fakes never call the engine."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version of the package's SDK, which the engine requires at least."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version(f"pulumi-{self._package}"))

    def GetSchema(
        self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext
    ) -> provider_pb2.GetSchemaResponse:
        """Return an empty schema: the engine needs none for a Python program."""
        version = importlib.metadata.version(f"pulumi-{self._package}")
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": self._package, "version": version}))

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """End calls that hang."""
        self._cancelled.set()
        return empty_pb2.Empty()

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Accept any settings."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Report which changed settings replace the provider."""
        kind = Kind(type=f"pulumi:providers:{self._package}", answer=lambda _: ("", {}))
        return messages.difference(kind, messages.plain(request.old_inputs), messages.plain(request.news))

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Remember the account, project or cluster."""
        self._callers[context.peer()] = Caller.of(request.type, messages.plain(request.args))
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Refuse a query: a plan must not depend on the day."""
        messages.abort(context, grpc.StatusCode.UNKNOWN, str(unanswered(request.tok)))

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Refuse invalid inputs; return valid ones unchanged."""

        def check() -> provider_pb2.CheckResponse:
            failed = self._cloud.check(request.type, messages.plain(request.news))
            failures = [provider_pb2.CheckFailure(property=path, reason=reason) for path, reason in failed]
            return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

        return self._do("check", request.type, context, check)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Report the changes, and whether they replace the object."""

        def diff() -> provider_pb2.DiffResponse:
            return messages.difference(
                self._cloud.kinds(request.type), messages.plain(request.old_inputs), messages.plain(request.news)
            )

        return self._do("diff", request.type, context, diff)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Create an object, or preview it."""
        if request.preview:
            return provider_pb2.CreateResponse(properties=request.properties)

        def create() -> provider_pb2.CreateResponse:
            inputs = messages.plain(request.properties)
            caller = self._callers.get(context.peer(), Caller())
            if self._cloud.kinds(request.type).minutes * 60 > (request.timeout or _PATIENCE):
                raise RefusedError("timeout while waiting for state to become 'AVAILABLE' (last state: 'BUILDING')")
            try:
                id_, computed = self._cloud.create(request.type, request.name, request.urn, inputs, caller)
            except UnfinishedError as error:
                properties = messages.answer(request.properties, error.computed)
                messages.abort_unfinished(context, str(error), error.id, request.properties, properties)
            return provider_pb2.CreateResponse(id=id_, properties=messages.answer(request.properties, computed))

        return self._do("create", request.type, context, create, inputs=request.properties)

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Update an object, or preview the update."""
        inputs = messages.plain(request.news)
        if request.preview:
            computed = self._cloud.expected(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=messages.answer(request.news, computed))

        def update() -> provider_pb2.UpdateResponse:
            computed = self._cloud.update(request.type, request.id, inputs)
            return provider_pb2.UpdateResponse(properties=messages.answer(request.news, computed))

        return self._do("update", request.type, context, update)

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Return an object, or no id if it does not exist."""

        def read() -> provider_pb2.ReadResponse:
            found = self._cloud.find(request.type, request.id)
            if found is None:
                return provider_pb2.ReadResponse()
            if messages.plain(request.inputs) == found.inputs:
                # Plain data has no marks; the engine's own copy has them. An imported resource has no outputs yet.
                computed = {key: value for key, value in found.outputs.items() if key not in found.inputs}
                known = request.properties if request.properties.fields else messages.answer(request.inputs, computed)
                return provider_pb2.ReadResponse(id=found.id, inputs=request.inputs, properties=known)
            return provider_pb2.ReadResponse(
                id=found.id, inputs=messages.struct(found.inputs), properties=messages.struct(found.outputs)
            )

        return self._do("read", request.type, context, read)

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Delete an object."""

        def delete() -> empty_pb2.Empty:
            self._cloud.delete(request.type, request.id)
            return empty_pb2.Empty()

        return self._do("delete", request.type, context, delete)

    def _do(
        self,
        operation: str,
        type_: str,
        context: grpc.ServicerContext,
        work: Callable[[], Answer],
        *,
        inputs: struct_pb2.Struct | None = None,
    ) -> Answer:
        """Do `work` unless a fault is due; report a refusal to the engine in the cloud's words."""
        fault = self._faults.due(operation, type_)
        try:
            if fault:
                self._apply(fault, context)
            answer = work()
        except (RefusedError, LookupError) as error:
            messages.abort(context, grpc.StatusCode.UNKNOWN, str(error))
        if fault and fault.kind in self._after:
            self._after[fault.kind]()
        if fault and fault.kind is FaultKind.TIME_OUT:
            if isinstance(answer, provider_pb2.CreateResponse) and inputs is not None:
                messages.abort_unfinished(context, _TIMEOUT, answer.id, inputs, answer.properties)
            messages.abort(context, grpc.StatusCode.UNKNOWN, _TIMEOUT)
        return answer

    def _apply(self, fault: Fault, context: grpc.ServicerContext) -> None:
        """Apply a fault before the cloud is called."""
        if fault.kind is FaultKind.FAIL:
            raise RefusedError(fault.message)
        if fault.kind in self._before:
            self._before[fault.kind]()
            raise RefusedError("the caller is dead")
        if fault.kind is FaultKind.HANG:
            self._faults.hanging.set()
            while context.is_active() and not self._cancelled.wait(0.05):
                pass
            raise RefusedError("context canceled")
