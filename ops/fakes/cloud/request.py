"""A create request to a fake cloud, and the account and region it goes to.

Every generated id and name is a hash of the request's URN: the same resource in the same stack gets the same id on any
machine and on any day.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

ACCOUNT: Final = "123456789012"
PROJECT_NUMBER: Final = "123456789012"
CREATED_AT: Final = "2026-01-01T00:00:00Z"
"""The creation time of every object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The accounts that the stack's providers are configured for."""

    account: str = ACCOUNT
    """The AWS account: the first one that the provider allows."""
    region: str = "us-west-2"
    """The AWS region."""
    gcp_project: str = "fake-project"
    gcp_region: str = "us-central1"
    gcp_zone: str = "us-central1-a"

    def with_provider(self, type_: str, inputs: Mapping[str, Any]) -> Place:
        """Return the place that a provider of this type with these inputs is configured for."""
        package = type_.rpartition(":")[2]
        if package == "aws":
            accounts = _decoded(inputs.get("allowedAccountIds")) or [self.account]
            return replace(self, account=str(accounts[0]), region=inputs.get("region") or self.region)
        if package == "gcp":
            return replace(
                self,
                gcp_project=inputs.get("project") or self.gcp_project,
                gcp_region=inputs.get("region") or self.gcp_region,
                gcp_zone=inputs.get("zone") or self.gcp_zone,
            )
        return self


def _decoded(value: Any) -> Any:
    """Return a provider's input, which travels as JSON text unless it is text."""
    return json.loads(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to create one resource."""

    type: str
    """The type token."""
    name: str
    """The logical name."""
    urn: str
    """The seed of every generated part of the answer."""
    inputs: Mapping[str, Any]
    """The inputs under their names in the provider protocol."""
    place: Place

    def hex(self, length: int, salt: str = "") -> str:
        """Return hexadecimal digits that are unique to this resource."""
        return hashlib.sha256(f"{self.urn}#{salt}".encode()).hexdigest()[:length]

    def uuid(self, salt: str = "") -> str:
        """Return a UUID that is unique to this resource."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.urn}#{salt}"))

    def number(self, digits: int) -> str:
        """Return a decimal number with this many digits; the first one is not 0."""
        return str(10 ** (digits - 1) + int(self.hex(15), 16) % (9 * 10 ** (digits - 1)))

    def upper(self, length: int) -> str:
        """Return capital letters and digits, as in IAM's unique ids."""
        return self.hex(length).upper()

    def physical(self, key: str = "name") -> str:
        """Return the physical name: stated, generated from a prefix, or generated from the logical name."""
        stated = self.inputs.get(key)
        if stated:
            return str(stated)
        prefix = self.inputs.get(f"{key}Prefix")
        return f"{prefix}{self.hex(26)}" if prefix else f"{self.name}-{self.hex(7)}"

    @property
    def region(self) -> str:
        """The AWS region: the resource's own if it states one."""
        return str(self.inputs.get("region") or self.place.region)

    @property
    def project(self) -> str:
        """The GCP project: the resource's own if it states one."""
        return str(self.inputs.get("project") or self.place.gcp_project)

    def arn(self, service: str, resource: str) -> str:
        """Return an ARN with region and account."""
        return f"arn:aws:{service}:{self.region}:{self.place.account}:{resource}"

    def iam_arn(self, resource: str) -> str:
        """Return an ARN of IAM, which has no regions."""
        return f"arn:aws:iam::{self.place.account}:{resource}"


Created: TypeAlias = tuple[str, dict[str, Any]]
"""The id, and the outputs that the cloud adds to the inputs."""
Answer: TypeAlias = Callable[[Request], Created]
"""The answer of a cloud to a create request."""
