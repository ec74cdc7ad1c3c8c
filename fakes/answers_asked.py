"""What a stand-in cloud is asked, and where it stands; every answer is worked out from these alone.

No chance and no clock: the same resource in the same stack gets the same id on any machine and any day.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

STAND_IN_ACCOUNT: Final = "123456789012"
STAND_IN_REGION: Final = "us-west-2"
STAND_IN_PROJECT: Final = "stand-in-project"
STAND_IN_PROJECT_NUMBER: Final = "123456789012"
CREATED_AT: Final = "2026-01-01T00:00:00Z"
"""When everything was made, where a cloud would tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The accounts that the stack's providers point at."""

    account: str = STAND_IN_ACCOUNT
    """The AWS account: the one the provider is restricted to, where it is."""
    region: str = STAND_IN_REGION
    """The AWS region."""
    google_project: str = STAND_IN_PROJECT
    """The GCP project."""
    google_region: str = "us-central1"
    """The GCP region."""
    google_zone: str = "us-central1-a"
    """The GCP zone."""

    def with_provider(self, type_: str, inputs: Mapping[str, Any]) -> Place:
        """The place after a provider has been configured; `inputs` are the provider's own."""
        package = type_.rpartition(":")[2]
        if package == "aws":
            accounts = _decoded(inputs.get("allowedAccountIds")) or [self.account]
            return replace(self, account=str(accounts[0]), region=inputs.get("region") or self.region)
        if package == "gcp":
            return replace(
                self,
                google_project=inputs.get("project") or self.google_project,
                google_region=inputs.get("region") or self.google_region,
                google_zone=inputs.get("zone") or self.google_zone,
            )
        return self


def _decoded(value: Any) -> Any:
    """A provider's inputs that are not text travel as JSON text."""
    return json.loads(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One resource to be made."""

    type: str
    """Its type token."""
    name: str
    """Its logical name."""
    urn: str
    """Its URN: what every generated part of the answer is worked out from."""
    inputs: Mapping[str, Any]
    """Its inputs under the names of the wire."""
    place: Place
    """Where it is made."""

    def hex(self, length: int, salt: str = "") -> str:
        """So many hexadecimal digits that belong to this resource alone."""
        return hashlib.sha256(f"{self.urn}#{salt}".encode()).hexdigest()[:length]

    def uuid(self, salt: str = "") -> str:
        """A UUID that belongs to this resource alone."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.urn}#{salt}"))

    def number(self, digits: int) -> str:
        """A decimal number of so many digits, the first of them not 0."""
        return str(10 ** (digits - 1) + int(self.hex(15), 16) % (9 * 10 ** (digits - 1)))

    def upper(self, length: int) -> str:
        """So many capital letters and digits, as IAM's unique ids are written."""
        return self.hex(length).upper()

    def physical(self, key: str = "name") -> str:
        """The name the cloud knows it by: stated, made from a prefix, or the logical name with a tail."""
        stated = self.inputs.get(key)
        if stated:
            return str(stated)
        prefix = self.inputs.get(f"{key}Prefix")
        return f"{prefix}{self.hex(26)}" if prefix else f"{self.name}-{self.hex(7)}"

    @property
    def region(self) -> str:
        """The AWS region it is made in: its own, where it states one."""
        return str(self.inputs.get("region") or self.place.region)

    def arn(self, service: str, resource: str) -> str:
        """An ARN with region and account."""
        return f"arn:aws:{service}:{self.region}:{self.place.account}:{resource}"

    def global_arn(self, service: str, resource: str) -> str:
        """An ARN of a service that knows no regions."""
        return f"arn:aws:{service}::{self.place.account}:{resource}"


Made: TypeAlias = tuple[str, dict[str, Any]]
"""The id, and what the cloud computes beside the inputs."""
Maker: TypeAlias = Callable[[Asked], Made]
