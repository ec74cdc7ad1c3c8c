"""One managed add-on of EKS. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOnRole:
    """The IAM role that EKS Pod Identity gives to an add-on's pods in `kube-system`."""

    name: str
    """The end of the role's resource name. It is part of a URN: do not change it."""
    service_account: str
    """The service account of the pods."""
    managed_policy: str
    """The ARN of an AWS managed policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedAddOn:
    """One add-on in the version for a cluster."""

    name: str
    """The name in EKS."""
    version: str
    """For example `v1.21.1-eksbuild.3`."""
    needs_nodes: bool
    """Whether its pods need a node without taints. If so, it is created after the nodes, otherwise before them."""
    role: AddOnRole | None = None
    """None if the pods call no API of AWS."""
    configuration: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Configuration values; empty for the defaults of EKS."""
