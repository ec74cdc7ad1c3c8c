"""The host of the program, called as the engine calls it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Final

import grpc
import pytest
from pulumi import runtime
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from ops.engine.program import called_back

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.engine

HOSTS: Final = "engine-calls-back"
WAIT: Final = 10.0


def test_a_program_that_waits_for_ever_ends_with_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = threading.Event()

    async def for_ever(_program: Callable[[], None]) -> None:
        waits.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(runtime, "run_in_stack", for_ever)
    with called_back(lambda: None, lambda _event: None) as address, grpc.insecure_channel(address) as channel:
        request = language_pb2.RunRequest(project="gpu-ci", stack="staging", args=[address])
        call = language_pb2_grpc.LanguageRuntimeStub(channel).Run.future(request)
        assert waits.wait(WAIT), call
        at_work = [thread for thread in threading.enumerate() if thread.name.startswith(HOSTS)]

    assert at_work != []
    for thread in at_work:
        thread.join(WAIT)
    assert [thread for thread in at_work if thread.is_alive()] == []
