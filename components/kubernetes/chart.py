"""A pinned chart as one release: a building block that states what every release here has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def chart(
    name: str,
    *,
    release: str,
    chart_name: str,
    version: str,
    namespace: Input[str],
    values: Mapping[str, Any],
    parent: pulumi.Resource,
    repository: str | None = None,
    after: Sequence[pulumi.Resource] = (),
    made_anew_by: Sequence[str] = (),
    atomic: bool = True,
) -> k8s.helm.v3.Release:
    """A Helm release.

    Args:
        name: the logical name.
        release: the name in the cluster. Stated, because what a chart makes is named after it.
        chart_name: the chart in `repository`, or a whole `oci://` address, for which there is no repository.
        version: exact; a range would be a new diff with every release upstream.
        namespace: where it goes; it must exist.
        values: what differs from the chart's own.
        parent: the component that the release belongs to.
        repository: where the chart is, unless it is an `oci://` address.
        after: what must stand first, and be taken down later, that no input shows.
        made_anew_by: inputs that are taken only when the release is first made.
        atomic: take a failed first installation down again. Not where the traces are wanted.

    """
    return k8s.helm.v3.Release(
        name,
        name=release,
        chart=chart_name,
        version=version,
        repository_opts={"repo": repository} if repository else None,
        namespace=namespace,
        values=dict(values),
        timeout=600,
        atomic=atomic,
        cleanup_on_fail=True,
        max_history=5,
        # A release that is not waited for means nothing to whatever depends on it.
        skip_await=False,
        # Names inside a chart are fixed: a second release cannot stand beside the first.
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(after),
            delete_before_replace=True,
            replace_on_changes=list(made_anew_by) or None,
        ),
    )
