"""The recorder: runs the real program and keeps every registration.

The only place of the project that touches the SDK's internals. Every run has a thread, an event loop and SDK
settings of its own, so that runs neither see nor leave anything; registrations are answered on the spot instead of
in a thread pool, which makes a run as repeatable as the program, and faster than the SDK alone.

What a cloud would answer is `ops.answers`; the shapes of a plan are `ops.plan`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import threading
import uuid
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from google.protobuf import empty_pb2
from pulumi._utils import ContextProperty
from pulumi.runtime import config as sdk_config
from pulumi.runtime import mocks, rpc_manager, settings, stack
from pulumi.runtime.proto import engine_pb2, resource_pb2

from ops import answers, wire
from ops.plan import SECRET, STACK_TYPE, UNKNOWN, Plan, Planned
from ops.quiet import surroundings
from ops.stack_file import PROJECT, StackFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")

_ROOT: Final = Path(__file__).resolve().parent.parent
_ONE_RUN_AT_A_TIME: Final = threading.Lock()
"""The environment, and the SDK's defaults for threads it does not know, are the process's."""
_DECLARED: ContextVar[int] = ContextVar("declared")
"""How many registrations the program had asked for when it asked for the one being served."""


def record(stack_file: StackFile, *, program: Callable[[], None] | None = None, preview: bool = False) -> Plan:
    """Run the program with this stack file and return what it would register.

    Whatever the program raises is raised here too. With `preview`, nothing has an id and outputs are unknown, as
    on the first `pulumi preview` of a stack.
    """
    with _ONE_RUN_AT_A_TIME, surroundings(), _sdk_defaults_kept():
        return _in_a_thread(lambda: _run(stack_file, program, preview=preview))


def _run(stack_file: StackFile, program: Callable[[], None] | None, *, preview: bool) -> Plan:
    """Run inside the present thread, which nobody else uses."""
    monitor = Recorder(stack_file.name, preview=preview)
    sdk = settings.Settings(
        project=PROJECT,
        stack=stack_file.name,
        monitor=monitor,
        engine=monitor,
        dry_run=preview,
        legacy_apply_enabled=False,
        organization="organization",
        root_directory=str(_ROOT),
    )
    sdk.rpc_manager = _Declarations()
    sdk_config.CONFIG.set(_Stated(stack_file.config))
    sdk_config._SECRET_KEYS.set(set(stack_file.secret_keys))  # noqa: SLF001  # there is no public way to set both
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # A run that fails leaves other tasks behind, whose faults follow from the first; that one is raised.
    loop.set_exception_handler(lambda _loop, _context: None)
    loop.set_default_executor(_OnTheSpot())
    try:
        run = program or cast("Callable[[], None]", importlib.import_module("program").run)
        loop.run_until_complete(stack.run_in_stack(run))
    finally:
        _wind_up(loop)
    return monitor.plan()


class Recorder(mocks.MockMonitor):
    """A resource monitor that keeps what it is told, and answers from `ops.answers`."""

    def __init__(self, stack_name: str, *, preview: bool) -> None:
        super().__init__(_NoMocks())
        self._stack = stack_name
        self._preview = preview
        self._planned: dict[str, tuple[int, Planned]] = {}
        self._places: dict[str, answers.Place] = {}
        self._outputs: dict[str, Any] = {}
        self._logged: list[str] = []

    def plan(self) -> Plan:
        """Everything registered so far, in the order in which the program declared it."""
        in_order = sorted(self._planned.values(), key=lambda pair: pair[0])
        return Plan(
            stack=self._stack,
            resources=tuple(planned for _, planned in in_order),
            outputs=self._outputs,
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
        self._planned[urn] = (_DECLARED.get(len(self._planned)), planned)
        if not planned.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        if planned.is_provider:
            self._places[urn] = answers.Place().with_provider(planned.type, planned.inputs)
            id_ = "" if self._preview else str(uuid.uuid5(uuid.NAMESPACE_URL, urn))
            return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=request.object)
        if self._preview:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
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
    return ",".join(f"{field.name}={value}" for field, value in alias.spec.ListFields())


class _Declarations(rpc_manager.RPCManager):
    """Numbers the SDK's calls in the order in which the program makes them.

    The calls reach the monitor when what they wait for is known, and the SDK waits for sets; the program's own
    order is the one that is the same every time, and the one a reader knows.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the SDK does not type it
        self._count = 0

    def do_rpc(
        self, name: str, rpc_function: Callable[..., Awaitable[T]]
    ) -> Callable[..., Awaitable[tuple[T, Exception]]]:
        self._count += 1
        number = self._count
        call = super().do_rpc(name, rpc_function)

        async def numbered(*args: Any, **kwargs: Any) -> tuple[T, Exception]:
            _DECLARED.set(number)
            return await call(*args, **kwargs)

        return numbered


class _Stated(dict[str, Any]):
    """Configuration in which every key stands, so that the SDK never looks for one in the environment."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        return None


class _NoMocks(mocks.Mocks):
    """Nothing: the recorder answers by itself."""

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise answers.unanswered(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        raise answers.unanswered(args.typ)


class _OnTheSpot(concurrent.futures.ThreadPoolExecutor):
    """An executor that has no threads: what it is given is done at once, in the caller's context."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as fault:  # noqa: BLE001  # whatever it is, the future carries it to who waits
            future.set_exception(fault)
        return future


@contextlib.contextmanager
def _sdk_defaults_kept() -> Iterator[None]:
    """Put back what the SDK remembers for threads that it has not seen."""
    attribute = "_ContextProperty__default"
    kept = [
        (item, getattr(item, attribute))
        for item in vars(settings.Settings).values()
        if isinstance(item, ContextProperty)
    ]
    try:
        yield
    finally:
        for item, value in kept:
            setattr(item, attribute, value)


def _in_a_thread(work: Callable[[], T]) -> T:
    """Do `work` in a fresh thread: no event loop, no context, and none left behind."""
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as fault:  # noqa: BLE001  # raised again below, in the caller's thread
            faults.append(fault)

    thread = threading.Thread(target=run, name="recorder", daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return results[0]


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """End what a failed run left waiting, and close the loop."""
    waiting = asyncio.all_tasks(loop)
    for task in waiting:
        task.cancel()
    if waiting:
        loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
    loop.close()
    asyncio.set_event_loop(None)
