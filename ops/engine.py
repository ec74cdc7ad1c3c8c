"""The real Pulumi engine, driven from here: its own program, its own back end in a folder that goes, stand-in clouds.

Owns one stack's life on the engine: the folder, the configuration, and the operations. What the clouds answer is
`ops.standin`, what the engine tells is `ops.engine_told`, and whether plan and engine agree is `ops.agreement`. Nothing
of the caller's surroundings reaches the engine: no credential, no back end, no network.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import yaml
from pulumi import automation

from ops import engine_state
from ops.engine_process import Cli, Stack, Workspace
from ops.engine_told import Outcome, Step, Told
from ops.quiet import surroundings
from ops.stack_file import PROJECT, StackFile
from ops.standin.cloud import Cloud
from ops.standin.faults import Faults
from ops.standin.servers import PACKAGES, StandIns

if TYPE_CHECKING:
    from types import TracebackType

    from ops.pulumi_cli import Found

Heard = Callable[[Step], None]
_ROOT: Final = Path(__file__).resolve().parent.parent


class EngineNotReadyError(Exception):
    """The engine could not be set up, which is neither the program's fault nor a cloud's."""


class Engine:
    """One stack on the engine. Use it in a `with`: leaving it ends every process and removes the folder."""

    def __init__(
        self,
        cli: Found,
        stack_file: StackFile,
        program: Callable[[], None] | None = None,
        *,
        cloud: Cloud | None = None,
        packages: Sequence[str] = PACKAGES,
        heard: Heard = lambda _step: None,
    ) -> None:
        self.cloud = cloud or Cloud()
        self.faults = Faults()
        self.stand_ins = StandIns(self.cloud, self.faults, packages)
        self._cli = cli
        self._stack_file = stack_file
        self._program = program or _the_program
        self._heard = heard
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            # A process that is ending may still write into the folder; what it leaves is not worth a fault.
            holder = tempfile.TemporaryDirectory(prefix="gpu-ci-engine-", ignore_cleanup_errors=True)
            self.folder = Path(self._ends.enter_context(holder))
            self._ends.callback(self.stand_ins.stop)
            self.stand_ins.start()
            self._stack = self._set_up()
        except BaseException:
            self._ends.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    def preview(self, *, goals: bool = False) -> Outcome:
        """What an update would do; with `goals`, which only a first preview has all of, what was registered."""
        saved = self.folder / "saved-plan.json"
        outcome = self._do(
            "preview", lambda told: self._stack.preview(on_event=told, plan=str(saved) if goals else None)
        )
        if goals and saved.is_file():
            return replace(outcome, goals=engine_state.goals(saved.read_text()))
        return outcome

    def up(self, *, parallel: int | None = None) -> Outcome:
        """Make what the program declares."""
        return self._do("up", lambda told: self._stack.up(on_event=told, parallel=parallel))

    def refresh(self) -> Outcome:
        """Ask the clouds how things are, and write that down."""
        return self._do("refresh", lambda told: self._stack.refresh(on_event=told))

    def preview_destroy(self) -> Outcome:
        """What a destroy would do: `pulumi destroy` looks first, and stops there where something is protected."""
        return self._do("preview of a destroy", lambda told: self._stack.preview_destroy(on_event=told))

    def destroy(self) -> Outcome:
        """Take everything down, without looking first: up to what is protected, if anything is."""
        return self._do("destroy", lambda told: self._stack.destroy(on_event=told))

    def state(self) -> engine_state.State:
        """What the engine has written down, decrypted."""
        deployment = self._stack.export_stack().deployment
        return engine_state.state(cast("dict[str, Any]", deployment or {}))

    def unprotect(self) -> None:
        """Take the protection off everything in the state, as a person would before a destroy that is meant."""
        self._command("state", "unprotect", "--all", "--yes", "--stack", self._stack_file.name)

    def configure(self, stack_file: StackFile) -> None:
        """Go on with another stack file of the same stack; what is secret stays what it was."""
        path = self._stack_path
        before = yaml.safe_load(path.read_text())
        kept = {key: before["config"][key] for key in stack_file.secret_keys if key in before["config"]}
        after = {**before, "config": {**_written(stack_file), **kept}}
        path.write_text(yaml.safe_dump(after, allow_unicode=True))
        self._stack_file = stack_file

    @property
    def state_path(self) -> Path:
        """The state as it lies on disk, secrets encrypted."""
        return self.folder / "state" / ".pulumi" / "stacks" / PROJECT / f"{self._stack_file.name}.json"

    @property
    def _stack_path(self) -> Path:
        return self.folder / f"Pulumi.{self._stack_file.name}.yaml"

    def _set_up(self) -> automation.Stack:
        """Write project and configuration by hand, which saves a process for every key, and make the stack."""
        (self.folder / "state").mkdir()
        # Files that the program names are looked for where the project stands.
        project = {"name": PROJECT, "runtime": "python", "main": str(_ROOT)}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self._stack_path.write_text(yaml.safe_dump({"config": _written(self._stack_file)}, allow_unicode=True))
        self._variables = {
            "PULUMI_BACKEND_URL": f"file://{self.folder}/state",
            # Known to nobody else and kept nowhere: the state is readable for as long as this process lives.
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(24),
        }
        workspace = Workspace(
            env_vars=self._variables,
            program=self._program,
            pulumi_command=Cli(self._cli, self.folder),
            secrets_provider="passphrase",
            work_dir=str(self.folder),
        )
        name = self._stack_file.name
        try:
            stack = Stack.create(name, workspace)
            hidden = {key: self._stack_file.config[key] for key in sorted(self._stack_file.secret_keys)}
            if hidden:
                values = {key: automation.ConfigValue(value=text, secret=True) for key, text in hidden.items()}
                workspace.set_all_config(name, values)
        except automation.CommandError as error:
            raise EngineNotReadyError(f"the engine cannot be set up: {_last_words(error)}") from None
        return stack

    def _do(self, operation: str, work: Callable[[Callable[[Any], None]], object]) -> Outcome:
        """Run one operation; whatever goes wrong in it is told in its outcome."""
        told = Told(self._heard, planning=operation.startswith("preview"))
        started = time.monotonic()
        problem = None
        self.stand_ins.start()
        self._variables["PULUMI_DEBUG_PROVIDERS"] = self.stand_ins.attached
        with surroundings():
            try:
                work(told.event)
            except automation.CommandError as error:
                problem = _last_words(error)
        return told.outcome(operation, time.monotonic() - started, problem=problem)

    def _command(self, *args: str) -> str:
        try:
            return self._stack.workspace.pulumi_command.run(list(args), str(self.folder), self._variables).stdout
        except automation.CommandError as error:
            raise EngineNotReadyError(f"`pulumi {args[0]}` failed: {_last_words(error)}") from None


def _the_program() -> None:
    """The project's own program, imported when it is run: its packages take most of the time of a first run."""
    cast("Callable[[], None]", importlib.import_module("program").run)()


def _written(stack_file: StackFile) -> dict[str, Any]:
    """The configuration as a stack file holds it: what is a map or a list as such, everything else as text."""
    return {key: _decoded(text) for key, text in stack_file.config.items() if key not in stack_file.secret_keys}


def _decoded(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, dict | list) else text


def _last_words(error: automation.CommandError) -> str:
    """What the process said last, without the listing that the Automation API puts in front of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    wanted = [line for line in lines if "error:" in line] or lines
    return wanted[-1].removeprefix("stderr:").strip() if wanted else "it said nothing"
