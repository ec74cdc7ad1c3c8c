"""A machine on EC2, found by its tag `Name`.

Errors: AWS, "Error codes for the Amazon EC2 API", 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - the name of botocore
    HTTPClientError,
)

from gpu_ci.back_ends.start_stop.gpu_instance.instance import RUNNER_KEY, Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied, NoCapacity, NotFound, Problem, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

STATES: Final = {
    "pending": State.STARTING,
    "running": State.RUNNING,
    "stopping": State.STOPPING,
    "shutting-down": State.STOPPING,
    "stopped": State.STOPPED,
}
"""States of EC2. A terminated instance is not found."""
NO_CAPACITY: Final = frozenset(
    {
        *("InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity", "SpotMaxPriceTooLow"),
        # A spot request is in this state while EC2 stops its instance.
        "IncorrectSpotRequestState",
    }
)
QUOTA: Final = frozenset({"VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded"})
DENIED: Final = frozenset(
    {
        *("UnauthorizedOperation", "AccessDenied", "AuthFailure", "Blocked", "OptInRequired"),
        *("ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "SignatureDoesNotMatch"),
    }
)
LATER: Final = frozenset(
    {
        *("RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled"),
        *("InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"),
        # The instance changes its state at this moment.
        "IncorrectInstanceState",
    }
)
SECONDS: Final = 30
"""The time limit of one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2:
    """An instance of EC2."""

    client: Any
    name: str
    """The value of the tag `Name`."""

    def state(self) -> State:
        """Return the state."""
        return STATES[self._found()["State"]["Name"]]

    def start(self) -> None:
        """Request the start of the stopped instance."""
        self._call("start_instances", InstanceIds=[self._found()["InstanceId"]])

    def stop(self) -> None:
        """Request the stop of the running instance."""
        self._call("stop_instances", InstanceIds=[self._found()["InstanceId"]])

    def runner(self) -> Runner:
        """Return what the instance wrote into its tag."""
        tags = {tag["Key"]: tag["Value"] for tag in self._found().get("Tags", [])}
        return Runner.read(tags.get(RUNNER_KEY, ""))

    def started_at(self) -> datetime | None:
        """Return the time of the last start."""
        launched: datetime | None = self._found().get("LaunchTime")
        return launched

    def _found(self) -> Mapping[str, Any]:
        """Return the only instance with the name. A role can be limited to starting it, but not to describing it."""
        filters = [
            {"Name": "tag:Name", "Values": [self.name]},
            {"Name": "instance-state-name", "Values": sorted(STATES)},
        ]
        answer = self._call("describe_instances", Filters=filters)
        found = [one for reservation in answer["Reservations"] for one in reservation["Instances"]]
        if len(found) == 1:
            only: Mapping[str, Any] = found[0]
            return only
        if not found:
            raise NotFound(f"EC2 has no instance {self.name} in {self.client.meta.region_name}; run pulumi up")
        ids = ", ".join(sorted(one["InstanceId"] for one in found))
        raise NotFound(f"EC2 has {len(found)} instances {self.name}: {ids}; terminate or rename the others")

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self.client, operation)(**arguments)
        except ClientError as error:
            raise self._problem(error) from None
        except (ConnectionError, HTTPClientError) as error:
            raise Unavailable(f"EC2 did not answer: {error}") from None
        except BotoCoreError as error:
            raise Denied(f"there are no usable credentials of AWS: {error}") from None
        return answer

    def _problem(self, error: ClientError) -> Problem:
        """Return the problem that an error of EC2 is."""
        code, status = error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        # The rest of a denial is an encoded text of a thousand characters.
        message = error.response["Error"].get("Message", "").partition(" Encoded authorization")[0]
        if code in NO_CAPACITY:
            return NoCapacity(f"EC2 has no capacity for {self.name} now ({code}): {message}")
        if code in QUOTA:
            return Denied(f"the quota of the account is too small for {self.name} ({code}): {message}")
        if code in DENIED:
            return Denied(f"AWS does not allow the {error.operation_name} of {self.name} ({code}): {message}")
        if code in LATER or status >= 500:
            return Unavailable(f"EC2 could not answer now ({code}): {message}")
        return Problem(f"EC2 refused the {error.operation_name} of {self.name} ({code}): {message}")


def open_instance(facts: Mapping[str, Any]) -> Ec2:
    """Return the instance that an entry of the file describes: `region` and `name`."""
    config = Config(
        connect_timeout=SECONDS, read_timeout=SECONDS, retries={"mode": "standard", "total_max_attempts": 3}
    )
    return Ec2(client=boto3.client("ec2", region_name=facts["region"], config=config), name=facts["name"])
