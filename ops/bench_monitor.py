"""The yardstick of `make bench`: the SDK as it is, under a monitor that counts and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulumi.runtime import config, mocks, settings, stack
from pulumi.runtime.proto import engine_pb2, resource_pb2

from ops.quiet import surroundings
from ops.stack_file import PROJECT, StackFile

if TYPE_CHECKING:
    from collections.abc import Callable


class Counter(mocks.MockMonitor):
    """Gives every registration a URN, and remembers how many there were."""

    def __init__(self, stack_file: StackFile) -> None:
        super().__init__(_NoMocks())
        self.count = 0
        self._stack_file = stack_file

    async def run(self, program: Callable[[], object]) -> None:
        """Run a program as the SDK runs it in a preview."""

        def declare() -> None:
            program()

        settings.set_root_resource(None)  # type: ignore[arg-type]  # what the SDK itself does between programs
        sdk: Any = settings.Settings(
            project=PROJECT, stack=self._stack_file.name, monitor=self, engine=self, dry_run=True
        )
        settings.configure(sdk)
        config.set_all_config(dict(self._stack_file.config), list(self._stack_file.secret_keys))
        with surroundings():
            await stack.run_in_stack(declare)

    def RegisterResource(  # noqa: N802  # the monitor's protocol names it
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Count, and give a name."""
        self.count += 1
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:s::p::{request.type}::{request.name}")

    def Log(self, request: engine_pb2.LogRequest) -> None:  # noqa: N802
        """Hear nothing."""


class _NoMocks(mocks.Mocks):
    def call(self, args: mocks.MockCallArgs) -> Any:
        raise LookupError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> Any:
        raise LookupError(args.typ)
