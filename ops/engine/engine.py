"""The real Pulumi engine, driven from here: its own program, its own back end in a folder that goes, stand-in clouds.

Owns one stack's life on the engine: the folder, the configuration, and the operations. What the clouds answer is
`fakes`, what the engine tells is `ops.engine.events`, and whether plan and engine agree is `ops.engine.agreement`. Nothing
of the caller's surroundings reaches the engine: no credential, no back end, no network.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import yaml

from config.identity import PROJECT
from fakes.cloud import Cloud
from fakes.faults import Faults
from fakes.objects import Caller
from fakes.servers import PACKAGES, ProviderServers
from ops.engine import state as engine_state
from ops.engine.events import Outcome, Step, Told
from ops.engine.process import Cli, CommandFailedError, ending_on_terminate
from ops.engine.program import called_back
from ops.plan.isolation import hidden_environment
from ops.plan.model import PROVIDER_TYPE

if TYPE_CHECKING:
    from types import TracebackType

    from ops.engine.pulumi_cli import Found
    from ops.plan.stack_file import StackFile

Heard = Callable[[Step], None]
_ROOT: Final = Path(__file__).resolve().parents[2]


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
        self.servers = ProviderServers(self.cloud, self.faults, packages)
        self._found = cli
        self._stack_file = stack_file
        self._program = program or _the_program
        self._heard = heard
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._ends.enter_context(ending_on_terminate())
            # A process that is ending may still write into the folder; what it leaves is not worth a fault.
            holder = tempfile.TemporaryDirectory(prefix="gpu-ci-engine-", ignore_cleanup_errors=True)
            self.folder = Path(self._ends.enter_context(holder))
            self._cli = Cli(
                self._found,
                self.folder,
                {
                    "PULUMI_BACKEND_URL": f"file://{self.folder}/state",
                    # Known to nobody else and kept nowhere: the state can be read while this process lives.
                    "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(24),
                },
            )
            self._ends.callback(self.servers.stop)
            self.servers.start()
            self._set_up()
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
        outcome = self._do("preview", *(["--save-plan", str(saved)] if goals else []))
        if goals and saved.is_file():
            return replace(outcome, goals=engine_state.goals(saved.read_text()))
        return outcome

    def up(self, *, parallel: int | None = None) -> Outcome:
        """Make what the program declares; `parallel` is how much at once."""
        return self._do("up", "--yes", "--skip-preview", *([f"--parallel={parallel}"] if parallel else []))

    def refresh(self) -> Outcome:
        """Ask the clouds how things are, and write that down."""
        return self._do("refresh", "--yes", "--skip-preview")

    def preview_destroy(self) -> Outcome:
        """What a destroy would do: `pulumi destroy` looks first, and stops there where something is protected."""
        return self._do("destroy", "--preview-only")

    def destroy(self) -> Outcome:
        """Take everything down, without looking first: up to what is protected, if anything is."""
        return self._do("destroy", "--yes", "--skip-preview")

    def state(self) -> engine_state.State:
        """What the engine has written down, decrypted."""
        exported = json.loads(self._run("stack", "export", "--show-secrets"))
        return engine_state.state(exported["deployment"])

    def make_and_export(self) -> list[dict[str, Any]]:
        """Run an update and return the resources of the state as the engine exports them, decrypted."""
        outcome = self.up()
        if not outcome.ok:
            raise EngineNotReadyError(f"`pulumi up` failed: {outcome.fault}")
        exported = json.loads(self._run("stack", "export", "--show-secrets"))
        return cast("list[dict[str, Any]]", exported["deployment"]["resources"])

    def load(self, resources: Sequence[Mapping[str, Any]]) -> None:
        """Put resources of another stack's export into the empty state, and their objects into the fake cloud."""
        exported = json.loads(self._run("stack", "export"))
        exported["deployment"]["resources"] = list(resources)
        path = self.folder / "imported.json"
        path.write_text(json.dumps(exported))
        self._run("stack", "import", "--file", str(path))
        settings = {f"{row['urn']}::{row['id']}": row for row in resources if row["type"].startswith(PROVIDER_TYPE)}
        for row in resources:
            if row["custom"] and not row["type"].startswith(PROVIDER_TYPE):
                provider = settings[row["provider"]]
                caller = Caller.of(provider["type"], engine_state.plain(provider["inputs"]))
                inputs, outputs = engine_state.plain(row.get("inputs", {})), engine_state.plain(row["outputs"])
                self.cloud.restore(row["type"], row["id"], row["urn"], inputs, outputs, caller)

    def unprotect(self) -> None:
        """Take the protection off everything in the state, as a person would before a destroy that is meant."""
        self._run("state", "unprotect", "--all", "--yes")

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

    def _set_up(self) -> None:
        """Write project and configuration by hand, which saves a process for every key, and make the stack."""
        (self.folder / "state").mkdir()
        # Files that the program names are looked for where the project stands.
        project = {"name": PROJECT, "runtime": "python", "main": str(_ROOT)}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        self._stack_path.write_text(yaml.safe_dump({"config": _written(self._stack_file)}, allow_unicode=True))
        self._run("stack", "init", "--secrets-provider", "passphrase")
        hidden = sorted(self._stack_file.secret_keys & self._stack_file.config.keys())
        if hidden:
            pairs = [f"{key}={self._stack_file.config[key]}" for key in hidden]
            self._run("config", "set-all", *(part for pair in pairs for part in ("--secret", pair)))

    def _do(self, operation: str, *args: str) -> Outcome:
        """Run one operation; whatever goes wrong in it is told in its outcome."""
        planning = operation == "preview" or "--preview-only" in args
        told = Told(self._heard, planning=planning)
        started = time.monotonic()
        problem = None
        self.servers.start()
        with hidden_environment(), called_back(self._program, told.event) as address:
            program = (f"--client={address}", "--exec-kind=auto.inline", f"--event-log=tcp://{address}")
            try:
                self._cli.run(operation, *args, *self._which, *program, PULUMI_DEBUG_PROVIDERS=self.servers.attached)
            except CommandFailedError as error:
                problem = str(error)
        return told.outcome(operation, time.monotonic() - started, problem=problem)

    def _run(self, *args: str) -> str:
        """Run what asks neither program nor cloud."""
        try:
            return self._cli.run(*args, *self._which)
        except CommandFailedError as error:
            raise EngineNotReadyError(f"`pulumi {' '.join(args[:2])}` failed: {error}") from None

    @property
    def _which(self) -> tuple[str, str]:
        return "--stack", self._stack_file.name


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
