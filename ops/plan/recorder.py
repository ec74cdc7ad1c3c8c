"""The recorder: run the real program and keep every registration that would reach the engine.

This module holds the monitor that answers the program in place of the engine. `ops.plan.isolation` runs the program,
`ops.fakes.tables` computes the answers of a cloud, and `ops.plan.model` holds the shapes of a plan.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Iterable
from typing import Any, cast

from google.protobuf import empty_pb2
from pulumi import Resource, ResourceTransformationArgs, runtime
from pulumi.runtime import mocks
from pulumi.runtime.proto import engine_pb2, resource_pb2, resource_pb2_grpc

from gpu_ci.knowledge.verdict import Verdict
from gpu_ci.stack_file.identity import PROJECT
from ops.fakes import tables
from ops.fakes.cloud.paths import UNKNOWN
from ops.fakes.cloud.request import Place
from ops.fakes.protocol import wire
from ops.plan import isolation
from ops.plan.model import SECRET, STACK_TYPE, Plan, Planned
from ops.plan.stack_file import StackFile
from ops.plan.typed import as_typed


def record(
    stack_file: StackFile,
    *,
    program: Callable[[], Iterable[Verdict] | None] | None = None,
    preview: bool = False,
    refuse: bool = True,
) -> Plan:
    """Run the program with this stack file and return what it would register.

    Exceptions of the program pass through; its verdicts become the plan's. With `preview`, no resource has an id and
    outputs are unknown, as on the first `pulumi preview` of a stack. Without `refuse`, a stack with errors has a plan.
    """
    recorder = Recorder(stack_file.name, preview=preview)

    def recorded() -> Iterable[Verdict] | None:
        runtime.register_stack_transformation(recorder.note_order)
        return program() if program else _the_program(refuse=refuse)

    with as_typed(stack_file):
        verdicts = isolation.run(stack_file, recorded, _Stub(recorder), preview=preview)
    return recorder.plan(tuple(verdicts or ()))


def _the_program(*, refuse: bool) -> Iterable[Verdict] | None:
    """Import and run the project's own program. Its packages take most of the time of a first plan."""
    return cast("Callable[..., Iterable[Verdict] | None]", importlib.import_module("gpu_ci.program").run)(refuse=refuse)


class Recorder(mocks.MockMonitor):
    """A resource monitor that keeps every request, and answers from `ops.fakes.tables`."""

    def __init__(self, stack_name: str, *, preview: bool) -> None:
        super().__init__(_NoMocks())
        self.preview = preview
        self._stack = stack_name
        self._urns: dict[Resource, str] = {}
        """The resources in the order in which the program declares them."""
        self._planned: dict[str, Planned] = {}
        self._unconfigured: set[str] = set()
        self._places: dict[str, Place] = {}
        self._outputs: dict[str, Any] = {}
        self._logged: list[str] = []

    def note_order(self, args: ResourceTransformationArgs) -> None:
        """Note the place of a resource in the program.

        Requests arrive as soon as their inputs are known, in an order that differs from run to run. The order of the
        program is always the same, and it is the one that a reader knows.
        """
        parent = args.opts.parent
        self._urns[args.resource] = self.make_urn(self._urns.get(parent, "") if parent else "", args.type_, args.name)

    def plan(self, verdicts: tuple[Verdict, ...] = ()) -> Plan:
        """Return everything registered so far, in the order in which the program declares it; the stack first."""
        place = {urn: number for number, urn in enumerate(self._urns.values())}
        in_order = sorted(self._planned.values(), key=lambda planned: place.get(planned.urn, -1))
        return Plan(
            stack=self._stack,
            resources=tuple(in_order),
            outputs=self._outputs,
            verdicts=verdicts,
            preview=self.preview,
            logged=tuple(self._logged),
        )

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return the URN as the engine builds it, with the types of all parents."""
        chain = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if chain == STACK_TYPE else f"{chain}${type_}"
        return f"urn:pulumi:{self._stack}::{PROJECT}::{qualified}::{name}"

    def RegisterResource(  # noqa: N802  # the monitor's protocol names it
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Keep the registration, and answer as the engine does after it created the resource."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if urn in self._planned:
            raise ValueError(f"Two resources have the URN {urn}. Give each its own name")
        bag = wire.Plain(request.object, UNKNOWN)
        parent = self._planned.get(request.parent)
        planned = _planned(urn, request, bag, parent)
        self._planned[urn] = planned
        if not planned.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        if planned.is_provider:
            if planned.unknown_paths:
                self._unconfigured.add(urn)
            self._places[urn] = Place().with_provider(planned.type, planned.inputs)
            id_ = "" if self.preview else str(uuid.uuid5(uuid.NAMESPACE_URL, urn))
            return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=request.object)
        if self.preview:
            # The engine does not call a provider whose own configuration is unknown, so no output is known either.
            called = planned.provider not in self._unconfigured
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object if called else None)
        place = self._places.get(planned.provider)
        id_, computed = tables.computed(planned.type, planned.name, urn, planned.inputs, place=place)
        return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=wire.answer(request.object, computed))

    def RegisterResourceHook(self, _request: resource_pb2.RegisterResourceHookRequest) -> empty_pb2.Empty:  # noqa: N802
        """Accept a guard. A plan has no earlier state, so no guard is called."""
        return empty_pb2.Empty()

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the outputs of the stack. Outputs of components are not part of a plan."""
        if request.urn in self._planned and self._planned[request.urn].type == STACK_TYPE:
            bag = wire.Plain(request.outputs, UNKNOWN)
            whole = {path.split(".", 1)[0] for path in bag.secret_paths}
            self._outputs = {key: SECRET if key in whole else value for key, value in bag.values.items()}
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> Any:  # noqa: N802
        """Refuse a look-up in a cloud: with one, a plan would depend on the day."""
        raise tables.unanswered(request.tok)

    Call = Invoke

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> Any:  # noqa: N802
        """Refuse to read a resource outside the stack, for the same reason."""
        raise tables.unanswered(f"{request.type} {request.name!r} (read)")

    def Log(self, request: engine_pb2.LogRequest) -> None:  # noqa: N802
        """Keep warnings and errors; ignore informational messages of the SDK."""
        if request.severity >= engine_pb2.WARNING:
            self._logged.append(request.message)


def _planned(
    urn: str, request: resource_pb2.RegisterResourceRequest, bag: wire.Plain, parent: Planned | None
) -> Planned:
    """Return the registration as plain data, with the options that the engine inherits from a parent."""
    protect = request.protect if request.HasField("protect") or parent is None else parent.protect
    keep = request.retainOnDelete if request.HasField("retainOnDelete") or parent is None else parent.retain_on_delete
    return Planned(
        urn=urn,
        type=request.type,
        name=request.name,
        inputs=bag.values,
        custom=request.custom,
        parent=request.parent,
        provider=request.provider.rpartition("::")[0],
        dependencies=tuple(sorted(request.dependencies)),
        property_dependencies={
            key: tuple(sorted(value.urns)) for key, value in sorted(request.propertyDependencies.items()) if value.urns
        },
        protect=protect,
        retain_on_delete=keep,
        deleted_with=request.deletedWith or (parent.deleted_with if parent else ""),
        ignore_changes=tuple(request.ignoreChanges),
        delete_before_replace=request.deleteBeforeReplace,
        aliases=tuple(_alias(alias) for alias in request.aliases),
        secret_paths=frozenset(bag.secret_paths),
        unknown_paths=frozenset(bag.unknown_paths),
    )


def _alias(alias: Any) -> str:
    """Return the URN of an alias, or the parts of the name that differ: `name=old,parentUrn=…`."""
    if alias.urn:
        return cast("str", alias.urn)
    return ",".join(f"{field.name}={value}" for field, value in alias.spec.ListFields() if value)


class _Stub(resource_pb2_grpc.ResourceMonitorStub):
    """The recorder as a stub of the protocol: the SDK registers the guards of updates with a stub only."""

    def __init__(self, recorder: Recorder) -> None:
        # The stub's own constructor would connect the methods to a server.
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._recorder, name)


class _NoMocks(mocks.Mocks):
    """No mocks: the recorder answers every request."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise tables.unanswered(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        raise tables.unanswered(args.typ)
