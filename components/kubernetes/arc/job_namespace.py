"""The namespace of jobs that have a pod of their own, and the account of the runners that create these pods.

The container hook of a runner refuses to work without access to every Secret in the namespace of the job's pod
(`isAuthPermissionsOK`, runner-container-hooks 0.8). The key of the GitHub App and the configurations of other runners
are in the namespace of the runners, so the pods of jobs are in another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.namespaces import JOB_CREATOR, JOBS, UNTRUSTED

RULES: Final = (
    ("pods", ["get", "list", "create", "delete"]),
    ("pods/exec", ["get", "create"]),
    ("pods/log", ["get", "list", "watch"]),
    ("secrets", ["get", "list", "create", "delete"]),
)
"""The permissions that the container hook requires: those of the chart's role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNamespaceArgs:
    """The runners that create pods."""

    runners_namespace: Input[str]
    """The namespace of the runners."""


class JobNamespace(pulumi.ComponentResource):
    """A namespace for the pods of jobs, and a service account of runners with permissions only there."""

    namespace: Output[str]
    all: Sequence[pulumi.Resource]
    """Scale sets whose jobs have pods of their own depend on these."""

    def __init__(self, name: str, args: JobNamespaceArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:JobNamespace", name, None, opts)
        child = ResourceOptions(parent=self, delete_before_replace=True)
        jobs = k8s.core.v1.Namespace(name, metadata={"name": JOBS, "labels": dict(UNTRUSTED)}, opts=child)
        self.namespace = jobs.metadata.apply(lambda metadata: metadata.name or JOBS)
        inside: k8s.meta.v1.ObjectMetaArgsDict = {"name": JOB_CREATOR, "namespace": self.namespace}
        account = k8s.core.v1.ServiceAccount(
            name, metadata={"name": JOB_CREATOR, "namespace": args.runners_namespace}, opts=child
        )
        role = k8s.rbac.v1.Role(
            name,
            metadata=inside,
            rules=[{"api_groups": [""], "resources": [resource], "verbs": verbs} for resource, verbs in RULES],
            opts=child,
        )
        binding = k8s.rbac.v1.RoleBinding(
            name,
            metadata=inside,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": JOB_CREATOR},
            subjects=[{"kind": "ServiceAccount", "name": JOB_CREATOR, "namespace": args.runners_namespace}],
            opts=child,
        )
        self.all = [account, role, binding]
        self.register_outputs({})
