"""The language host of the program."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi import runtime
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from ops.engine.program import serve

pytestmark = pytest.mark.engine

PREFIX: Final = "engine-calls-back"
WAIT: Final = 10.0


def test_a_waiting_program_ends_with_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = threading.Event()

    async def wait_forever(_program: Callable[[], None]) -> None:
        waits.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(runtime, "run_in_stack", wait_forever)
    with serve(lambda: None, lambda _event: None) as address, grpc.insecure_channel(address) as channel:
        request = language_pb2.RunRequest(project="gpu-ci", stack="staging", args=[address])
        call = language_pb2_grpc.LanguageRuntimeStub(channel).Run.future(request)
        assert waits.wait(WAIT), call
        threads = [thread for thread in threading.enumerate() if thread.name.startswith(PREFIX)]

    assert threads != []
    for thread in threads:
        thread.join(WAIT)
    assert [thread for thread in threads if thread.is_alive()] == []


@contextlib.contextmanager
def listening(address: str) -> Generator[int]:
    """A server without any method; yield its port."""
    server = grpc.server(ThreadPoolExecutor(max_workers=1), options=[("grpc.so_reuseport", 0)])
    port = server.add_insecure_port(address)
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait(WAIT)


def test_a_program_reaches_a_new_engine_on_the_port_of_a_killed_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel of the SDK would wait some time before it tries a refused address again."""
    answers: list[grpc.StatusCode] = []
    still_referenced: list[Any] = []

    async def ask_the_engine(_program: Callable[[], None]) -> None:
        monitor = runtime.settings.get_monitor()
        assert monitor is not None
        still_referenced.append(monitor)
        try:
            monitor.GetDeploymentInfo(empty_pb2.Empty())
        except grpc.RpcError as error:
            answers.append(error.code())

    monkeypatch.setattr(runtime, "run_in_stack", ask_the_engine)
    with listening("127.0.0.1:0") as port:
        engine = f"127.0.0.1:{port}"
    with serve(lambda: None, lambda _event: None) as address, grpc.insecure_channel(address) as channel:
        run = language_pb2_grpc.LanguageRuntimeStub(channel).Run
        request = language_pb2.RunRequest(project="gpu-ci", stack="staging", monitor_address=engine, args=[engine])
        run(request, timeout=WAIT)
        with listening(engine):
            run(request, timeout=WAIT)

    assert answers == [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED]
