"""The driver of the real Pulumi engine: one stack, with the program in this process, on the fake clouds.

State and configuration are in a temporary folder. Nothing from the caller's environment reaches the engine: no
credentials, no backend, no network.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import secrets
import signal
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

import yaml

from gpu_ci.stack_file.identity import PROJECT
from ops.engine import state as engine_state
from ops.engine import workspace
from ops.engine.events import EventLog, Outcome, Step
from ops.engine.process import Cli, CommandFailedError, exiting_on_terminate
from ops.engine.program import serve
from ops.engine.pulumi_cli import Found
from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.objects import Caller
from ops.fakes.protocol.faults import Faults
from ops.fakes.protocol.servers import ProviderServers
from ops.fakes.tables import kind_of
from ops.outcome import Exit, Stop
from ops.plan.isolation import hidden_environment
from ops.plan.model import PROVIDER_TYPE
from ops.plan.stack_file import StackFile

_ROOT: Final = Path(__file__).resolve().parents[2]
_FULL: Final = "no space left on device"
_SPACE: Final = "Free space, or set TMPDIR to a folder with more space"


class EngineNotReadyError(Stop):
    """The engine could not be set up; neither the program nor a cloud is the cause."""

    def __init__(self, message: str) -> None:
        super().__init__(Exit.OUTSIDE, message)


class Engine:
    """One stack on the engine, as a context manager: leaving it ends all processes and removes the folder."""

    def __init__(
        self,
        cli: Found,
        stack_file: StackFile,
        program: Callable[[], None] | None = None,
        *,
        on_step: Callable[[Step], None] = lambda _step: None,
        environment: Mapping[str, str] | None = None,
        secrets_provider: str = "passphrase",
    ) -> None:
        self._environment = environment or {}
        self._secrets_provider = secrets_provider
        self.cloud = Cloud(kinds=kind_of, outside=_outside(stack_file))
        self.faults = Faults()
        self.servers = ProviderServers(self.cloud, self.faults, kill_engine=lambda: self.send(signal.SIGKILL))
        self._found = cli
        self._stack_file = stack_file
        self._program = program or _run_program
        self._on_step = on_step
        self._cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._cleanup.enter_context(exiting_on_terminate())
            self.folder = self._cleanup.enter_context(workspace.folder())
            self._cli = Cli(
                self._found,
                self.folder,
                {
                    # Without metadata, each write is one rename: a killed engine leaves no half-written file.
                    "PULUMI_BACKEND_URL": f"file://{self.folder}/state?metadata=skip",
                    # A random passphrase: only this process can read the state.
                    "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(24),
                    **self._environment,
                },
            )
            self._cleanup.callback(self.servers.stop)
            self.servers.start()
            self._set_up()
        except BaseException:
            self._cleanup.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cleanup.close()

    def preview(self, *, goals: bool = False) -> Outcome:
        """Preview an update; with `goals`, also return the registrations, which only a first preview has all of."""
        saved = self.folder / "saved-plan.json"
        outcome = self._do("preview", *(["--save-plan", str(saved)] if goals else []))
        if goals and saved.is_file():
            try:
                return replace(outcome, goals=engine_state.goals(saved.read_text()))
            except json.JSONDecodeError:
                # The engine ignores an error while it writes its plan.
                raise EngineNotReadyError(f"the engine did not write its whole plan into {saved}. {_SPACE}") from None
        return outcome

    def up(self, *, parallel: int | None = None) -> Outcome:
        """Update the stack; `parallel` is the largest number of concurrent operations."""
        return self._do("up", "--yes", "--skip-preview", *([f"--parallel={parallel}"] if parallel else []))

    def refresh(self) -> Outcome:
        """Refresh the state from the clouds."""
        return self._do("refresh", "--yes", "--skip-preview")

    def preview_destroy(self) -> Outcome:
        """Preview a destroy, which fails if a resource is protected."""
        return self._do("destroy", "--preview-only")

    def destroy(self, *, refresh: bool = True, parallel: int | None = None) -> Outcome:
        """Destroy all resources, without a preview; `refresh` is the project's option."""
        options = [*([] if refresh else ["--refresh=false"]), *([f"--parallel={parallel}"] if parallel else [])]
        return self._do("destroy", "--yes", "--skip-preview", *options)

    def state(self) -> engine_state.State:
        """Return the state, decrypted."""
        exported = json.loads(self.run("stack", "export", "--show-secrets"))
        return engine_state.state(exported["deployment"])

    def run(self, *args: str) -> str:
        """Run a command that needs neither the program nor a cloud."""
        try:
            return self._cli.run(*args, *self._stack_option)
        except CommandFailedError as error:
            fix = f". {_SPACE}" if _FULL in str(error) else ""
            raise EngineNotReadyError(f"`pulumi {' '.join(args[:2])}` failed: {error}{fix}") from None

    def make_and_export(self) -> list[dict[str, Any]]:
        """Run an update and return the resources of the state as the engine exports them, decrypted."""
        outcome = self.up()
        if not outcome.ok:
            raise EngineNotReadyError(f"`pulumi up` failed: {outcome.fault}")
        exported = json.loads(self.run("stack", "export", "--show-secrets"))
        return cast("list[dict[str, Any]]", exported["deployment"]["resources"])

    def load(self, resources: Sequence[Mapping[str, Any]]) -> None:
        """Put resources of another stack's export into the empty state, and their objects into the fake cloud."""
        exported = json.loads(self.run("stack", "export"))
        exported["deployment"]["resources"] = list(resources)
        path = self.folder / "imported.json"
        path.write_text(json.dumps(exported))
        self.run("stack", "import", "--file", str(path))
        settings = {f"{row['urn']}::{row['id']}": row for row in resources if row["type"].startswith(PROVIDER_TYPE)}
        for row in resources:
            if row["custom"] and not row["type"].startswith(PROVIDER_TYPE):
                provider = settings[row["provider"]]
                caller = Caller.of(provider["type"], engine_state.plain(provider["inputs"]))
                inputs, outputs = engine_state.plain(row.get("inputs", {})), engine_state.plain(row["outputs"])
                self.cloud.restore(row["type"], row["id"], row["urn"], inputs, outputs, caller)

    @contextlib.contextmanager
    def serving(self) -> Generator[tuple[Mapping[str, str], tuple[str, ...]]]:
        """Serve the program and the clouds to a CLI of another process; yield its environment and its options."""
        self.servers.start()
        with serve(self._program, lambda _event: None) as address:
            environment = {**self._cli.environment, "PULUMI_DEBUG_PROVIDERS": self.servers.attached}
            yield environment, (f"--client={address}", "--exec-kind=auto.inline")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the engine that runs now, with its children."""
        self._cli.send(number)

    def unprotect(self) -> None:
        """Unprotect all resources in the state."""
        self.run("state", "unprotect", "--all", "--yes")

    def configure(self, stack_file: StackFile) -> None:
        """Use another stack file of the same stack; secrets keep their values."""
        path = self._stack_path
        before = yaml.safe_load(path.read_text())
        kept = {key: before["config"][key] for key in stack_file.secret_keys if key in before["config"]}
        after = {**before, "config": {**_written(stack_file), **kept}}
        path.write_text(yaml.safe_dump(after, allow_unicode=True))
        self._stack_file = stack_file

    @property
    def _stack_path(self) -> Path:
        return self.folder / f"Pulumi.{self._stack_file.name}.yaml"

    def _set_up(self) -> None:
        """Write the project and the configuration as files, which saves a process for each key; create the stack."""
        (self.folder / "state").mkdir()
        # The engine resolves the program's file paths against `main`.
        project = {"name": PROJECT, "runtime": "python", "main": str(_ROOT), "options": project_options()}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self._stack_path.write_text(yaml.safe_dump({"config": _written(self._stack_file)}, allow_unicode=True))
        self.run("stack", "init", "--secrets-provider", self._secrets_provider)
        hidden = sorted(self._stack_file.secret_keys & self._stack_file.config.keys())
        if hidden:
            pairs = [f"{key}={self._stack_file.config[key]}" for key in hidden]
            self.run("config", "set-all", *(part for pair in pairs for part in ("--secret", pair)))

    def _do(self, operation: str, *args: str) -> Outcome:
        """Run one operation; its outcome contains all errors."""
        planning = operation == "preview" or "--preview-only" in args
        log = EventLog(self._on_step, planning=planning)
        started = time.monotonic()
        problem = None
        self.servers.start()
        with hidden_environment(), serve(self._program, log.add) as address:
            program = (f"--client={address}", "--exec-kind=auto.inline", f"--event-log=tcp://{address}")
            try:
                self._cli.run(
                    operation, *args, *self._stack_option, *program, PULUMI_DEBUG_PROVIDERS=self.servers.attached
                )
            except CommandFailedError as error:
                problem = str(error)
                if _FULL in problem:
                    raise EngineNotReadyError(f"{problem}. {_SPACE}") from None
        return log.outcome(operation, time.monotonic() - started, problem=problem)

    @property
    def _stack_option(self) -> tuple[str, str]:
        return "--stack", self._stack_file.name


def _outside(stack_file: StackFile) -> dict[str, str]:
    """Return what the stack file names as existing: the id or the name to the zone."""
    stated = [_decoded(stack_file.config.get(f"{PROJECT}:{name}", "{}")) for name in ("network", "cluster")]
    network, cluster = [(one.get("existing") if isinstance(one, dict) else None) or {} for one in stated]
    subnets = network.get("subnets") or {}
    return {**{str(subnet): str(zone) for zone, subnet in subnets.items()}, str(cluster.get("name", "")): ""}


def project_options() -> Any:
    """Return the options of the project, which `pulumi up` reads, too."""
    return yaml.safe_load((_ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))["options"]


def _run_program() -> None:
    """Run the project's program; its packages are slow to import, so they are imported here."""
    cast("Callable[[], None]", importlib.import_module("gpu_ci.program").run)()


def _written(stack_file: StackFile) -> dict[str, Any]:
    """Return the configuration in the form of a stack file: maps and lists as such, scalars as text."""
    return {key: _decoded(text) for key, text in stack_file.config.items() if key not in stack_file.secret_keys}


def _decoded(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, dict | list) else text
