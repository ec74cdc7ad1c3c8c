"""The server that the engine calls during one operation: a language host with the program, and a sink for events.

Both protocols are those of the SDK's Automation API (`pulumi/automation/_server.py`, `_stack.py`, 3.258).
`docs/adr/0003-inline-program-drives-the-engine.md` explains why that API itself is not used.
"""

# The protocols decide the names and the parameters of the methods.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import traceback
from collections.abc import Callable, Generator, Iterable
from concurrent import futures
from typing import Any, Final

import grpc
import pulumi
from google.protobuf import empty_pb2
from pulumi import log, runtime
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import (
    engine_pb2_grpc,
    events_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    plugin_pb2,
    resource_pb2_grpc,
)

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""The engine's own limit, in bytes."""
_STOP_TIMEOUT: Final = 5.0
"""Seconds for a cancelled program to end."""


@contextlib.contextmanager
def serve(program: Callable[[], None], on_event: Callable[[EngineEvent], None]) -> Generator[str]:
    """Serve `program` and `on_event`; yield the address."""
    threads = futures.ThreadPoolExecutor(max_workers=4, thread_name_prefix="engine-calls-back")
    server = grpc.server(
        threads,
        options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.so_reuseport", 0)],
    )
    hosted = _Program(program)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(hosted, server)
    events_pb2_grpc.add_EventsServicer_to_server(_Events(on_event), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        # The program of an interrupted engine would wait for it forever.
        hosted.cancel()
        server.stop(None).wait(_STOP_TIMEOUT)
        threads.shutdown(wait=False)


class _Program(language_pb2_grpc.LanguageRuntimeServicer):
    """A language host with one program."""

    def __init__(self, program: Callable[[], None]) -> None:
        self._program = program
        self._running: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}

    def cancel(self) -> None:
        """Cancel every run."""
        for loop, run in list(self._running.items()):
            # A run that ended in the meantime has closed its loop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(run.cancel)

    def GetPluginInfo(self, request: Any, context: Any) -> plugin_pb2.PluginInfo:
        """Return no version."""
        return plugin_pb2.PluginInfo()

    def GetRequiredPackages(self, request: Any, context: Any) -> language_pb2.GetRequiredPackagesResponse:
        """Return no packages: the engine is attached to the fake providers."""
        return language_pb2.GetRequiredPackagesResponse()

    def Run(self, request: language_pb2.RunRequest, context: Any) -> language_pb2.RunResponse:
        """Run the program for one operation, in a context of its own."""
        return contextvars.copy_context().run(self._run, request)

    def _run(self, request: language_pb2.RunRequest) -> language_pb2.RunResponse:
        with (
            _channel(request.monitor_address) as monitor,
            _channel(request.args[0]) as engine,
        ):
            runtime.configure(
                runtime.Settings(
                    project=request.project,
                    stack=request.stack,
                    organization=request.organization or "organization",
                    monitor=resource_pb2_grpc.ResourceMonitorStub(monitor),
                    engine=engine_pb2_grpc.EngineStub(engine),
                    parallel=request.parallel,
                    dry_run=request.dryRun,
                )
            )
            runtime.set_all_config(dict(request.config), list(request.configSecretKeys))
            return self._run_in_loop()

    def _run_in_loop(self) -> language_pb2.RunResponse:
        loop = asyncio.new_event_loop()
        # When the program fails, pending calls fail too; only the first error is reported.
        loop.set_exception_handler(lambda _loop, _context: None)
        try:
            self._running[loop] = loop.create_task(runtime.run_in_stack(self._program))
            loop.run_until_complete(self._running[loop])
        except asyncio.CancelledError:
            return language_pb2.RunResponse(bail=True)
        except Exception as fault:  # noqa: BLE001  # every error is reported here
            _report(fault)
            return language_pb2.RunResponse(bail=True)
        finally:
            del self._running[loop]
            _close(loop)
        return language_pb2.RunResponse()


def _channel(address: str) -> grpc.Channel:
    """Open a channel to the engine; close it after the run.

    The SDK leaves its channels open. gRPC shares connections between the channels of a process and waits up to two
    minutes before it tries a refused address again. So the program would not reach an engine that listens on a port of
    a killed one.
    """
    return grpc.insecure_channel(
        address,
        options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.use_local_subchannel_pool", 1)],
    )


def _report(fault: Exception) -> None:
    """Report an error: a `RunError` as its message, any other exception with its traceback."""
    if isinstance(fault, grpc.RpcError):
        # The engine has reported a refusal itself, or it has ended.
        return
    words = str(fault) if isinstance(fault, pulumi.RunError) else "".join(traceback.format_exception(fault))
    with contextlib.suppress(grpc.RpcError):
        log.error(words)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the pending tasks of a failed run, and close the loop."""
    waiting = asyncio.all_tasks(loop)
    for task in waiting:
        task.cancel()
    # `asyncio.gather` without tasks would need a running loop.
    if waiting:
        loop.run_until_complete(asyncio.wait(waiting))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


class _Events(events_pb2_grpc.EventsServicer):
    """Receives the engine's events."""

    def __init__(self, on_event: Callable[[EngineEvent], None]) -> None:
        self._on_event = on_event

    def StreamEvents(self, request_iterator: Iterable[Any], context: Any) -> empty_pb2.Empty:
        """Pass on all events, in order."""
        for request in request_iterator:
            self._on_event(EngineEvent.from_json(json.loads(request.event)))
        return empty_pb2.Empty()
