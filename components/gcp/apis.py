"""The APIs of a project that the stack needs, switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Apis(pulumi.ComponentResource):
    """Switched-on APIs. They stay on when the stack goes: somebody else may have begun to need them."""

    enabled: Mapping[str, pulumi.Resource]
    """API to what says that it is on; a resource of it made earlier fails."""

    def __init__(self, name: str, *, project: str, apis: Sequence[str], opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:Apis", name, None, opts)
        self.enabled = {
            api: gcp.projects.Service(
                f"{name}-{api}",
                project=project,
                service=f"{api}.googleapis.com",
                disable_on_destroy=False,
                opts=ResourceOptions(parent=self),
            )
            for api in sorted(apis)
        }
        self.register_outputs({})
