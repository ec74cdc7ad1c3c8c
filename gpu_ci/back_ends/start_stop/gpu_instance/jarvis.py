"""An instance of Jarvis Labs, which is created, resumed and paused by its name.

Facts of this module are from the SDK `jarvislabs` 0.2.19. A resume may change the instance's id, so only its name
identifies it. Names are not unique, so two instances of one name are refused. Only the startup script runs on a resumed
container, and only its folder /home is kept: the script installs the rest again and starts the runner.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jarvislabs import Client
from jarvislabs.exceptions import (
    APIError,
    AuthError,
    InsufficientBalanceError,
    JarvislabsError,
    NotFoundError,
    ValidationError,
)

from gpu_ci.back_ends.start_stop.gpu_instance.github_runners import GitHub
from gpu_ci.back_ends.start_stop.gpu_instance.instance import Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied, NoCapacity, NotFound, Problem, Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from datetime import datetime

    from jarvislabs.models import Instance as Machine

    from gpu_ci.back_ends.start_stop.gpu_instance.github_runners import JustInTime, Registered

KEYS: Final = ("TOKEN_JARVIS", "JL_API_KEY")
"""Environment variables that may have the API key."""
DASHBOARD: Final = "https://jarvislabs.ai"
BOOT: Final = Path(__file__).with_name("jarvis_boot.sh")
STATES: Final = {
    "Creating": State.STARTING,
    "Resuming": State.STARTING,
    "Running": State.RUNNING,
    "Pausing": State.STOPPING,
    "Paused": State.STOPPED,
}
"""The states that the SDK names. Any other may cost money, so it counts as running."""
DESTROYED: Final = frozenset({"Destroying", "Destroyed"})
UNLISTED_POLLS: Final = 6
"""Polls for which an instance may be missing in the list after a request to create it had no answer."""
_TRANSIENT: Final = frozenset({0, 408, 429, 500, 502, 503, 504})
_UNSENT: Final = 429
_NOT_FREE: Final = "right now"
"""In the SDK's message about a region without a free GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The instance that the stack file describes."""

    cloud: str
    name: str
    gpu: str
    """The GPU model, as Jarvis Labs spells it."""
    gpus: int
    storage: int
    """GiB."""
    template: str
    region: str | None
    script: str
    """The name of the startup script in the account."""
    runner_version: str
    runner_sha256: str
    owner: str
    """`repos/OWNER/REPOSITORY` or `orgs/ORGANISATION`: where the runner is registered."""
    runner: str
    """The prefix of the names of its registrations."""
    labels: tuple[str, ...]
    workflow: str
    """The file of the workflow that uses the instance."""
    job: str
    """The job of that workflow that starts it."""
    max_hours: int


class Jarvis:
    """One instance of Jarvis Labs."""

    def __init__(self, wanted: Wanted, client: Client, environment: Mapping[str, str]) -> None:
        """Use `client` for the instance, and the tokens in `environment` for GitHub."""
        self._wanted = wanted
        self._client = client
        self._environment = environment
        self._registration: JustInTime | None = None
        self._unlisted = 0

    @property
    def name(self) -> str:
        """The instance's name."""
        return self._wanted.name

    def state(self) -> State:
        """Return the state. An instance that does not exist is stopped: its start creates it."""
        machine = self._find()
        if machine is None:
            # A request to create it may have had its effect, although the answer was lost.
            self._unlisted = max(0, self._unlisted - 1)
            return State.STARTING if self._unlisted else State.STOPPED
        self._unlisted = 0
        if machine.status == "Failed":
            raise Problem(f'"{self.name}" is in the state Failed at Jarvis Labs; destroy it at {DASHBOARD}')
        return STATES.get(machine.status, State.RUNNING)

    def start(self) -> None:
        """Create the instance, or resume it, with a startup script that contains a registration for one job."""
        machine = self._find()
        if self._registration is None:
            self._registration = self._register()
            if self._environment.get("GITHUB_ACTIONS") == "true":
                print(f"::add-mask::{self._registration.config}", flush=True)  # noqa: T201 - hides it in the log
        with self._problems():
            script = self._upload(script_text(self._wanted, self._registration.config))
            if machine is None:
                self._create(script)
            else:
                self._resume(machine, script)

    def stop(self) -> None:
        """Pause the instance."""
        machine = self._find()
        if machine is not None:
            with self._problems(again=True):
                self._client.instances.pause(machine.machine_id)

    def runner(self) -> Runner:
        """Return the state of the runner, from GitHub; unknown without the token of the GitHub App."""
        github = self._github("GITHUB_APP_TOKEN", self._wanted.owner)
        if github is None:
            return Runner()
        if self._registration is not None:
            found = github.runner(self._registration.id)
            if found is not None:
                return _runner(found)
            self._registration = None
        # Otherwise an earlier run started the instance. Its runner may still wait for its one job, or be busy with it.
        online = [one for one in github.runners(self._wanted.runner) if one.online]
        free = sorted(online, key=lambda one: one.busy)
        return _runner(free[0]) if free else Runner(word="spent", reason="it served its one job")

    def started_at(self) -> datetime | None:
        """Return the start of the job that uses the instance; None if no unfinished run does.

        Jarvis Labs reports no time of the last start.
        """
        github = self._github("GITHUB_TOKEN", f"repos/{self._environment.get('GITHUB_REPOSITORY', '')}")
        if github is None:
            raise Denied("the environment variable GITHUB_TOKEN is missing; pass it as in the generated workflow")
        return github.active_since(self._wanted.workflow, self._wanted.job)

    def _find(self) -> Machine | None:
        with self._problems():
            found = [
                one for one in self._client.instances.list() if one.name == self.name and one.status not in DESTROYED
            ]
        if len(found) > 1:
            ids = ", ".join(str(one.machine_id) for one in found)
            problem = f'{len(found)} instances of Jarvis Labs have the name "{self.name}" (ids {ids})'
            raise NotFound(f"{problem}; rename or destroy all but one at {DASHBOARD}")
        return found[0] if found else None

    def _create(self, script: str) -> None:
        wanted = self._wanted
        try:
            self._client.instances.create(
                gpu_type=wanted.gpu,
                num_gpus=wanted.gpus,
                template=wanted.template,
                storage=wanted.storage,
                name=wanted.name,
                region=wanted.region,
                script_id=script,
            )
        except APIError as error:
            self._unlisted = 0 if error.status_code == _UNSENT else UNLISTED_POLLS
            raise

    def _resume(self, machine: Machine, script: str) -> None:
        wanted = self._wanted
        if wanted.region is not None and machine.region not in {None, wanted.region}:
            problem = f'"{self.name}" is in {machine.region}, and an instance cannot move to {wanted.region}'
            raise Problem(f"{problem}; state its region, or destroy it at {DASHBOARD}")
        self._client.instances.resume(
            machine.machine_id,
            gpu_type=wanted.gpu,
            num_gpus=wanted.gpus,
            # A disk cannot become smaller.
            storage=max(wanted.storage, machine.storage_gb or 0),
            script_id=script,
        )

    def _upload(self, text: str) -> str:
        """Store the startup script under its name, and return its id, which an upload does not return."""
        scripts = self._client.scripts
        found = [one.script_id for one in scripts.list() if one.script_name == self._wanted.script]
        if found:
            scripts.update(min(found), text)
            return str(min(found))
        scripts.add(text, self._wanted.script)
        found = [one.script_id for one in scripts.list() if one.script_name == self._wanted.script]
        if not found:
            raise Unavailable(f'Jarvis Labs does not list the script "{self._wanted.script}" after its upload')
        return str(min(found))

    def _register(self) -> JustInTime:
        github = self._github("GITHUB_APP_TOKEN", self._wanted.owner)
        if github is None:
            raise Denied("the environment variable GITHUB_APP_TOKEN is missing; pass it as in the generated workflow")
        # The workflow runs once at a time, so an offline runner of this instance belongs to a run that is over.
        for runner in github.runners(self._wanted.runner):
            if not runner.online:
                github.remove(runner.id)
        run = "-".join(self._environment.get(key, "0") for key in ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"))
        return github.register(f"{self._wanted.runner}-{run}", self._wanted.labels)

    def _github(self, token: str, owner: str) -> GitHub | None:
        value = self._environment.get(token)
        api = self._environment.get("GITHUB_API_URL", "https://api.github.com")
        return GitHub(token=value, owner=owner, api=api) if value else None

    @contextmanager
    def _problems(self, *, again: bool = False) -> Generator[None]:
        """Report the SDK's errors in one line. With `again`, every refusal may be tried again."""
        try:
            yield
        except AuthError:
            raise Denied(f"Jarvis Labs refuses the API key; set the secret {KEYS[0]} to a valid one") from None
        except InsufficientBalanceError as error:
            raise Denied(f"the balance at Jarvis Labs is too low ({error}); add credit at {DASHBOARD}") from None
        except NotFoundError as error:
            # A resume changes the id. The next attempt finds the instance by its name.
            raise Unavailable(f'Jarvis Labs lost "{self.name}": {error}') from None
        except APIError as error:
            text = f"Jarvis Labs answered {error.status_code or 'nothing'}: {error}"
            raise (Unavailable if again or error.status_code in _TRANSIENT else Problem)(text) from None
        except ValidationError as error:
            raise (NoCapacity if _NOT_FREE in str(error) else Problem)(f"Jarvis Labs: {error}") from None
        except JarvislabsError as error:
            raise Problem(f"Jarvis Labs: {error}") from None


def _runner(found: Registered) -> Runner:
    """Return the state of a runner that serves one job: while it is busy, it can take no other."""
    return Runner(word="occupied" if found.busy else "online" if found.online else "offline", reason=found.name)


def script_text(wanted: Wanted, config: str) -> str:
    """Return the startup script with its values. It contains a secret until the runner has used it."""
    values = {
        "RUNNER_CONFIG": config,
        "RUNNER_VERSION": wanted.runner_version,
        "RUNNER_SHA256": wanted.runner_sha256,
    }
    head, _, body = BOOT.read_text(encoding="utf-8").partition("\n")
    lines = [f"{key}={shlex.quote(value)}" for key, value in values.items()]
    return "\n".join((head, *lines, body))


def open_instance(facts: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Jarvis:
    """Return the instance that an entry of the file describes."""
    key = next((value for name in KEYS if (value := environment.get(name))), None)
    if key is None:
        raise Denied(f"the environment variable {KEYS[0]} is missing; set the secret of this name")
    stated: dict[str, Any] = {**facts, "labels": tuple(facts["labels"])}
    wanted = Wanted(**stated)
    return Jarvis(wanted, Client(api_key=key), environment)
