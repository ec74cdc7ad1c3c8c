"""Run a program against a monitor of ours, isolated from the machine and from other runs.

A run uses the public runtime interface of the SDK (`pulumi.runtime`). It gets a thread, an event loop and settings of
its own, and an environment without the variables that the provider packages read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from pulumi import runtime

from gpu_ci.stack_file.identity import PROJECT
from ops.plan.lean_imports import lean_imports
from ops.plan.stack_file import StackFile

T = TypeVar("T")

_ROOT: Final = Path(__file__).resolve().parents[2]
_ONE_RUN_AT_A_TIME: Final = threading.Lock()
"""The environment, and the defaults that the SDK keeps for unknown threads, belong to the whole process."""

_PREFIXES: Final = (
    *("AWS_", "CLOUDSDK_", "GCLOUD_", "GCP_", "GOOGLE_"),
    *("BUILDKIT_", "BUILDX_", "DOCKER_"),
    *("PULUMI_CONFIG", "PULUMI_K8S_"),
)
_NAMES: Final = frozenset({"KUBECONFIG", "PULUMI_DISABLE_RESOURCE_REFERENCES", "PULUMI_ENABLE_LEGACY_APPLY"})
_STRICT: Final = {"PULUMI_ERROR_OUTPUT_STRING": "1"}
"""Makes an Output in an f-string raise. By default, the text of a warning ends up in the resource."""


@contextlib.contextmanager
def hidden_environment() -> Generator[None]:
    """Hide the variables from which the provider packages fill open inputs, and restore them afterwards.

    A plan made with `AWS_REGION` set must equal the plan made in a pipeline: its values come from the stack file alone.
    """
    hidden = {name: value for name, value in os.environ.items() if name.startswith(_PREFIXES) or name in _NAMES}
    replaced = {name: os.environ.get(name) for name in _STRICT}
    for name in hidden:
        del os.environ[name]
    os.environ.update(_STRICT)
    try:
        yield
    finally:
        os.environ.update(hidden)
        for name, value in replaced.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def run(stack_file: StackFile, program: Callable[[], T], monitor: Any, *, preview: bool) -> T:
    """Run `program` with this configuration against `monitor`. Return its result, or raise what it raises."""

    def in_thread() -> T:
        runtime.configure(
            runtime.Settings(
                project=PROJECT,
                stack=stack_file.name,
                monitor=monitor,
                engine=monitor,
                dry_run=preview,
                legacy_apply_enabled=False,
                organization="organization",
                root_directory=str(_ROOT),
            )
        )
        runtime.set_all_config(dict(stack_file.config), list(stack_file.secret_keys))
        return asyncio.run(_run_in_stack(program))

    with _ONE_RUN_AT_A_TIME, hidden_environment(), lean_imports():
        return start(in_thread).result()


async def _run_in_stack(program: Callable[[], T]) -> T:
    """Run `program` inside a stack and wait until everything that it declares is registered."""
    loop = asyncio.get_running_loop()
    # After a failure, the SDK leaves tasks behind that fail for the same reason. Only the first failure is raised.
    loop.set_exception_handler(lambda _loop, _context: None)
    # One worker, so that calls arrive at the monitor one after the other.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    results: list[T] = []
    await runtime.run_in_stack(lambda: results.append(program()))
    return results[0]


def start(work: Callable[[], T]) -> Future[T]:
    """Start `work` in a new thread, which has no event loop and no context of other runs.

    An interrupted process does not wait for the thread.
    """
    future: Future[T] = Future()

    def attempt() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=attempt, name="recorder", daemon=True).start()
    return future
