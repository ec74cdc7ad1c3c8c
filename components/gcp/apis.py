"""The Google Cloud APIs that a stack needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions

FIRST: Final = ("cloudresourcemanager", "serviceusage")
"""APIs that enable the others: the provider reads the project through the first, and both are charged to this project
(hashicorp/terraform-provider-google 11435). In a new project a person enables these two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApisArgs:
    """APIs of one project."""

    project: str
    apis: Sequence[str]
    """Names without `.googleapis.com`, for example `compute`. Those in `FIRST` need not be named."""


class Apis(pulumi.ComponentResource):
    """Enabled APIs. They stay enabled when the stack is deleted, because others may use them by then."""

    enabled: Mapping[str, pulumi.Resource]
    """API to the resource that enables it. Resources of the API depend on it."""

    def __init__(self, name: str, args: ApisArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:Apis", name, None, opts)
        first = {api: self._service(f"{name}-{api}", args.project, api, ()) for api in FIRST}
        after = tuple(first.values())
        others = sorted(set(args.apis) - set(FIRST))
        self.enabled = {**first, **{api: self._service(f"{name}-{api}", args.project, api, after) for api in others}}
        self.register_outputs({})

    def _service(self, name: str, project: str, api: str, after: Sequence[pulumi.Resource]) -> pulumi.Resource:
        return gcp.projects.Service(
            name,
            project=project,
            service=f"{api}.googleapis.com",
            disable_on_destroy=False,
            opts=ResourceOptions(parent=self, depends_on=after),
        )
