"""What the engine calls back: the program it runs, and the ear for its events.

Owns the server of the two, on this machine, for as long as one operation lasts. The program runs in this process under
the Automation API's own language server (`pulumi.automation`, 3.258); the rest of that API is not used, since it asks
two or three more processes after every operation for what the events have told already.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from concurrent import futures
from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf import empty_pb2
from pulumi.automation._server import LanguageServer
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import events_pb2_grpc, language_pb2, language_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""As the engine's own, in bytes."""


@contextlib.contextmanager
def called_back(program: Callable[[], None], told: Callable[[EngineEvent], None]) -> Generator[str]:
    """The address at which `program` and `told` can be reached."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4, thread_name_prefix="engine-calls-back"),
        options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.so_reuseport", 0)],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(_Program(program), server)
    events_pb2_grpc.add_EventsServicer_to_server(_Ear(told), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None)


class _Program(LanguageServer):
    """The SDK's own host of a program, for whose last words there may be nobody to listen."""

    def __init__(self, program: Callable[[], None]) -> None:
        super().__init__(self._noted)
        self._program = program
        self._loops: list[asyncio.AbstractEventLoop] = []

    def Run(self, request: Any, context: Any) -> language_pb2.RunResponse:  # noqa: N802  # the protocol names it
        """Run the program; what was wrong with it the engine has heard by then."""
        try:
            response: language_pb2.RunResponse = super().Run(request, context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001  # what was still waiting fails with what failed before it, or for want of an engine
            return language_pb2.RunResponse(bail=True)
        else:
            return response
        finally:
            while self._loops:
                _wind_up(self._loops.pop())

    def _noted(self) -> None:
        self._loops.append(asyncio.get_running_loop())
        self._program()


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """End what the SDK leaves waiting where one of the waiting fails, and close the loop."""
    if loop.is_closed():
        return
    waiting = asyncio.all_tasks(loop)
    for task in waiting:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
    loop.close()


class _Ear(events_pb2_grpc.EventsServicer):
    """Takes the engine's events."""

    def __init__(self, told: Callable[[EngineEvent], None]) -> None:
        self._told = told

    def StreamEvents(self, request_iterator: Iterable[Any], context: Any) -> empty_pb2.Empty:  # noqa: ARG002, N802
        """Hear them all, in order."""
        for request in request_iterator:
            self._told(EngineEvent.from_json(json.loads(request.event)))
        return empty_pb2.Empty()
