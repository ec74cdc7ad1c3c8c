"""One run of a program under the SDK, shut off from everything: the machine, other runs, chance.

Owns what has to be known of the SDK's insides (pulumi 3.258) to run a program without an engine: its settings, its
calls, its waiting. Every run has a thread, an event loop and settings of its own, so that runs neither see nor
leave anything. Calls are answered on the spot instead of in a thread pool, which makes a run as repeatable as the
program. What is answered is not decided here: see `ops.plan.recorder`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import threading
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pulumi import log
from pulumi._utils import ContextProperty
from pulumi.runtime import config as sdk_config
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc_manager, settings, stack
from pulumi.runtime.proto import source_pb2

from ops.plan.lean_imports import lean_imports
from ops.plan.quiet import surroundings
from ops.plan.stack_file import PROJECT, StackFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

T = TypeVar("T")

_ROOT: Final = Path(__file__).resolve().parents[2]
_ONE_RUN_AT_A_TIME: Final = threading.Lock()
"""The environment, and what the SDK keeps for threads that it does not know, are the process's."""
_DECLARED: ContextVar[int] = ContextVar("declared")


def declared() -> int:
    """The place of the call being answered in the order in which the program made its calls.

    The calls arrive when what they wait for is known, and the SDK waits for sets; the program's own order is the
    one that is the same every time, and the one a reader knows.
    """
    return _DECLARED.get()


def run(stack_file: StackFile, program: Callable[[], T], monitor: Any, *, preview: bool) -> T:
    """Run `program` with this configuration against `monitor`; whatever it returns or raises is what this does."""
    with _ONE_RUN_AT_A_TIME, surroundings(), lean_imports(), _sdk_trimmed():
        return _in_a_thread(lambda: _run(stack_file, program, monitor, preview=preview))


def _run(stack_file: StackFile, program: Callable[[], T], monitor: Any, *, preview: bool) -> T:
    """Run inside the present thread, which nobody else uses."""
    manager = _Calls()
    # What the SDK declares on this class are descriptors that no checker sees through.
    sdk: Any = settings.Settings(
        project=PROJECT,
        stack=stack_file.name,
        monitor=monitor,
        engine=monitor,
        dry_run=preview,
        legacy_apply_enabled=False,
        organization="organization",
        root_directory=str(_ROOT),
    )
    sdk.rpc_manager = manager
    sdk_config.set_all_config(dict(stack_file.config), list(stack_file.secret_keys))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # A run that fails leaves other tasks behind, whose faults follow from the first; that one is raised.
    loop.set_exception_handler(lambda _loop, _context: None)
    loop.set_default_executor(_OnTheSpot())
    try:
        return loop.run_until_complete(_declare(program, manager))
    finally:
        _wind_up(loop)


async def _declare(program: Callable[[], T], manager: rpc_manager.RPCManager) -> T:
    """Run the program inside a stack, and wait until everything it declared is registered.

    In place of the SDK's `run_in_stack`, which looks through every waiting output each time one of them is ready:
    with a thousand resources that is most of the time. Here all are waited for at once.
    """
    # What `run_in_stack` begins and ends with.
    await settings._load_monitor_feature_support()  # type: ignore[no-untyped-call]  # noqa: SLF001
    root = stack.Stack()
    try:
        result = program()
    finally:
        root._finish()  # noqa: SLF001
    ambient: Any = settings.SETTINGS
    outputs: set[asyncio.Future[Any]] = ambient.outputs
    while True:
        await asyncio.sleep(0)
        waiting = [*manager.rpcs, *outputs]
        if not waiting:
            return result
        manager.rpcs.clear()
        outputs.clear()
        await asyncio.gather(*waiting, return_exceptions=True)
        # The first fault in the order of the program: what follows from it comes later.
        await asyncio.gather(*waiting)


class _Calls(rpc_manager.RPCManager):
    """Numbers the SDK's calls in the order in which the program makes them."""

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
def _sdk_trimmed() -> Generator[None]:
    """Leave out what only an engine reads, and put everything of the SDK back afterwards.

    Source positions and debug lines are nobody's here. The garbage collector rests: a run makes ten thousands of
    objects that all live until its end, and searching them again and again takes half of the time.
    """
    default = "_ContextProperty__default"
    properties = [item for item in vars(settings.Settings).values() if isinstance(item, ContextProperty)]
    kept = [(item, getattr(item, default)) for item in properties]
    positions, debug, collecting = sdk_resource._get_stack_trace, log.debug, gc.isenabled()  # noqa: SLF001
    nowhere = source_pb2.StackTrace()
    sdk_resource._get_stack_trace = lambda: nowhere  # noqa: SLF001
    log.debug = _said_to_nobody
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        log.debug = debug
        sdk_resource._get_stack_trace = positions  # noqa: SLF001
        for item, value in kept:
            setattr(item, default, value)


def _said_to_nobody(*_args: Any, **_kwargs: Any) -> None:
    """Stands in for the SDK's `log.debug`."""


def _in_a_thread(work: Callable[[], T]) -> T:
    """Do `work` in a fresh thread: no event loop, no context, and none left behind."""
    results: list[T] = []
    faults: list[BaseException] = []

    def attempt() -> None:
        try:
            results.append(work())
        except BaseException as fault:  # noqa: BLE001  # raised again below, in the caller's thread
            faults.append(fault)

    thread = threading.Thread(target=attempt, name="recorder", daemon=True)
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


__all__: Final = ["declared", "run"]
