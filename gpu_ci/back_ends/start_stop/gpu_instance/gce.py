"""A machine on Compute Engine, found by its name in a zone.

States and errors: Google Cloud, "Compute Engine instance lifecycle" and "Troubleshooting resource availability errors",
2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import requests
from google.api_core import exceptions
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud import compute_v1

from gpu_ci.back_ends.start_stop.gpu_instance.instance import Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied, NoCapacity, NotFound, Problem, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    _T = TypeVar("_T")

STATES: Final = {
    "PENDING": State.STARTING,
    "PROVISIONING": State.STARTING,
    "STAGING": State.STARTING,
    "REPAIRING": State.STARTING,
    "RUNNING": State.RUNNING,
    "PENDING_STOP": State.STOPPING,
    "STOPPING": State.STOPPING,
    "SUSPENDING": State.STOPPING,
    "DEPROVISIONING": State.STOPPING,
    "TERMINATED": State.STOPPED,
    "STOPPED": State.STOPPED,
}
RUNNER_PATH: Final = "gpu-ci/runner"
"""The guest attribute with the state of the runner."""
NO_CAPACITY: Final = ("ZONE_RESOURCE_POOL_EXHAUSTED", "RESOURCE_POOL_EXHAUSTED", "STOCKOUT")
"""The beginnings of the codes of operations for which the zone has no machine."""
SECONDS: Final = 30
"""The time limit of one request."""
WAIT_SECONDS: Final = 150
"""The time limit of the request that waits for an operation, to which Compute Engine answers within two minutes."""


class NotReady(Unavailable):
    """The instance changes its state at this moment, or does not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gce:
    """An instance of Compute Engine."""

    instances: compute_v1.InstancesClient
    operations: compute_v1.ZoneOperationsClient
    project: str
    zone: str
    name: str

    def state(self) -> State:
        """Return the state."""
        status = self._get().status
        if status not in STATES:
            raise Problem(f"{self.name} is {status}, from which it cannot be started or stopped; resume it by hand")
        return STATES[status]

    def start(self) -> None:
        """Request the start of the stopped instance, and wait for the answer: capacity is only known then."""
        self._request(self.instances.start_unary)

    def stop(self) -> None:
        """Request the stop of the running instance."""
        self._request(self.instances.stop_unary)

    def runner(self) -> Runner:
        """Return what the instance wrote into its guest attribute."""
        try:
            answer = self._call(self.instances.get_guest_attributes, {**self._here, "query_path": RUNNER_PATH})
        except (NotFound, NotReady):
            # The machine has written nothing yet, or does not run.
            return Runner()
        return next((Runner.read(item.value) for item in answer.query_value.items), Runner())

    def started_at(self) -> datetime | None:
        """Return the time of the last start."""
        stated = self._get().last_start_timestamp
        return datetime.fromisoformat(stated) if stated else None

    @property
    def _here(self) -> dict[str, str]:
        return {"project": self.project, "zone": self.zone, "instance": self.name}

    def _get(self) -> compute_v1.Instance:
        found: compute_v1.Instance = self._call(self.instances.get, self._here)
        return found

    def _request(self, method: Callable[..., compute_v1.Operation]) -> None:
        """Request a change, and raise the error of its operation."""
        operation = self._call(method, self._here)
        place = {"project": self.project, "zone": self.zone, "operation": operation.name}
        done = self._call(self.operations.wait, place, WAIT_SECONDS)
        for error in done.error.errors:
            if error.code.startswith(NO_CAPACITY):
                raise NoCapacity(f"{self.zone} has no capacity for {self.name} now ({error.code}): {error.message}")
            if "QUOTA" in error.code:
                raise Denied(f"the quota is too small for {self.name} ({error.code}): {error.message}")
            raise Problem(f"Compute Engine refused the change of {self.name} ({error.code}): {error.message}")

    def _call(self, method: Callable[..., _T], request: Mapping[str, str], seconds: int = SECONDS) -> _T:
        """Send one request. The client of Google would repeat it for ten minutes without a word."""
        try:
            return method(request=request, retry=None, timeout=seconds)
        except exceptions.GoogleAPICallError as error:
            raise self._problem(error) from None
        except (requests.RequestException, TransportError) as error:
            raise Unavailable(f"Compute Engine did not answer: {error}") from None
        except GoogleAuthError as error:
            raise Denied(f"there are no usable credentials of Google Cloud: {error}") from None

    def _problem(self, error: exceptions.GoogleAPICallError) -> Problem:
        """Return the problem that an answer of Compute Engine is."""
        status, message = int(error.code or 0), str(error.message)
        if "not ready" in message or "resourceNotReady" in message:
            return NotReady(f"{self.name} changes its state now ({status}): {message}")
        if status in {408, 412, 429} or status >= 500 or "ateLimitExceeded" in message:
            return Unavailable(f"Compute Engine could not answer now ({status}): {message}")
        if status in {401, 403}:
            return Denied(f"Google Cloud does not allow the call for {self.name} ({status}): {message}")
        if status == 404:
            return NotFound(f"{self.project} has no instance {self.name} in {self.zone}; run pulumi up")
        return Problem(f"Compute Engine refused the call for {self.name} ({status}): {message}")


def open_instance(facts: Mapping[str, Any]) -> Gce:
    """Return the instance that an entry of the file describes: `project`, `zone` and `name`."""
    try:
        instances, operations = compute_v1.InstancesClient(), compute_v1.ZoneOperationsClient()
    except GoogleAuthError as error:
        raise Denied(f"there are no usable credentials of Google Cloud: {error}") from None
    return Gce(
        instances=instances,
        operations=operations,
        project=facts["project"],
        zone=facts["zone"],
        name=facts["name"],
    )
