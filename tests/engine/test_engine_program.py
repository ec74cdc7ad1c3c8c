"""The language host of the program."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Final

import grpc
import pytest
from pulumi import runtime
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from ops.engine.program import serve

if TYPE_CHECKING:
    from collections.abc import Callable

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
