"""The recorder: runs the real program and keeps every registration as it would reach the engine.

Owns the monitor that answers a program in the engine's place. How the program is run is `ops.plan.sdk_run`, what a cloud
would answer is `fakes.answers`, and the shapes of a plan are `ops.plan.model`.
"""

from __future__ import annotations

import importlib
import uuid
from typing import TYPE_CHECKING, Any, cast

from google.protobuf import empty_pb2
from pulumi.runtime import mocks
from pulumi.runtime.proto import engine_pb2, resource_pb2

from fakes import answers, wire
from fakes.wire import UNKNOWN
from ops.plan import sdk_run
from ops.plan.model import SECRET, STACK_TYPE, Plan, Planned
from ops.plan.stack_file import PROJECT, StackFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpu.verdict import Verdict


def record(
    stack_file: StackFile, *, program: Callable[[], Iterable[Verdict] | None] | None = None, preview: bool = False
) -> Plan:
    """Run the program with this stack file and return what it would register.

    Whatever the program raises is raised here too; the verdicts it returns are the plan's. With `preview`, nothing
    has an id and outputs are unknown, as on the first `pulumi preview` of a stack.
    """
    monitor = Recorder(stack_file.name, preview=preview)
    verdicts = sdk_run.run(stack_file, program or _the_program, monitor, preview=preview)
    return monitor.plan(tuple(verdicts or ()))


def _the_program() -> Iterable[Verdict] | None:
    """The project's own program, imported when it is run: its packages take most of the time of a first plan."""
    return cast("Callable[[], Iterable[Verdict] | None]", importlib.import_module("program").run)()


class Recorder(mocks.MockMonitor):
    """A resource monitor that keeps what it is told, and answers from `fakes.answers`."""

    def __init__(self, stack_name: str, *, preview: bool) -> None:
        super().__init__(_NoMocks())
        self._stack = stack_name
        self._preview = preview
        self._planned: dict[str, tuple[int, Planned]] = {}
        self._unconfigured: set[str] = set()
        self._places: dict[str, answers.Place] = {}
        self._outputs: dict[str, Any] = {}
        self._logged: list[str] = []

    def plan(self, verdicts: tuple[Verdict, ...] = ()) -> Plan:
        """Everything registered so far, in the order in which the program declared it."""
        in_order = sorted(self._planned.values(), key=lambda pair: pair[0])
        return Plan(
            stack=self._stack,
            resources=tuple(planned for _, planned in in_order),
            outputs=self._outputs,
            verdicts=verdicts,
            preview=self._preview,
            logged=tuple(self._logged),
        )

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """The URN as the engine makes it: with the whole chain of the parents' types."""
        chain = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if chain == STACK_TYPE else f"{chain}${type_}"
        return f"urn:pulumi:{self._stack}::{PROJECT}::{qualified}::{name}"

    def RegisterResource(  # noqa: N802  # the monitor's protocol names it
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Keep the registration, and answer as the engine would after making the thing."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if urn in self._planned:
            raise ValueError(f"Two resources are called {urn}. Give each a name of its own")
        bag = wire.Plain(request.object, UNKNOWN)
        parent = self._planned[request.parent][1] if request.parent in self._planned else None
        planned = _planned(urn, request, bag, parent)
        self._planned[urn] = (sdk_run.declared(), planned)
        if not planned.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        if planned.is_provider:
            if planned.unknown_paths:
                self._unconfigured.add(urn)
            self._places[urn] = answers.Place().with_provider(planned.type, planned.inputs)
            id_ = "" if self._preview else str(uuid.uuid5(uuid.NAMESPACE_URL, urn))
            return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=request.object)
        if self._preview:
            # A provider whose own configuration is not known yet is not asked, and then nothing is known.
            asked = planned.provider not in self._unconfigured
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object if asked else None)
        place = self._places.get(planned.provider)
        id_, computed = answers.computed(planned.type, planned.name, urn, planned.inputs, place=place)
        return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=wire.answer(request.object, computed))

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the outputs of the stack; those of a component are its own affair."""
        if request.urn in self._planned and self._planned[request.urn][1].type == STACK_TYPE:
            bag = wire.Plain(request.outputs, UNKNOWN)
            whole = {path.split(".", 1)[0] for path in bag.secret_paths}
            self._outputs = {key: SECRET if key in whole else value for key, value in bag.values.items()}
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> Any:  # noqa: N802
        """Answer a look-up; the program makes none, so that a plan does not depend on the day."""
        raise answers.unanswered(request.tok)

    Call = Invoke

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> Any:  # noqa: N802
        """Refuse to read what exists outside the stack, for the same reason."""
        raise answers.unanswered(f"{request.type} {request.name!r} (read)")

    def Log(self, request: engine_pb2.LogRequest) -> None:  # noqa: N802
        """Keep warnings and errors; the rest is chatter of the SDK."""
        if request.severity >= engine_pb2.WARNING:
            self._logged.append(request.message)


def _planned(
    urn: str, request: resource_pb2.RegisterResourceRequest, bag: wire.Plain, parent: Planned | None
) -> Planned:
    """The registration as plain data; what the engine lets a child inherit is inherited here too."""
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
    """The URN, or the parts of the name that were different: `name=old,parentUrn=…`."""
    if alias.urn:
        return cast("str", alias.urn)
    return ",".join(f"{field.name}={value}" for field, value in alias.spec.ListFields() if value)


class _NoMocks(mocks.Mocks):
    """Nothing: the recorder answers by itself."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise answers.unanswered(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        raise answers.unanswered(args.typ)
