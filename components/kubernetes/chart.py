"""A Helm release of a pinned chart: a building block with the options of every release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, ResourceOptions


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
    replace_on: Sequence[str] = (),
    atomic: bool = True,
    timeout_minutes: int = 10,
    guard: ResourceOptions | None = None,
) -> k8s.helm.v3.Release:
    """Declare a Helm release.

    Args:
        name: the logical name.
        release: the name in the cluster. It is stated because the names of a chart's objects start with it.
        chart_name: the chart in `repository`, or an `oci://` address.
        version: an exact version. A range would cause a diff with every new version of the chart.
        namespace: the namespace of the release. It must exist.
        values: values that differ from the chart's defaults.
        parent: the component that the release belongs to.
        repository: the address of the chart repository; None for an `oci://` address.
        after: dependencies that no input shows.
        replace_on: inputs whose change replaces the release, because an upgrade ignores them.
        atomic: whether to delete a failed first installation. Its objects show the cause of the failure.
        timeout_minutes: the time limit of an installation, an upgrade and a removal. After it, Helm forgets a release
            that it removes, and every later removal fails.
        guard: the guard of its updates (`components.update_guard`).

    """
    return k8s.helm.v3.Release(
        name,
        name=release,
        chart=chart_name,
        version=version,
        repository_opts={"repo": repository} if repository else None,
        namespace=namespace,
        values=dict(values),
        timeout=timeout_minutes * 60,
        atomic=atomic,
        cleanup_on_fail=True,
        max_history=5,
        # Dependents need a release whose pods are ready.
        skip_await=False,
        # The names of objects are fixed, so the old release must be deleted before the new one is created.
        opts=ResourceOptions.merge(
            guard,
            ResourceOptions(
                parent=parent,
                depends_on=list(after),
                delete_before_replace=True,
                replace_on_changes=list(replace_on) or None,
            ),
        ),
    )
