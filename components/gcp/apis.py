"""The Google Cloud APIs that a stack needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class ApisArgs:
    """APIs of one project."""

    project: str
    apis: Sequence[str]
    """Names without `.googleapis.com`, for example `compute`."""


class Apis(pulumi.ComponentResource):
    """Enabled APIs. They stay enabled when the stack is deleted, because others may use them by then."""

    enabled: Mapping[str, pulumi.Resource]
    """API to the resource that enables it. Resources of the API depend on it."""

    def __init__(self, name: str, args: ApisArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:Apis", name, None, opts)
        self.enabled = {
            api: gcp.projects.Service(
                f"{name}-{api}",
                project=args.project,
                service=f"{api}.googleapis.com",
                disable_on_destroy=False,
                opts=ResourceOptions(parent=self),
            )
            for api in sorted(args.apis)
        }
        self.register_outputs({})
