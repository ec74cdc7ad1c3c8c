"""What the engine calls back: the program it runs, and the ear for its events.

Owns the server of the two, on this machine, for as long as one operation lasts: the protocol of a language host, which
runs the program in this process, and the stream of events, both as the SDK's Automation API serves them
(`pulumi/automation/_server.py`, `_stack.py`, 3.258). Why that API is not used itself is told in
`docs/adr/0003-inline-program-drives-the-engine.md`.
"""

# The protocols name the methods of a server and their parameters, whether one needs them or not.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import platform
import sys
import traceback
from concurrent import futures
from typing import TYPE_CHECKING, Any, Final

import grpc
import pulumi
from google.protobuf import empty_pb2
from pulumi import log, runtime
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import events_pb2_grpc, language_pb2, language_pb2_grpc, plugin_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""As the engine's own, in bytes."""
_PATIENCE: Final = 5.0
"""Seconds for a program that was given up to come to its end."""


@contextlib.contextmanager
def called_back(program: Callable[[], None], told: Callable[[EngineEvent], None]) -> Generator[str]:
    """The address at which `program` and `told` can be reached."""
    threads = futures.ThreadPoolExecutor(max_workers=4, thread_name_prefix="engine-calls-back")
    server = grpc.server(
        threads,
        options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.so_reuseport", 0)],
    )
    hosted = _Program(program)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(hosted, server)
    events_pb2_grpc.add_EventsServicer_to_server(_Ear(told), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        # An engine that was ended in the middle leaves a program that waits for it, and Python would wait for both.
        hosted.give_up()
        server.stop(None).wait(_PATIENCE)
        threads.shutdown(wait=False)


class _Program(language_pb2_grpc.LanguageRuntimeServicer):
    """A language host with one program in it."""

    def __init__(self, program: Callable[[], None]) -> None:
        self._program = program
        self._running: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}

    def give_up(self) -> None:
        """Let every run that is still under way end where it waits."""
        for loop, run in list(self._running.items()):
            # One that has ended in the meantime has closed its loop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(run.cancel)

    def About(self, request: Any, context: Any) -> language_pb2.AboutResponse:
        """Which interpreter this is."""
        return language_pb2.AboutResponse(executable=sys.executable, version=platform.python_version())

    def GetPluginInfo(self, request: Any, context: Any) -> plugin_pb2.PluginInfo:
        """A host of no version of its own."""
        return plugin_pb2.PluginInfo()

    def GetRequiredPackages(self, request: Any, context: Any) -> language_pb2.GetRequiredPackagesResponse:
        """None: the stand-ins are attached, and nothing is to be looked for."""
        return language_pb2.GetRequiredPackagesResponse()

    def Run(self, request: language_pb2.RunRequest, context: Any) -> language_pb2.RunResponse:
        """Run the program for one operation, in a context of its own."""
        return contextvars.copy_context().run(self._run, request)

    def _run(self, request: language_pb2.RunRequest) -> language_pb2.RunResponse:
        runtime.reset_options(
            project=request.project,
            stack=request.stack,
            organization=request.organization or "organization",
            monitor_address=request.monitor_address,
            engine_address=next(iter(request.args), ""),
            parallel=request.parallel,
            preview=request.dryRun,
        )
        runtime.set_all_config(dict(request.config), list(request.configSecretKeys))
        loop = asyncio.new_event_loop()
        # What still waits when the program fails, fails with it; the first fault is the one that is told.
        loop.set_exception_handler(lambda _loop, _context: None)
        try:
            self._running[loop] = loop.create_task(runtime.run_in_stack(self._program))
            loop.run_until_complete(self._running[loop])
        except asyncio.CancelledError:
            return language_pb2.RunResponse(bail=True)
        except Exception as fault:  # noqa: BLE001  # whatever it is, the engine is told in this one place
            _tell(fault)
            return language_pb2.RunResponse(bail=True)
        finally:
            del self._running[loop]
            _wind_up(loop)
        return language_pb2.RunResponse()


def _tell(fault: Exception) -> None:
    """Say what was wrong: a user's fault in its own words, a fault of ours with its trace."""
    if isinstance(fault, grpc.RpcError):
        # The engine has refused something and said so, or it is no longer there.
        return
    words = str(fault) if isinstance(fault, pulumi.RunError) else "".join(traceback.format_exception(fault))
    with contextlib.suppress(grpc.RpcError):
        log.error(words)


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """End what a failed run left waiting, and close the loop."""
    waiting = asyncio.all_tasks(loop)
    for task in waiting:
        task.cancel()
    # Not gathered: to gather nothing, there would have to be a loop already.
    if waiting:
        loop.run_until_complete(asyncio.wait(waiting))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


class _Ear(events_pb2_grpc.EventsServicer):
    """Takes the engine's events."""

    def __init__(self, told: Callable[[EngineEvent], None]) -> None:
        self._told = told

    def StreamEvents(self, request_iterator: Iterable[Any], context: Any) -> empty_pb2.Empty:
        """Hear them all, in order."""
        for request in request_iterator:
            self._told(EngineEvent.from_json(json.loads(request.event)))
        return empty_pb2.Empty()
